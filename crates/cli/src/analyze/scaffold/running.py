

class Over(BaseException):
    """A worker that has come round too often, or has shown what was asked, ends here."""


class State:
    """What one execution uses: the module, freshly loaded, and what was noted."""

    def __init__(self):
        self.notes = []
        self.objects = {}
        self.keys = {}
        self.task = None
        self.module = load(self)
        if not ASYNC:
            self.make_all()

    def make_all(self):
        """The objects, in the loop that they are used in."""
        if not self.objects:
            for name in (FIRST, SECOND):
                make(self, name, "A")
            if FILLED:
                self.fill()

    def note(self, word):
        who = CURRENT.get()
        self.notes.append((who, word))
        if who is not None and self.notes.count((who, word)) > 3:
            raise Over

    def noted(self, who, word):
        return (who, word) in self.notes

    def fill(self):
        """What is looked up or gone over must hold something."""
        owner, _, name = STATE.rpartition(".")
        holder = self.objects.get(owner) or getattr(self.module, owner, None) if owner else self.module
        others = [it for it in dir(holder) if owner and not it.startswith("__")]
        for held in [getattr(holder, it, None) for it in {name: None, **dict.fromkeys(others)}]:
            if isinstance(held, dict) and not held:
                held.update({"first" if ADDS else "key": Anything(), "other": Anything()})
            elif isinstance(held, list) and not held:
                held.extend([Anything(), Anything()])
            elif isinstance(held, set) and not held:
                held.update([Anything(), Anything()])

    def stand_ins(self, who):
        """Both tasks mean the same by the same name, unless each has its own."""
        return self.keys.setdefault(who if SCENARIO is not None and SCENARIO.own else "all", {})


def make(state, name, who):
    """The function that a task runs; all tasks have the same object."""
    owner, _, method = name.rpartition(".")
    keys = state.stand_ins(who)
    if not owner:
        return bound(getattr(state.module, method), keys)
    kind = getattr(state.module, owner)
    if isinstance(inspect.getattr_static(kind, method), (classmethod, staticmethod)):
        return bound(getattr(kind, method), keys)
    if owner not in state.objects:
        state.objects[owner] = bound(concrete(kind), keys)()
    return bound(getattr(state.objects[owner], method), keys)


async def finished(result):
    """Whatever a call gives, to its end."""
    if inspect.isawaitable(result):
        result = await result
    if hasattr(result, "__aenter__") and not isinstance(result, Anything):
        async with result:
            await pause()
    elif hasattr(result, "__anext__") and not isinstance(result, Anything):
        async for _ in result:
            await pause()


class Scenario:
    """What else happens: what Task B does before its part, whose stand-ins are whose, and whether the rest of the package is a
    stand-in, too. Task B does the first thing at once, and the others when Task A is in its window."""

    def __init__(self, before=(), own=False, alone=False):
        self.before, self.own, self.alone = before, own, alone


def scenarios():
    """The plain one first; then the object's own methods, in pairs that belong together before all others."""
    yield Scenario()
    if any(own for _, _, own in PARTS):
        yield Scenario(alone=True)
    owner = FIRST.rpartition(".")[0]
    if not owner or not ASYNC:
        return
    names = METHODS
    takes = [it for it in names if it.startswith(("acquire", "take", "get", "enter", "lock", "borrow", "connect", "start"))]
    gives = [it for it in names if it.startswith(("release", "put", "give", "exit", "unlock", "return", "close", "set", "notify"))]
    rest = [it for it in names if it not in takes]
    for own, alone in ((False, False), (True, False), (False, True)):
        for one in takes:
            yield Scenario((f"{owner}.{one}",), own, alone)
    for own in (False, True):
        for one, other in itertools.product(takes, gives):
            yield Scenario((f"{owner}.{one}", f"{owner}.{other}"), own)
    for one in rest:
        yield Scenario((f"{owner}.{one}",))


async def until(condition):
    """Lets others run until something holds, but not for ever."""
    for _ in range(4):
        if condition():
            return
        await pause()


async def in_window(state, who):
    """Task A, which others can cancel."""
    call = finished(make(state, FIRST, who)())
    if BACKEND == "trio":
        import trio

        with trio.CancelScope() as scope:
            state.task = scope
            await call
        ended = scope.cancelled_caught
    else:
        state.task = asyncio.ensure_future(call)
        ended = False
        try:
            await state.task
        except asyncio.CancelledError:
            ended = True
    if ended:
        state.notes.append((who, "ended"))


async def in_time(call):
    """A task that waits for what never comes is left waiting: that is another mistake, or none."""
    if BACKEND == "trio":
        import trio

        with trio.move_on_after(60):
            await call
        return
    task = asyncio.ensure_future(call)
    await asyncio.wait({task}, timeout=60)
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=60)
    if task.done() and not task.cancelled() and task.exception() is not None:
        raise task.exception()


def cancel(state):
    if state.task is not None and state.noted("A", "opens"):
        state.notes.append(("A", "cancelled"))
        state.task.cancel()


