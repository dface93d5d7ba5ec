"""What objects and functions of the interpreter read and write."""

from __future__ import annotations

import _abc
import _hashlib
import _io
import _json
import _random
import _thread
import _weakref
import array
import asyncio
import binascii
import builtins
import collections
import contextvars
import csv
import datetime
import decimal
import functools
import hashlib
import itertools
import math
import operator
import os
import re
import struct
import sys
import time
import types
import unicodedata
import weakref
import zlib
from collections.abc import Iterable
from typing import Any

from . import _code, _drawloom, _foreign, _sync
from ._clock import OF_DATETIME
from ._drawloom import EFFECTS
from ._outside import _known

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


def _templates() -> list[Any]:
    """Strings of which the parts are yet to be formatted: they have objects, and read these when they are shown."""
    if sys.version_info >= (3, 14):
        from string.templatelib import Interpolation, Template

        return [Template(), iter(Template()), Interpolation(None)]
    return []


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
        collections.OrderedDict().items(), iter(range(1 << 70)), iter("é"), iter(array.array("i")), *_templates(),
        csv.reader([]), next(itertools.groupby([1]))[1],
        # What they have been made of they show whenever they are asked.
        type.__dict__, re.match("", ""),
    ]
    return list({type(sample) for sample in samples})


# What never changes, however much it contains.
_VALUES = (str, bytes, int, float, complex, tuple, frozenset, range, datetime.date, datetime.time, datetime.datetime,
           datetime.timedelta, datetime.tzinfo, decimal.Decimal)


def _pure() -> list[type]:
    samples: list[Any] = [
        None, True, 1, 1.0, 1j, "", b"", (), range(0), slice(0), frozenset(), Ellipsis, NotImplemented, type, len, _pure,
        [].append, Probe().__iter__, re.compile(""), re.match("", ""), types, property(), (lambda: 0).__code__,
        types.SimpleNamespace, object(), Exception(), BaseException(), type.__dict__, list[int], int | str,
        object.__init__, object().__init__, str.join, dict.__dict__["fromkeys"], weakref.ref(Probe), Probe.__getitem__,
        operator.itemgetter(0), operator.attrgetter("a"), functools.partial(len), staticmethod(len), classmethod(len),
        (i for i in ()), datetime.timezone.utc, struct.Struct("b"), _thread.allocate_lock(), _thread.RLock(),
        sys.version_info, sys.flags, time.gmtime(0), os.stat(os.curdir),
    ]
    kinds = {type(sample) for sample in samples} | set(_VALUES)
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


def _hashes() -> list[type]:
    kinds = {type(hashlib.new(name)) for name in hashlib.algorithms_guaranteed}
    return [*kinds, *(kind for kind in [getattr(_hashlib, "HMAC", None)] if kind is not None)]


# Iterators that look at the items that they have from others: test or compare them, or go through them.
DEEP_VIEWS = [filter, itertools.filterfalse, itertools.compress, itertools.groupby, itertools.accumulate, itertools.chain,
              itertools.starmap, type(iter(int, 1))]
# What never changes, and holds others, besides tuples.
HOLDERS = [frozenset, slice, functools.partial, types.GenericAlias]
# Attributes by which objects show themselves that are not looked through otherwise.
SHOWN = [
    (BaseException, ["args"]),
    (OSError, ["errno", "strerror", "filename", "filename2"]),
    (ImportError, ["msg"]),
    (SyntaxError, ["msg", "filename", "lineno"]),
    *((kind, ["encoding", "object", "start", "end", "reason"]) for kind in (UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError)),
    (type, ["__name__", "__qualname__", "__module__"]),
    (types.FunctionType, ["__qualname__"]),
    (types.ModuleType, ["__name__", "__spec__", "__loader__", "__file__"]),
]

