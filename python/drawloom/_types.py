"""What objects and functions of the interpreter read and write."""

from __future__ import annotations

import _abc
import _thread
import array
import asyncio
import builtins
import collections
import contextvars
import functools
import itertools
import math
import operator
import re
import types
import weakref
from typing import Any

from . import _drawloom
from ._drawloom import EFFECTS

_PURE, _UNKNOWN = EFFECTS["PURE"], EFFECTS["UNKNOWN"]


class Probe:
    """A class with special methods in Python: its slots are those of all such classes."""

    def __getitem__(self, key): ...  # noqa: E704
    def __setitem__(self, key, value): ...
    def __delitem__(self, key): ...
    def __contains__(self, key): ...
    def __iter__(self): ...
    def __next__(self): ...
    def __call__(self): ...


def _iterators() -> list[type]:
    samples: list[Any] = [
        iter([]), reversed([]), iter({}), iter({}.values()), iter({}.items()), reversed({}), reversed({}.values()),
        reversed({}.items()), {}.keys(), {}.values(), {}.items(), iter(set()), iter(()), iter(""), iter(b""),
        iter(bytearray()), iter(range(0)), iter(collections.deque()), reversed(collections.deque()), zip(), map(len, ()),
        filter(None, ()), enumerate(()), reversed(()), itertools.chain(), itertools.islice((), 0), itertools.count(),
        itertools.repeat(0), itertools.cycle(()), iter(int, 1), iter(Probe()) if False else itertools.takewhile(len, ()),
        itertools.dropwhile(len, ()), itertools.zip_longest(), itertools.product(), itertools.permutations(()),
        itertools.combinations((), 0), itertools.accumulate(()), itertools.starmap(len, ()), itertools.groupby(()),
        iter(collections.OrderedDict()), collections.OrderedDict().keys(), collections.OrderedDict().values(),
        collections.OrderedDict().items(), iter(range(1 << 70)), iter("é"), iter(array.array("i")),
    ]
    return list({type(sample) for sample in samples})


def _pure() -> list[type]:
    samples: list[Any] = [
        None, True, 1, 1.0, 1j, "", b"", (), range(0), slice(0), frozenset(), Ellipsis, NotImplemented, type, len, _pure,
        [].append, Probe().__iter__, re.compile(""), re.match("", ""), types, property(), (lambda: 0).__code__,
        types.SimpleNamespace, object(), Exception(), BaseException(), type.__dict__, list[int], int | str,
        object.__init__, object().__init__, str.join, dict.__dict__["fromkeys"], weakref.ref(Probe), Probe.__getitem__,
        operator.itemgetter(0), operator.attrgetter("a"), functools.partial(len), staticmethod(len), classmethod(len),
        (i for i in ()),
    ]
    kinds = {type(sample) for sample in samples}
    kinds |= {value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, BaseException)}
    return list(kinds - {types.SimpleNamespace})


def _resumed() -> list[type]:
    async def coroutine(): ...  # noqa: E704

    async def generator():
        yield

    waiting, items = coroutine(), generator()
    samples: list[Any] = [waiting, waiting.__await__(), items, items.__anext__(), items.aclose()]
    for sample in (waiting, *samples[3:]):
        sample.close()
    return [type(sample) for sample in samples]


def _of_futures() -> type:
    loop = asyncio.new_event_loop()
    waits = asyncio.Future(loop=loop).__await__()
    loop.close()
    return type(waits)


CONTAINERS = [set, collections.deque, bytearray, array.array, asyncio.Future, asyncio.Task]
# What an `await` resumes, and runs Python code alone.
RESUMED = _resumed()
VIEWS = _iterators() + [_of_futures()]
PURE = [kind for kind in _pure() if kind not in VIEWS]
LOCKS = [_thread.LockType, _thread.RLock]
LOCALS = [_thread._local]