def worker(name, who):
    async def run(state):
        # What the objects begin themselves belongs to neither.
        state.make_all()
        CURRENT.set(who)
        if who == "A" and CANCELS:
            await in_window(state, who)
            return
        before = SCENARIO.before if who == "B" else ()
        for at, one in enumerate(before):
            if at:
                await until(lambda: state.noted("A", "opens"))
            await finished(make(state, one, who)())
        if before:
            await until(lambda: state.noted("A", "opens"))
        if not CANCELS or INTRUDES:
            await finished(make(state, name, who)())
        if who == "B" and CANCELS:
            await until(lambda: state.noted("A", "opens") or INTRUDES)
            cancel(state)

    def run_now(state):
        CURRENT.set(who)
        make(state, name, who)()

    chosen = run if ASYNC else run_now
    chosen.__name__ = chosen.__qualname__ = who
    return quiet(chosen)


def methods(module):
    """What others can call of the object."""
    kind = getattr(module, FIRST.rpartition(".")[0], None)
    return [it for it in dir(kind) if not it.startswith("_") and inspect.isfunction(inspect.getattr_static(kind, it, None))]


def any_async(module):
    for name in (FIRST, SECOND):
        owner, _, method = name.rpartition(".")
        found = getattr(getattr(module, owner), method) if owner else getattr(module, method)
        found = inspect.unwrap(found)
        flags = getattr(getattr(found, "__code__", None), "co_flags", 0)
        if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found) or flags & inspect.CO_ITERABLE_COROUTINE:
            return True
    return False


AS_IT_IS = load(types.SimpleNamespace(note=lambda word: None))
ASYNC, METHODS = any_async(AS_IT_IS), methods(AS_IT_IS)


def nobody_comes_in(state):
    for one, other in (("A", "B"), ("B", "A")):
        opened = changed = False
        for who, word in state.notes:
            if who == one and word == "opens":
                opened, changed = True, False
            elif who == other and word == "intrudes" and opened:
                changed = True
            elif who == one and word == "closes":
                if opened and changed:
                    return False
                # A loop is in its window until it is left.
                opened = OPENS == CLOSES
    return True


def nothing_is_left(state):
    """No cancellation ends Task A in its window: after its first line and Task B's, and before what would restore the state."""
    opened = came = cancelled = False
    for who, word in state.notes:
        if who == "A" and word == "opens":
            opened, came, cancelled = True, not INTRUDES, False
        elif who == "B" and word == "intrudes" and opened:
            came = True
        elif who == "A" and word == "cancelled" and came:
            cancelled = True
        elif who == "A" and word == "closes":
            opened = cancelled = False
        elif who == "A" and word == "ended" and cancelled:
            return False
    return True


def quiet(run):
    """An exception of the stand-ins is none of the program's; what was noted until then counts."""
    if ASYNC:
        async def wrapped(state):
            try:
                await in_time(run(state))
            except (Exception, Over) as error:
                loop_failed(state, run.__name__, error)
    else:
        def wrapped(state):
            try:
                run(state)
            except (Exception, Over) as error:
                loop_failed(state, run.__name__, error)
    wrapped.__name__ = wrapped.__qualname__ = run.__name__
    return wrapped


def loop_failed(state, who, error):
    """A loop over what has changed does not come to its next round: that is what was suspected."""
    if isinstance(error, RuntimeError) and ("changed size" in str(error) or "mutated during" in str(error)):
        state.notes.append((who, "closes"))


def explored(scenario, executions, **options):
    global SCENARIO
    SCENARIO = scenario
    workers = [worker(FIRST, "A"), worker(SECOND, "B")]
    holds = nothing_is_left if CANCELS else nobody_comes_in
    options |= {"shrink": False, "backend": BACKEND if ASYNC else None}
    return drawloom.explore(State, workers, holds, name="confirm_@NAME@", executions=executions, **options)


def happens(result):
    return result.verdict == "fails" and "invariant" in result.findings[0].kind


def searched(seconds=30):
    """The first scenario in which it happens, with its number; otherwise the plain one, and how many executions there were."""
    began, executions, plain = time.monotonic(), 0, None
    for number, scenario in enumerate(scenarios()):
        # Whoever has methods to call first comes there soon, or not at all.
        result = explored(scenario, 24 if number else 400 if ASYNC else 2000)
        executions += result.executions
        if plain is None or happens(result):
            plain = (number, result)
        if happens(result) or time.monotonic() - began > seconds:
            break
    return (*plain, executions)


def test_nobody_comes_in_between():
    _, result, _ = searched()
    assert not happens(result), str(result)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        scenario = next(itertools.islice(scenarios(), int(sys.argv[1]), None))
        number, result = int(sys.argv[1]), explored(scenario, 1, replay=sys.argv[2])
        executions = result.executions
    else:
        number, result, executions = searched()
    finding = result.findings[0] if result.findings else None
    print(json.dumps({
        "drawloom": 1,
        "verdict": result.verdict,
        "reason": str(result.reason),
        "executions": executions,
        "kind": finding.kind if finding else None,
        "message": finding.message if finding else None,
        "token": f"{number} {finding.token}" if finding else None,
    }))