CONTAINERS = [
    functools._lru_cache_wrapper,
    set, collections.deque, bytearray, array.array, asyncio.Future, asyncio.Task, _random.Random, *_hashes(),
    *_known.MEMORY_FILES,
]
# What an `await` resumes, and runs Python code alone.
RESUMED = _resumed()
VIEWS = _iterators() + [_of_futures()]
# What the engine's own objects do they announce themselves.
PURE = [kind for kind in (*_pure(), *_known.PURE_TYPES) if kind not in VIEWS] + [
    _drawloom.Lock, _drawloom.CondVar, contextvars.Context, contextvars.ContextVar, contextvars.Token,
]
LOCKS = [_thread.LockType, _thread.RLock]
LOCALS = [_thread._local]

# Of containers: what methods do. Those that are not named are not known.
_METHODS: dict[type, dict[str, str]] = {
    list: {
        "READ_SELF": "copy __len__ __iter__ __add__ __mul__ __rmul__ __reversed__ __getitem__ __sizeof__",
        "SEEK": "count index __contains__",
        "DEEP_READ": "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__",
        "WRITE_SELF": "extend pop clear reverse __iadd__ __imul__ __delitem__ __init__",
        "STORE_SELF": "append insert",
        "WRITE_DEEP": "remove sort",
        "ITEM_SET": "__setitem__",
    },
    dict: {
        "ITEM_GET": "get __contains__",
        "ITEM_LOAD": "__getitem__",
        "ITEM_SET": "__setitem__ setdefault",
        "ITEM_REMOVE": "__delitem__ pop",
        "READ_SELF": "copy __len__ __iter__ __or__ __ror__ __reversed__ __sizeof__",
        "DEEP_READ": "__eq__ __ne__ __repr__",
        "PURE": "keys values items",
        "WRITE_SELF": "clear popitem move_to_end __missing__",
        "WRITE_DEEP": "update __ior__ __init__",
    },
    set: {
        "READ_SELF": "copy difference intersection isdisjoint issubset issuperset symmetric_difference union __len__"
                     " __iter__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __and__ __or__ __sub__ __xor__ __rand__ __ror__"
                     " __rsub__ __rxor__",
        "SEEK": "__contains__",
        "DEEP_READ": "__repr__",
        "WRITE_SELF": "clear difference_update discard intersection_update pop remove symmetric_difference_update update"
                      " __iand__ __ior__ __isub__ __ixor__ __init__",
        "STORE_SELF": "add",
    },
    collections.deque: {
        "READ_SELF": "copy __copy__ __len__ __iter__ __add__ __mul__ __getitem__ __reversed__",
        "SEEK": "count index __contains__",
        "DEEP_READ": "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__",
        "WRITE_SELF": "clear extend extendleft pop popleft reverse rotate __delitem__ __iadd__ __init__",
        "STORE_SELF": "append appendleft insert __setitem__",
        "WRITE_DEEP": "remove",
    },
    bytearray: {"READ_SELF": "decode __len__ __getitem__ __iter__ __contains__ __eq__ __repr__ hex find count",
                "DEEP_READ": "startswith",
                "WRITE_SELF": "append extend insert pop remove clear reverse __setitem__ __iadd__ __delitem__ __init__"},
    asyncio.Future: {
        "READ_SELF": "done result exception cancelled __await__ __iter__ _make_cancelled_error __repr__",
        "WRITE_SELF": "set_exception cancel __init__ remove_done_callback",
        # Callbacks are called in the order in which they were added.
        "STORE_SELF": "set_result add_done_callback",
        "PURE": "get_loop",
    },
    asyncio.Task: {
        "READ_SELF": "done result exception cancelled __await__ __iter__ cancelling _make_cancelled_error __repr__",
        "WRITE_SELF": "cancel uncancel set_name remove_done_callback",
        "STORE_SELF": "add_done_callback",
        "PURE": "get_loop get_coro get_name get_context get_stack __init__",
    },
    # What it draws next depends on what was drawn before.
    _random.Random: {
        "READ_SELF": "getstate",
        "WRITE_SELF": "random getrandbits seed setstate __init__",
    },
    # The base of all files, which most of them have these from.
    _io._IOBase: {"READ_SELF": "__enter__", "WRITE_SELF": "__exit__"},
    **{kind: {"READ_SELF": "copy digest hexdigest", "WRITE_SELF": "update"} for kind in _hashes()},
    type: {
        "PURE": "mro __instancecheck__ __subclasscheck__ __prepare__ __subclasses__ __or__ __ror__ __init__",
        "DEEP_READ": "__call__ __repr__",
    },
    # Calls of code in Python, and of nothing else.
    types.FunctionType: {"PURE": "__call__ __get__", "DEEP_READ": "__repr__"},
    weakref.ref: {"PURE": "__call__ __hash__ __init__"},
    # Somebody asks how often it remembered, or has it forget.
    functools._lru_cache_wrapper: {"READ_SELF": "cache_info", "WRITE_SELF": "cache_clear", "PURE": "__get__ __copy__ __deepcopy__ __reduce__"},
    property: {"PURE": "getter setter deleter"},
    types.SimpleNamespace: {"DEEP_READ": "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__"},
    array.array: {
        "READ_SELF": "__len__ __getitem__ __iter__ __repr__ __sizeof__ __copy__ tobytes tolist tounicode buffer_info __add__ __mul__ __rmul__",
        "SEEK": "__contains__ count index",
        "DEEP_READ": "__eq__ __ne__ __lt__ __le__ __gt__ __ge__",
        "WRITE_SELF": "append extend insert pop remove reverse byteswap frombytes fromlist fromunicode __setitem__ __delitem__"
                      " __iadd__ __imul__",
    },
    types.GeneratorType: {"NEXT_SELF": "__next__ send throw close", "PURE": "__iter__ __repr__ __del__"},
    re.Pattern: {"READ_ARGUMENTS": "match fullmatch search sub subn split findall", "PURE": "__copy__ __deepcopy__ __hash__"},
    struct.Struct: {"READ_ARGUMENTS": "pack unpack unpack_from iter_unpack", "PURE": "__sizeof__"},
    # The parts of a group never change.
    BaseException: {"WRITE_SELF": "__init__", "DEEP_READ": "__repr__ __str__", "PURE": "with_traceback split subgroup derive"},
}
# Of the base of all types, where they have nothing else instead.
_OF_ALL: dict[str, str] = {
    "PURE": "__init__ __init_subclass__ __subclasshook__ __eq__ __hash__ __repr__",
    "DEEP_READ": "__str__ __format__ __ne__ __lt__ __le__ __gt__ __ge__ __sizeof__",
    "WHOLE_OBJECT": "__dir__ __reduce__ __reduce_ex__ __getstate__",
}
# What every type has of these does the same.
_OF_ATTRIBUTES = {"__getattribute__": "SELF_ATTR_GET", "__setattr__": "SELF_ATTR_SET", "__delattr__": "SELF_ATTR_SET"}
# Of what never changes, and of iterators and views: special methods that show, compare and copy them.
_LOOKS = frozenset(
    "__repr__ __str__ __format__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __and__ __or__ __sub__ __xor__ __rand__ __ror__ __rsub__"
    " __rxor__ __contains__ __getitem__ __len__ __bool__ __copy__ __sizeof__ __reversed__ isdisjoint".split())

