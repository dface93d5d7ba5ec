

async def pause():
    """Lets others run."""
    if BACKEND == "trio":
        import trio

        await trio.sleep(0)
    else:
        await asyncio.sleep(0)


CURRENT = contextvars.ContextVar("who", default=None)


class Anything:
    """Stands for whatever a function needs: every use of it works, and awaiting it lets others run."""

    def __init__(self, *args, **kwargs):
        pass

    def __init_subclass__(cls, **kwargs):
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


def stand_in(parameter, at, keys):
    """A value for a parameter: a number, a text, or something that is the same wherever the name is the same."""
    written = parameter.annotation
    annotation = written if isinstance(written, str) else getattr(written, "__name__", "")
    counts = ("n", "amount", "count", "size", "most", "limit", "total", "capacity", "permits", "value")
    if annotation in ("int", "float") or parameter.name in counts or parameter.name.startswith(("max", "min", "total")):
        return 1
    if parameter.name == "loop":
        return asyncio.get_event_loop()
    if annotation == "str" or parameter.name in ("key", "name", "url", "id", "user", "topic", "channel", "item"):
        return "key"
    return keys.setdefault(parameter.name, Anything())


def bound(function, keys):
    """With stand-ins for the arguments that have to be passed."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    needed = [(at, it) for at, it in enumerate(parameters) if it.default is it.empty]
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [stand_in(it, at, keys) for at, it in needed if it.kind in plain]
    named = {it.name: stand_in(it, at, keys) for at, it in needed if it.kind is inspect.Parameter.KEYWORD_ONLY}
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