# Of containers: what methods do. Those that are not named are not known.
_METHODS: dict[type, dict[str, str]] = {
    list: {
        "READ_SELF": "copy count index __len__ __iter__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __mul__"
                     " __rmul__ __reversed__ __repr__ __str__ __getitem__ __sizeof__ __reduce_ex__ __reduce__",
        "WRITE_SELF": "append extend insert pop remove clear sort reverse __iadd__ __imul__ __delitem__ __init__",
        "ITEM_SET": "__setitem__",
    },
    dict: {
        "ITEM_GET": "get __getitem__ __contains__",
        "ITEM_SET": "__setitem__",
        "READ_SELF": "copy __len__ __iter__ __eq__ __ne__ __or__ __ror__ __reversed__ __repr__ __str__ __sizeof__",
        "PURE": "keys values items",
        "WRITE_SELF": "clear pop popitem setdefault update __delitem__ __ior__ __init__ move_to_end __missing__",
    },
    set: {
        "READ_SELF": "copy difference intersection isdisjoint issubset issuperset symmetric_difference union __len__"
                     " __iter__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __and__ __or__ __sub__ __xor__"
                     " __rand__ __ror__ __rsub__ __rxor__ __repr__ __str__",
        "WRITE_SELF": "add clear difference_update discard intersection_update pop remove symmetric_difference_update"
                      " update __iand__ __ior__ __isub__ __ixor__ __init__",
    },
    collections.deque: {
        "READ_SELF": "copy count index __copy__ __len__ __iter__ __contains__ __eq__ __ne__ __add__ __mul__ __getitem__"
                     " __reversed__ __repr__ __str__",
        "WRITE_SELF": "append appendleft clear extend extendleft insert pop popleft remove reverse rotate __setitem__"
                      " __delitem__ __iadd__ __init__",
    },
    bytearray: {"READ_SELF": "decode __len__ __getitem__ __iter__ __contains__ __eq__ __repr__ hex find count startswith",
                "WRITE_SELF": "append extend insert pop remove clear reverse __setitem__ __iadd__ __delitem__ __init__"},
    asyncio.Future: {
        "READ_SELF": "done result exception cancelled add_done_callback remove_done_callback __await__ __iter__"
                     " _make_cancelled_error __repr__",
        "WRITE_SELF": "set_result set_exception cancel __init__",
        "PURE": "get_loop",
    },
    asyncio.Task: {
        "READ_SELF": "done result exception cancelled add_done_callback remove_done_callback __await__ __iter__"
                     " cancelling _make_cancelled_error __repr__",
        "WRITE_SELF": "cancel uncancel set_name",
        "PURE": "get_loop get_coro get_name get_context get_stack __init__",
    },
    object: {
        "SELF_ATTR_GET": "__getattribute__",
        "SELF_ATTR_SET": "__setattr__ __delattr__",
        "PURE": "__init__ __new__ __init_subclass__ __subclasshook__ __eq__ __ne__ __hash__ __repr__ __str__ __format__"
                " __sizeof__ __reduce_ex__ __dir__",
    },
    type: {"PURE": "mro __call__ __instancecheck__ __subclasscheck__ __prepare__ __subclasses__ __or__ __ror__"
                   " __init__ __new__", "SELF_ATTR_SET": "__setattr__ __delattr__", "SELF_ATTR_GET": "__getattribute__"},
}

_FUNCTIONS: dict[str, str] = {
    "PURE": "abs bin callable chr divmod hash hex id isinstance issubclass oct ord pow round globals locals input open"
            " iter range breakpoint super object property staticmethod classmethod type bool int float complex slice"
            " memoryview enumerate zip map filter reversed __build_class__ compile aiter",
    "READ_ARGUMENTS": "len list tuple set dict frozenset any all bytes bytearray",
    "DEEP_READ": "repr ascii print format str sum min max sorted",
    "ATTR_GET": "getattr hasattr",
    "ATTR_SET": "setattr delattr",
    "WHOLE_OBJECT": "vars dir",
    "NEXT": "next",
}

_LOCKS = {
    "acquire": "LOCK_ACQUIRE",
    "acquire_lock": "LOCK_ACQUIRE",
    "__enter__": "LOCK_ACQUIRE",
    "release": "LOCK_RELEASE",
    "release_lock": "LOCK_RELEASE",
    "__exit__": "LOCK_RELEASE",
    "locked": "LOCK_QUERY",
    "locked_lock": "LOCK_QUERY",
}
_BY_OBJECT: dict[int, int] = {}
_KEPT: list[Any] = []