# By identity, since classes may have their own idea of being equal.
_OF_KINDS = {id(kind): methods for kind, methods in _METHODS.items()}

_FUNCTIONS: dict[str, str] = {
    "PURE": "callable hash id isinstance issubclass globals locals input range breakpoint super object property"
            " staticmethod classmethod slice __build_class__ aiter",
    "SIZE": "len bool",
    # An iterator begins by a look at how many items there are.
    "BEGIN": "iter enumerate zip map filter reversed type memoryview",
    # Numbers are made of buffers, too.
    "READ_ARGUMENTS": "list tuple set frozenset bytes bytearray abs bin chr divmod hex int float complex oct ord pow round compile",
    "DEEP_READ": "any all dict repr ascii print format str sum min max sorted",
    "ATTR_GET": "getattr hasattr",
    "ATTR_SET": "setattr delattr",
    "WHOLE_OBJECT": "vars dir",
    "NEXT": "next",
}

_IN_MODULES: list[tuple[str, Any, str]] = [
    # Of the thread that asks, or what does not change while programs run.
    ("PURE", sys, "exc_info exception intern is_finalizing _getframe _getframemodulename getrecursionlimit getswitchinterval"
                  " getdefaultencoding getfilesystemencoding getrefcount audit"),
    ("READ_ARGUMENTS", sys, "getsizeof"),
    # Time and chance are virtual, and make their own steps where somebody could notice.
    ("PURE", os, "urandom getpid getppid fspath"),
    ("READ_ARGUMENTS", struct, "pack unpack unpack_from calcsize iter_unpack"),
    ("READ_ARGUMENTS", binascii, "a2b_base64 b2a_base64 hexlify unhexlify a2b_hex b2a_hex crc32"),
    ("PURE", _json, "scanstring encode_basestring encode_basestring_ascii make_scanner make_encoder"),
    ("PURE", decimal, "getcontext localcontext"),
    ("READ_ARGUMENTS", hashlib, "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256 sha3_512 new"),
    ("READ_ARGUMENTS", _hashlib, "hmac_new hmac_digest compare_digest"),
    ("READ_ARGUMENTS", operator, "_compare_digest"),
    ("READ_ARGUMENTS", zlib, "compress decompress crc32 adler32"),
    ("PURE", unicodedata, "bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup"
                          " mirrored name normalize numeric"),
    ("BEGIN", csv, "reader"),
    ("DEEP_READ", functools, "reduce"),
    # Counts what it is given, in its first argument.
    ("WRITE_FIRST", collections, "_count_elements"),
    ("BEGIN", itertools, "tee"),
    # These go through what they are made of at once.
    ("READ_ARGUMENTS", itertools, "product permutations combinations combinations_with_replacement"),
    ("LOOKUP", operator, "getitem"),
    ("UNKNOWN", operator, "call"),
]

