"""@SENTENCE@.

Runs both functions under Drawloom and fails if the suspected interleaving happens: Task A comes to its first line, Task B
makes its change, and Task A goes on. What the functions need is replaced by stand-ins; put the real thing in `make` where
that matters.
"""

import ast
import asyncio
import contextvars
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import sys
import types

import drawloom

FILE = @FILE@
FIRST, SECOND = @FIRST@, @SECOND@
OPENS, INTRUDES, CLOSES = @OPENS@, @INTRUDES@, @CLOSES@
STATE, BACKEND, FILLED = @STATE@, @BACKEND@, @FILLED@


async def pause():
    """Lets others run."""
    if BACKEND == "trio":
        import trio

        await trio.sleep(0)
    else:
        await asyncio.sleep(0)


CURRENT = contextvars.ContextVar("who", default=None)
KEYS = {}


class Anything:
    """Stands for whatever a function needs: every use of it works, and awaiting it lets others run."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()

    def __mro_entries__(self, bases):
        return ()

    def __await__(self):
        yield from pause().__await__()
        return Anything()

    async def __aenter__(self):
        await pause()
        return self

    async def __aexit__(self, *exc):
        await pause()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def __iter__(self):
        return iter(())

    def __int__(self):
        return 1

    __index__ = __int__
    __hash__ = object.__hash__

    def __getitem__(self, key):
        return Anything()

    def __setitem__(self, key, value):
        pass

    __delitem__ = __getitem__

    def __contains__(self, item):
        return False

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __instancecheck__(self, other):
        return False

    def __subclasscheck__(self, other):
        return False

    def __add__(self, other):
        return other

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __add__

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__


class Marks(ast.NodeTransformer):
    """Puts a note before the line that opens the window, and after those that come into it and close it."""

    def generic_visit(self, node):
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, self.marked(block))
        return node

    def marked(self, block):
        out = []
        for statement in block:
            last = statement.body[0].lineno - 1 if getattr(statement, "body", None) and isinstance(statement.body, list) else statement.end_lineno
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                out.append(statement)
                continue
            covers = lambda line: statement.lineno <= line <= max(last, statement.lineno)
            if covers(OPENS):
                out.append(self.note("opens", statement))
            leaves = isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break))
            after = [word for word, line in (("intrudes", INTRUDES), ("closes", CLOSES)) if covers(line)]
            if leaves:
                out.extend(self.note(word, statement) for word in after)
                out.append(statement)
            elif isinstance(statement, (ast.With, ast.AsyncWith, ast.If, ast.For, ast.AsyncFor, ast.While)):
                statement.body[:0] = [self.note(word, statement) for word in after]
                out.append(statement)
            else:
                out.append(statement)
                out.extend(self.note(word, statement) for word in after)
        return out

    def note(self, word, statement):
        call = ast.parse(f"__drawloom_note__({word!r})").body[0]
        return ast.fix_missing_locations(ast.copy_location(call, statement))


class State:
    """What one execution uses: the module, freshly loaded, and what was noted."""

    def __init__(self):
        self.notes = []
        self.who = None
        self.module = load(self)
        self.objects = {}
        KEYS.clear()
        for name in (FIRST, SECOND):
            make(self, name)
        if FILLED:
            self.fill()

    def fill(self):
        """What is looked up or gone over must hold something."""
        owner, _, name = STATE.rpartition(".")
        holder = self.objects.get(owner) or getattr(self.module, owner, None) if owner else self.module
        others = [it for it in vars(holder) if owner and not it.startswith("__")]
        for held in [getattr(holder, it, None) for it in {name: None, **dict.fromkeys(others)}]:
            if isinstance(held, dict) and not held:
                held["key"], held["other"] = Anything(), Anything()
            elif isinstance(held, list) and not held:
                held.extend([Anything(), Anything()])
            elif isinstance(held, set) and not held:
                held.update([Anything(), Anything()])


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that are not installed are stand-ins, too: what a window needs of them is rarely more than that they are there."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        class Module(types.ModuleType):
            def __getattr__(self, name):
                if name.startswith("__") and name.endswith("__"):
                    raise AttributeError(name)
                return Anything()

        return Module(spec.name)

    def exec_module(self, module):
        pass


def package():
    """The package that the file is in, which then can be imported."""
    folder, parts = os.path.dirname(os.path.abspath(FILE)), []
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if parts and folder not in sys.path:
        sys.path.insert(0, folder)
    return ".".join(parts)


PACKAGE = package()


def load(state):
    with open(FILE, encoding="utf-8") as file:
        tree = Marks().visit(ast.parse(file.read(), FILE))
    module = types.ModuleType("drawloom_target")
    module.__file__ = FILE
    module.__package__ = PACKAGE
    sys.modules["drawloom_target"] = module
    if not any(isinstance(it, Missing) for it in sys.meta_path):
        sys.meta_path.append(Missing())
    if PACKAGE:
        importlib.import_module(PACKAGE)
    module.__dict__["__drawloom_note__"] = lambda word: state.notes.append((CURRENT.get(), word))
    kept = [node for node in tree.body if not starts_program(node)]
    tree.body = kept
    exec(compile(ast.fix_missing_locations(tree), FILE, "exec"), module.__dict__)
    return module


def starts_program(node):
    """Whether a statement at the top runs the whole program, which is not what is tried."""
    if isinstance(node, (ast.For, ast.While, ast.With)):
        return True
    if isinstance(node, ast.If):
        return "__main__" in ast.dump(node.test)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def bound(function):
    """With stand-ins for the arguments that have to be passed: the same for both, so that both mean the same thing."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    needed = [(at, it) for at, it in enumerate(parameters) if it.default is it.empty]
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [stand_in(it, at) for at, it in needed if it.kind in plain]
    named = {it.name: stand_in(it, at) for at, it in needed if it.kind is inspect.Parameter.KEYWORD_ONLY}
    return functools.partial(function, *given, **named)