def _fill() -> None:
    for effect, names in _FUNCTIONS.items():
        for name in names.split():
            function = getattr(builtins, name, None)
            if function is not None:
                _BY_OBJECT[id(function)] = EFFECTS[effect]
    for kind in (collections.deque, collections.defaultdict, collections.OrderedDict, array.array, collections.Counter):
        _BY_OBJECT[id(kind)] = EFFECTS["READ_ARGUMENTS"]
    for kind in VIEWS + PURE:
        _BY_OBJECT.setdefault(id(kind), _PURE)
    _BY_OBJECT[id(object.__new__)] = _PURE
    for module in (math, operator):
        for value in vars(module).values():
            if callable(value):
                _BY_OBJECT.setdefault(id(value), EFFECTS["DEEP_READ"])
    for name in ("setitem", "delitem", "iadd", "iand", "iconcat", "imul", "ior", "isub", "ixor"):
        _BY_OBJECT[id(getattr(operator, name))] = EFFECTS["WRITE_FIRST"]
    import _bisect
    import _heapq

    for name in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop"):
        _BY_OBJECT[id(getattr(_heapq, name))] = EFFECTS["WRITE_FIRST"]
    for name in ("insort_left", "insort_right"):
        _BY_OBJECT[id(getattr(_bisect, name))] = EFFECTS["WRITE_FIRST"]
    for name in ("bisect_left", "bisect_right"):
        _BY_OBJECT[id(getattr(_bisect, name))] = EFFECTS["READ_ARGUMENTS"]
    import time

    for name in ("sleep", "monotonic", "time", "perf_counter", "monotonic_ns", "time_ns", "perf_counter_ns"):
        _BY_OBJECT[id(getattr(time, name))] = _PURE
    for function in (_thread.get_ident, _thread.allocate_lock):
        _BY_OBJECT[id(function)] = _PURE
    for name in ("_get_running_loop", "get_running_loop", "get_event_loop", "current_task", "_enter_task", "_leave_task",
                 "_register_task", "_unregister_task"):
        function = getattr(asyncio.events, name, None) or getattr(asyncio.tasks, name, None)
        _BY_OBJECT[id(function)] = _PURE
        _KEPT.append(function)
    # Whether a class is one of another's does not change, whatever is remembered of it.
    for function in (_abc._abc_instancecheck, _abc._abc_subclasscheck):
        _BY_OBJECT[id(function)] = _PURE
    # A context belongs to one task.
    for kind in (contextvars.ContextVar, contextvars.Context, contextvars.Token):
        _BY_OBJECT[id(kind)] = _PURE
    _BY_OBJECT[id(contextvars.copy_context)] = _PURE
    for module in (_drawloom,):
        for value in vars(module).values():
            _BY_OBJECT[id(value)] = _PURE
    _KEPT.append(time)


def classify(function: Any) -> int:
    """What a callable does that is not written in Python. Asked once for each."""
    known = _BY_OBJECT.get(id(function))
    if known is not None:
        return known
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__objclass__", None)
    if owner is None:
        self = getattr(function, "__self__", None)
        if self is not None and not isinstance(self, types.ModuleType):
            owner = self if isinstance(self, type) else type(self)
    if owner in (_drawloom.Lock, _drawloom.CondVar, contextvars.ContextVar):
        return _PURE
    if owner is None:
        if isinstance(function, type) and issubclass(function, BaseException):
            return _PURE
        return _UNKNOWN
    if name in ("__new__", "fromkeys", "__class_getitem__", "maketrans", "from_bytes", "fromhex"):
        return EFFECTS["READ_ARGUMENTS"]
    if owner in LOCKS:
        return EFFECTS[_LOCKS.get(name, "LOCK_OTHER")]
    for kind in owner.__mro__:
        methods = _METHODS.get(kind)
        if methods is None:
            continue
        for effect, names in methods.items():
            if name in names.split():
                return EFFECTS[effect]
        if kind is not object:
            break
    if any(issubclass(owner, kind) for kind in (str, bytes, int, float, complex, tuple, frozenset, range)):
        return EFFECTS["DEEP_READ"]
    if owner in PURE or owner in VIEWS or issubclass(owner, BaseException):
        return _PURE
    return _UNKNOWN


_fill()