_LOCKS = {
    "acquire": "LOCK_ACQUIRE",
    "acquire_lock": "LOCK_ACQUIRE",
    "__enter__": "LOCK_ACQUIRE",
    "release": "LOCK_RELEASE",
    "release_lock": "LOCK_RELEASE",
    "__exit__": "LOCK_RELEASE",
    "_release_save": "LOCK_RELEASE_ALL",
    "_acquire_restore": "LOCK_ACQUIRE_AGAIN",
    # Of the thread that asks.
    "_is_owned": "PURE",
    "_recursion_count": "PURE",
    "locked": "LOCK_QUERY",
    "locked_lock": "LOCK_QUERY",
}
# Objects that are called, by what they are.
_CALLED: dict[type, str] = {
    _json.make_scanner: "PURE",
    operator.itemgetter: "LOOKUP",
    types.GenericAlias: "READ_ARGUMENTS",
    # Whether an object is gone is a matter of all that may have a reference to it.
    weakref.ref: "UNKNOWN",
}
# Exceptions that are made of what is within their arguments.
_READING_EXCEPTIONS = [kind for kind in vars(builtins).values() if isinstance(kind, type) and (
    issubclass(kind, (SyntaxError, UnicodeError)) or kind.__name__.endswith("ExceptionGroup"))]
_BY_OBJECT: dict[int, int] = {}
_KEPT: list[Any] = []