def concrete(kind):
    """The class, with stand-ins for the methods that others have to write."""
    missing = getattr(kind, "__abstractmethods__", None)
    if not missing:
        return kind

    async def later(self, *args, **kwargs):
        await pause()
        return Anything()

    def now(self, *args, **kwargs):
        return Anything()

    written = {name: later if inspect.iscoroutinefunction(getattr(kind, name, None)) else now for name in missing}
    return type(kind.__name__, (kind,), written)


def stand_in(parameter, at):
    annotation = parameter.annotation if isinstance(parameter.annotation, str) else getattr(parameter.annotation, "__name__", "")
    if annotation in ("int", "float") or parameter.name in ("n", "amount", "count", "size", "most", "limit") or parameter.name.startswith(("max", "min")):
        return 1
    if annotation == "str" or parameter.name in ("key", "name", "url", "id", "user", "topic", "channel", "item"):
        return "key"
    return KEYS.setdefault(parameter.name, Anything())


def make(state, name):
    """The function that a task runs; both tasks have the same object."""
    owner, _, method = name.rpartition(".")
    if not owner:
        found = getattr(state.module, method)
        return bound(found)
    kind = getattr(state.module, owner)
    if isinstance(inspect.getattr_static(kind, method), (classmethod, staticmethod)):
        return bound(getattr(kind, method))
    if owner not in state.objects:
        state.objects[owner] = bound(concrete(kind))()
    return bound(getattr(state.objects[owner], method))


def worker(name, who):
    if ASYNC:
        async def run(state):
            CURRENT.set(who)
            result = make(state, name)()
            if inspect.isawaitable(result):
                await result
    else:
        def run(state):
            CURRENT.set(who)
            make(state, name)()
    run.__name__ = run.__qualname__ = who
    return run


def any_async():
    module = load(types.SimpleNamespace(notes=[]))
    for name in (FIRST, SECOND):
        owner, _, method = name.rpartition(".")
        found = getattr(getattr(module, owner), method) if owner else getattr(module, method)
        if inspect.iscoroutinefunction(found):
            return True
    return False


ASYNC = any_async()


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
                opened = False
    return True


def quiet(run):
    """An exception of the stand-ins is none of the program's; what was noted until then counts."""
    if ASYNC:
        async def wrapped(state):
            try:
                await run(state)
            except Exception:
                pass
    else:
        def wrapped(state):
            try:
                run(state)
            except Exception:
                pass
    wrapped.__name__ = wrapped.__qualname__ = run.__name__
    return wrapped


def explored(**options):
    workers = [quiet(worker(FIRST, "A")), quiet(worker(SECOND, "B"))]
    return drawloom.explore(State, workers, nobody_comes_in, name="confirm_@NAME@", executions=2000, backend=BACKEND if ASYNC else None, **options)


def test_nobody_comes_in_between():
    result = explored()
    assert result.verdict != "fails", str(result)


if __name__ == "__main__":
    result = explored(replay=sys.argv[1]) if len(sys.argv) > 1 else explored()
    finding = result.findings[0] if result.findings else None
    print(json.dumps({
        "drawloom": 1,
        "verdict": result.verdict,
        "reason": str(result.reason),
        "executions": result.executions,
        "kind": finding.kind if finding else None,
        "message": finding.message if finding else None,
        "token": finding.token if finding else None,
    }))