def _fill() -> None:
    for effect, names in _FUNCTIONS.items():
        for name in names.split():
            function = getattr(builtins, name, None)
            if function is not None:
                _BY_OBJECT[id(function)] = EFFECTS[effect]
    for kind in (collections.deque, array.array, time.struct_time, os.stat_result, *_READING_EXCEPTIONS):
        _BY_OBJECT[id(kind)] = EFFECTS["READ_ARGUMENTS"]
    for kind in (collections.defaultdict, collections.OrderedDict, collections.Counter, decimal.Decimal):
        _BY_OBJECT[id(kind)] = EFFECTS["DEEP_READ"]
    for kind in VIEWS:
        _BY_OBJECT.setdefault(id(kind), EFFECTS["BEGIN"])
    for kind in PURE:
        _BY_OBJECT.setdefault(id(kind), _PURE)
    # New ones are nobody else's yet.
    for kind in (object.__new__, asyncio.Future, asyncio.Task, _random.Random):
        _BY_OBJECT[id(kind)] = _PURE
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
        # The largest item may come first, too: from 3.14 on for all, and before for the module's own use.
        for largest in (f"{name}_max", f"_{name}_max"):
            if hasattr(_heapq, largest):
                _BY_OBJECT[id(getattr(_heapq, largest))] = EFFECTS["WRITE_FIRST"]
    # It takes the entry of an object out that is gone.
    _BY_OBJECT[id(_weakref._remove_dead_weakref)] = EFFECTS["WRITE_FIRST"]
    for name in ("insort_left", "insort_right"):
        _BY_OBJECT[id(getattr(_bisect, name))] = EFFECTS["WRITE_FIRST"]
    for name in ("bisect_left", "bisect_right"):
        _BY_OBJECT[id(getattr(_bisect, name))] = EFFECTS["DEEP_READ"]
    for effect, module, names in _IN_MODULES:
        for name in names.split():
            function = getattr(module, name, None)
            if function is not None:
                _BY_OBJECT[id(function)] = EFFECTS[effect]
    for name in ("get_ident", "allocate_lock", "_ThreadHandle", "daemon_threads_allowed", "set_name"):
        if hasattr(_thread, name):
            _BY_OBJECT[id(getattr(_thread, name))] = _PURE
    for kind in LOCKS:
        _BY_OBJECT[id(kind)] = _PURE
    for name in ("_get_running_loop", "get_running_loop", "get_event_loop", "_get_event_loop", "current_task", "_enter_task", "_leave_task",
                 "_register_task", "_unregister_task"):
        function = getattr(asyncio.events, name, None) or getattr(asyncio.tasks, name, None)
        _BY_OBJECT[id(function)] = _PURE
        _KEPT.append(function)
    # Who awaits whom is kept for those who look at the graph of calls; that is not told apart.
    for name in ("future_add_to_awaited_by", "future_discard_from_awaited_by"):
        if hasattr(asyncio.futures, name):
            _BY_OBJECT[id(getattr(asyncio.futures, name))] = _PURE
    # Whether a class is one of another's does not change, whatever is remembered of it.
    for function in (_abc._abc_instancecheck, _abc._abc_subclasscheck):
        _BY_OBJECT[id(function)] = _PURE
    # A context belongs to one task.
    for kind in (contextvars.ContextVar, contextvars.Context, contextvars.Token):
        _BY_OBJECT[id(kind)] = _PURE
    _BY_OBJECT[id(contextvars.copy_context)] = _PURE
    for function in _known.pure():
        _BY_OBJECT.setdefault(id(function), _PURE)
    for function in _known.reads():
        _BY_OBJECT[id(function)] = EFFECTS["READ_ARGUMENTS"]
    for function in _known.deep_reads():
        _BY_OBJECT[id(function)] = EFFECTS["DEEP_READ"]
    for function in _sync.SUBSTITUTED:
        _BY_OBJECT[id(function)] = EFFECTS["SUBSTITUTED"]
    for module in (_drawloom,):
        for value in vars(module).values():
            _BY_OBJECT[id(value)] = _PURE


def _is_one_of(kind: Any, kinds: Iterable[type]) -> bool:
    """By identity, too."""
    return any(kind is known for known in kinds)


def classify(function: Any) -> int:
    """What a callable does that is not written in Python. Asked once for each."""
    known = _BY_OBJECT.get(id(function))
    if known is not None:
        return known
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__objclass__", None)
    if not isinstance(owner, type):
        # None has it, or it is the descriptor of those that have it: the types of descriptors can be called, too.
        owner = None
    if owner is None:
        for kind, effect in _CALLED.items():
            if type(function) is kind:
                return EFFECTS[effect]
        self = getattr(function, "__self__", None)
        if self is not None and not isinstance(self, types.ModuleType):
            owner = self if isinstance(self, type) else type(self)
    if name in OF_DATETIME and isinstance(owner, type) and issubclass(owner, datetime.datetime):
        return EFFECTS["SUBSTITUTED"]
    own = (_drawloom.Lock, _drawloom.CondVar, contextvars.ContextVar, contextvars.Context, contextvars.Token)
    if _is_one_of(owner, own):
        return _PURE
    if _is_one_of(type(function), _known.ENCODERS):
        return EFFECTS["DEEP_READ"]
    if _is_one_of(type(function), _known.PURE_TYPES):
        return _PURE
    if owner is _known.SOCKETS and name in _known.SOCKET_QUERIES.split():
        return _PURE
    if _is_one_of(owner, _known.MEMORY_FILES) and name not in ("__new__", "__class_getitem__", *_OF_ATTRIBUTES):
        if name in _known.MEMORY_WRITES_ARGUMENTS.split():
            return _UNKNOWN
        return EFFECTS["READ_SELF" if name in _known.MEMORY_READS.split() else "WRITE_DEEP"]
    if owner is None:
        if isinstance(function, type) and issubclass(function, BaseException):
            return _PURE
        if _foreign.is_seen(function):
            return EFFECTS["FOREIGN"]
        if _foreign.is_pure(function):
            return _PURE
        if _foreign.is_data_type(function):
            return EFFECTS["READ_ARGUMENTS"]
        return _PURE if _code.is_of_framework(function) else _UNKNOWN
    if name in ("fromkeys", "__class_getitem__", "maketrans", "from_bytes", "fromhex"):
        return EFFECTS["READ_ARGUMENTS"]
    if name == "__new__":
        return EFFECTS["DEEP_READ"]
    if _is_one_of(owner, LOCKS):
        return EFFECTS[_LOCKS.get(name, "LOCK_OTHER")]
    effect = _of_method(owner, name)
    return _PURE if effect == "UNKNOWN" and _code.is_of_framework(function) else EFFECTS[effect]


def _of_method(owner: type, name: str) -> str:
    """What a method does that `owner` has, or inherits."""
    if name in _OF_ATTRIBUTES:
        return _OF_ATTRIBUTES[name]
    for kind in owner.__mro__:
        methods = _OF_KINDS.get(id(kind))
        if methods is not None:
            for effect, names in methods.items():
                if name in names.split():
                    return effect
            break
    if next((kind for kind in owner.__mro__ if name in vars(kind)), None) is object:
        return next((effect for effect, names in _OF_ALL.items() if name in names.split()), "UNKNOWN")
    if issubclass(owner, str) and name in ("format", "format_map"):
        return "FORMAT"
    if issubclass(owner, _VALUES):
        return "LOOKUP" if name == "__mod__" else "DEEP_READ"
    if _is_one_of(owner, VIEWS):
        # What they refer to is what they read; and who goes on with an iterator changes it.
        if name == "__next__":
            return "NEXT_SELF"
        return "PURE" if name == "__iter__" and hasattr(owner, "__next__") else "DEEP_READ" if name in _LOOKS else "READ_SELF"
    if _is_one_of(owner, (*_known.PURE_TYPES, *RESUMED)):
        return "PURE"
    if _is_one_of(owner, PURE) or issubclass(owner, BaseException):
        if name == "__get__" and owner is not property:
            return "PURE"
        return "DEEP_READ" if name in _LOOKS else "UNKNOWN"
    return "UNKNOWN"


_fill()
