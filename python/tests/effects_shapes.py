"""Arguments for the oracle over functions that are not written in Python: shapes of objects that can change.

A shape makes its objects anew each time it is built, and names those that can change: its *nodes*, in the same order each
time. So what one build is changed by can be done to another one.
"""

import array
import asyncio
import atexit
import collections
import contextlib
import datetime
import decimal
import functools
import hashlib
import io
import itertools
import operator
import random
import re
import struct
import types
import weakref


class Attributed:
    """An object with an attribute."""

    def __init__(self, x=0):
        self.x = x


class Slotted:
    __slots__ = ("x", "__weakref__")

    def __init__(self, x=0):
        self.x = x


class Compared:
    """One whose methods in Python read its attribute: that is seen where they run."""

    def __init__(self, x=0):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Compared) and self.x == other.x

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return self.x < other.x

    def __bool__(self):
        return bool(self.x)


class OwnList(list):
    pass


class OwnDict(dict):
    pass


class OwnSet(set):
    pass


class OwnTuple(tuple):
    pass


class OwnError(Exception):
    pass


Point = collections.namedtuple("Point", "x y")


class Build:
    """The nodes of one build; they are kept, so that others have them, too."""

    def __init__(self):
        self.nodes = []

    def __call__(self, node):
        self.nodes.append(node)
        return node


def leaves():
    """Shapes of what never changes."""
    values = {
        "0": 0, "1": 1, "2": 2, "'a'": "a", "b'1'": b"1", "b'a'": b"a", "None": None, "1.5": 1.5, "True": True,
        "''": "", "(0, 1)": (0, 1), "1j": 1j, "Decimal": decimal.Decimal(1), "date": datetime.date(2020, 1, 1),
        "delta": datetime.timedelta(1), "frozenset": frozenset((0, 1)), "range": range(3), "slice": slice(0, 2), "...": ...,
    }
    return {name: (lambda build, value=value: value) for name, value in values.items()}


def containers():
    """Shapes of one container of leaves."""
    return {
        "[]": lambda b: b([]),
        "[0]": lambda b: b([0]),
        "[1, 0]": lambda b: b([1, 0]),
        "['a', 'b']": lambda b: b(["a", "b"]),
        "['x']": lambda b: b(["x"]),
        "[b'a']": lambda b: b([b"a"]),
        "[('k', 0)]": lambda b: b([("k", 0)]),
        "{}": lambda b: b({}),
        "{0: 0}": lambda b: b({0: 0}),
        "{'x': 0, 'y': 1}": lambda b: b({"x": 0, "y": 1}),
        "set()": lambda b: b(set()),
        "{0, 1}": lambda b: b({0, 1}),
        "deque([0, 1])": lambda b: b(collections.deque([0, 1])),
        "OrderedDict": lambda b: b(collections.OrderedDict(x=0, y=1)),
        "defaultdict": lambda b: b(collections.defaultdict(list, x=0)),
        "Counter": lambda b: b(collections.Counter("ab")),
        "OwnList": lambda b: b(OwnList([0])),
        "OwnDict": lambda b: b(OwnDict(x=0)),
        "OwnSet": lambda b: b(OwnSet([0])),
    }


def buffers():
    def view(build):
        data = build(bytearray(b"01"))
        return memoryview(data)

    return {
        "bytearray(b'0')": lambda b: b(bytearray(b"0")),
        "bytearray(b'01')": lambda b: b(bytearray(b"01")),
        "bytearray(b'')": lambda b: b(bytearray()),
        "array('b')": lambda b: b(array.array("b", b"01")),
        "array('i')": lambda b: b(array.array("i", [0, 1])),
        "array('u')": lambda b: b(array.array("u", "01")),
        "memoryview(bytearray)": view,
        "BytesIO": lambda b: b(io.BytesIO(b"0\n1")),
        "StringIO": lambda b: b(io.StringIO("0\n1")),
    }


def objects():
    """Shapes of objects with attributes."""

    def function(build):
        def named(x=0):
            return x

        return build(named)

    def made_class(build):
        return build(type("Made", (), {"x": 0}))

    def module(build):
        made = types.ModuleType("made")
        made.x = 0
        return build(made)

    return {
        "Attributed": lambda b: b(Attributed()),
        "Slotted": lambda b: b(Slotted()),
        "Compared": lambda b: b(Compared()),
        "SimpleNamespace": lambda b: b(types.SimpleNamespace(x=0)),
        "Exception": lambda b: b(Exception("a")),
        "OSError": lambda b: b(OSError(1, "a", "b")),
        "KeyError": lambda b: b(KeyError("a")),
        "UnicodeDecodeError": lambda b: b(UnicodeDecodeError("utf-8", b"ab", 0, 1, "a")),
        "SyntaxError": lambda b: b(SyntaxError("a", ("f", 1, 1, "t"))),
        "StopIteration": lambda b: b(StopIteration("a")),
        "OwnError": lambda b: b(OwnError("a")),
        "function": function,
        "class": made_class,
        "module": module,
        "partial": lambda b: b(functools.partial(len, [0])),
    }


# Of a loop that never runs: callbacks of futures wait for it for ever.
_LOOP = asyncio.new_event_loop()
atexit.register(_LOOP.close)
_LOOP.set_exception_handler(lambda loop, context: None)


def stateful():
    """Shapes of objects that are changed by being used."""
    return {
        "sha256": lambda b: b(hashlib.sha256(b"0")),
        "Random": lambda b: b(random.Random(0)),
        "Future": lambda b: b(asyncio.Future(loop=_LOOP)),
    }


def inner():
    """What lies within something else."""
    every = {**containers(), **buffers(), **objects()}
    names = (
        "[]", "[0]", "['a', 'b']", "{}", "{'x': 0, 'y': 1}", "set()", "deque([0, 1])", "OrderedDict", "bytearray(b'0')",
        "array('b')", "memoryview(bytearray)", "Attributed", "Slotted", "Compared", "SimpleNamespace", "OSError", "OwnList",
        "OwnDict", "class", "partial",
    )
    return {name: every[name] for name in names}


def outer():
    """What something else lies within: makers of a node or of a value around `a`."""
    return {
        "[{}]": lambda build, a: build([a]),
        "[{}, 0]": lambda build, a: build([a, 0]),
        "({},)": lambda build, a: (a,),
        "(0, {})": lambda build, a: (0, a),
        "{{'x': {}}}": lambda build, a: build({"x": a}),
        "deque({})": lambda build, a: build(collections.deque([a])),
        "OwnList({})": lambda build, a: build(OwnList([a])),
        "OwnDict({})": lambda build, a: build(OwnDict(x=a)),
        "OwnTuple({})": lambda build, a: OwnTuple((a,)),
        "Point({})": lambda build, a: Point(a, 0),
        "OrderedDict({})": lambda build, a: build(collections.OrderedDict(x=a)),
        "defaultdict({})": lambda build, a: build(collections.defaultdict(None, x=a)),
        "Attributed({})": lambda build, a: build(Attributed(a)),
        "Slotted({})": lambda build, a: build(Slotted(a)),
        "SimpleNamespace({})": lambda build, a: build(types.SimpleNamespace(x=a)),
        "mappingproxy({})": lambda build, a: types.MappingProxyType(build({"x": a})),
        "values of {}": lambda build, a: build({"x": a}).values(),
        "items of {}": lambda build, a: build({"x": a}).items(),
        "iter([{}])": lambda build, a: build(iter(build([a]))),
        "partial(..., {})": lambda build, a: build(functools.partial(list, a)),
        "Exception({})": lambda build, a: build(Exception(a)),
        "slice({})": lambda build, a: slice(a, None),
        "map(..., [{}])": lambda build, a: build(map(len, build([a]))),
        "zip([{}])": lambda build, a: build(zip(build([a]))),
    }


def hashed():
    """Keys and members of sets, which are hashed by who they are."""
    with_key = {
        "set({})": lambda build, a: build({a}),
        "frozenset({})": lambda build, a: frozenset((a,)),
        "{{{}: 0}}": lambda build, a: build({a: 0}),
        "keys of {}": lambda build, a: build({a: 0}).keys(),
    }
    keys = {name: objects()[name] for name in ("Attributed", "Slotted", "Compared", "OSError", "class", "partial")}
    return with_key, keys


def iterators():
    def dict_iterator(build):
        return build(iter(build({"x": 0, "y": 1})))

    def view_of(of):
        return lambda build: of(build({"x": 0, "y": 1}))

    def generator(build):
        return build(item for item in build([0, 1]))

    return {
        "iter([0, 1])": lambda b: b(iter(b([0, 1]))),
        "reversed([0, 1])": lambda b: b(reversed(b([0, 1]))),
        "iter({'x': 0})": dict_iterator,
        "iter(set)": lambda b: b(iter(b({0, 1}))),
        "iter(deque)": lambda b: b(iter(b(collections.deque([0, 1])))),
        "iter(bytearray)": lambda b: b(iter(b(bytearray(b"01")))),
        "iter(array)": lambda b: b(iter(b(array.array("b", b"01")))),
        "iter(memoryview)": lambda b: b(iter(memoryview(b(bytearray(b"01"))))),
        "iter((0, 1))": lambda b: b(iter((0, 1))),
        "keys": view_of(dict.keys),
        "values": view_of(dict.values),
        "items": view_of(dict.items),
        "mappingproxy": view_of(types.MappingProxyType),
        "generator": generator,
        "enumerate": lambda b: b(enumerate(b(["a", "b"]))),
        "zip": lambda b: b(zip(b([0, 1]), b([0, 1]))),
        "zip of an iterator": lambda b: b(zip(b(iter(b([0, 1]))))),
        "map(len)": lambda b: b(map(len, b([b([]), b([0])]))),
        "map(get)": lambda b: b(map(b({0: 1}).get, b([0, 1]))),
        "map(attrgetter)": lambda b: b(map(operator.attrgetter("x"), b([b(Attributed())]))),
        "filter(None)": lambda b: b(filter(None, b([b([]), b([0])]))),
        "filter(len)": lambda b: b(filter(len, b([b([]), b([0])]))),
        "filter of objects": lambda b: b(filter(None, b([b(Compared())]))),
        "chain": lambda b: b(itertools.chain(b([0]), b([1]))),
        "chain.from_iterable": lambda b: b(itertools.chain.from_iterable(b([b([0]), b([1])]))),
        "islice": lambda b: b(itertools.islice(b([0, 1]), 1)),
        "accumulate": lambda b: b(itertools.accumulate(b([b([0]), b([1])]))),
        "starmap": lambda b: b(itertools.starmap(max, b([b([0, 1])]))),
        "takewhile": lambda b: b(itertools.takewhile(len, b([b([0])]))),
        "dropwhile": lambda b: b(itertools.dropwhile(len, b([b([0])]))),
        "filterfalse": lambda b: b(itertools.filterfalse(None, b([b([])]))),
        "compress": lambda b: b(itertools.compress(b([0, 1]), b([b([]), b([0])]))),
        "groupby": lambda b: b(itertools.groupby(b([b([0]), b([0])]))),
        "product": lambda b: b(itertools.product(b([0, 1]))),
        "zip_longest": lambda b: b(itertools.zip_longest(b([0]), b([0, 1]))),
        "iter(f, sentinel)": lambda b: b(iter(b([0, 1]).pop, 0)),
        "iter(f, list)": lambda b: b(iter(b([b([0]), b([1])]).pop, b([0]))),
    }


def others():
    """What never changes itself, and reads what does."""

    def referred(build):
        # The reference is kept by the build.
        return weakref.ref(build(Attributed()))

    return {
        "pattern": lambda b: re.compile(b"[01]"),
        "str pattern": lambda b: re.compile("[ab]"),
        "match of a bytearray": lambda b: re.compile(b"(0)1").match(b(bytearray(b"01"))),
        "Struct": lambda b: struct.Struct("2s"),
        "itemgetter(0)": lambda b: operator.itemgetter(0),
        "itemgetter('x')": lambda b: operator.itemgetter("x"),
        "itemgetter(0, 0)": lambda b: operator.itemgetter(0, 0),
        "attrgetter('x')": lambda b: operator.attrgetter("x"),
        "attrgetter('x.x')": lambda b: operator.attrgetter("x.x"),
        "methodcaller('copy')": lambda b: operator.methodcaller("copy"),
        "weakref": referred,
        "bound append": lambda b: b([0]).append,
        "bound pop": lambda b: b([0]).pop,
        "bound get": lambda b: b({0: 1}).get,
        "property": lambda b: property(lambda self: self.x),
        "list[...]": lambda b: list[int],
        "GenericAlias of a list": lambda b: types.GenericAlias(list, (b([0]),)),
        "super": lambda b: super(Attributed, b(Attributed())),
        "method": lambda b: b(Compared()).__lt__,
        "codec": lambda b: __import__("codecs").getincrementaldecoder("utf-8")(),
    }


def deep():
    """Nested further than two deep."""

    def nested(make):
        def shape(build):
            found = build([0])
            for _ in range(5):
                found = make(build, found)
            return found

        return shape

    return {
        "[[[[[[0]]]]]]": nested(lambda build, a: build([a])),
        "((((([0],),),),),)": nested(lambda build, a: (a,)),
        "{x: {x: ...}}": nested(lambda build, a: build({"x": a})),
        "([([([0],)],)],)": nested(lambda build, a: (build([a]),)),
        "Attributed of list": lambda b: b([b(Attributed(b([b([0])])))]),
        "frozenset of tuples": lambda b: frozenset(((0, b(Compared())),)),
    }


def callables():
    """What functions are given to call."""
    return {
        "len": lambda b: len, "str": lambda b: str, "list": lambda b: list, "bool": lambda b: bool,
        "attrgetter": lambda b: operator.attrgetter("x"), "itemgetter": lambda b: operator.itemgetter(0),
        "lambda": lambda b: lambda *given: len(given), "get": lambda b: b({0: 1}).get, "contains": lambda b: b([b([0])]).__contains__,
        "partial": lambda b: functools.partial(operator.contains, b([0])), "append": lambda b: b([]).append, "next": lambda b: next,
    }


def formats():
    texts = ("{.x}", "{0.x.x}", "{0[x]}", "{[0]}", "{!r}", "{x}", "{0:{1}}", "%s", "%r", "%(x)s", "%d", "x", "a", "utf-8", "i", "2s",
             "b", "u", "r", "__class__", "__dict__", "args")
    found = {repr(text): (lambda build, text=text: text) for text in texts}
    found.update({repr(text.encode()): (lambda build, text=text: text.encode()) for text in ("%s", "%b", "%a", "0", "[01]")})
    return found


def types_of():
    return {kind.__name__: (lambda build, kind=kind: kind) for kind in (int, list, dict, str, Attributed, Exception)}


def nested():
    """Everything within everything."""
    found = {}
    for around, make in outer().items():
        for name, shape in inner().items():
            found[around.format(name)] = lambda build, make=make, shape=shape: make(build, shape(build))
    with_key, keys = hashed()
    for around, make in with_key.items():
        for name, shape in keys.items():
            found[around.format(name)] = lambda build, make=make, shape=shape: make(build, shape(build))
    found["[[], []]"] = lambda b: b([b([]), b([])])
    found["[[0], [0]]"] = lambda b: b([b([0]), b([0])])
    found["[(0, [0]), (0, [0])]"] = lambda b: b([(0, b([0])), (0, b([0]))])
    found["[Compared, Compared]"] = lambda b: b([b(Compared()), b(Compared())])
    return found


def one_deep():
    return {**containers(), **buffers(), **objects(), **stateful(), **iterators(), **others()}


def all_shapes():
    return {**leaves(), **one_deep(), **nested(), **deep()}


# What a value is changed to: another one of its kind, one of another truth, and one of another kind.
def instead_of(value):
    if isinstance(value, bool) or value is None:
        return [not value, "z"]
    if isinstance(value, int):
        return [1 - value if value in (0, 1) else value + 1, 5, "z"]
    if isinstance(value, str):
        return ["1" if value == "0" else "z", "", 5]
    if isinstance(value, bytes):
        return [b"z", b"", 5]
    return [5, "z"]


def changes_of(node):
    """What can be done to a node: (what is different then, how it is done)."""
    if isinstance(node, (list, collections.deque)):
        for new in instead_of(node[0]) if node else ():
            yield ("item", 0), (lambda node, new=new: node.__setitem__(0, new))
        yield ("size",), lambda node: node.append(1)
        if node:
            yield ("size",), lambda node: node.pop()
        if len(node) > 1:
            yield ("order",), lambda node: node.reverse()
    elif isinstance(node, dict):
        # The key of another build may be another object.
        for key in list(node)[:1]:
            for new in instead_of(node[key]):
                yield ("item", key), (lambda node, new=new: node.__setitem__(next(iter(node)), new))
            yield ("key", key), (lambda node: node.__delitem__(next(iter(node))))
            if len(node) > 1:
                yield ("order",), (lambda node, key=key: node.__setitem__(key, node.pop(key)))
        yield ("key", "added"), lambda node: node.__setitem__("added", 1)
        yield ("key", 1), lambda node: node.__setitem__(1, 1)
    elif isinstance(node, set):
        yield ("size",), lambda node: node.add("added")
        yield ("size",), lambda node: node.add(5)
        if node:
            yield ("size",), lambda node: node.clear()
    elif isinstance(node, (bytearray, array.array)):
        if len(node) > 0:
            other = "9" if isinstance(node, array.array) and node.typecode == "u" else ord("9")
            yield ("content",), lambda node: node.__setitem__(0, other)
            yield ("size",), lambda node: node.pop()
        else:
            yield ("size",), lambda node: node.append(49)
    elif isinstance(node, io.BytesIO):
        yield ("content",), lambda node: node.write(b"9")
        yield ("content",), lambda node: node.seek(1)
        yield ("content",), lambda node: node.close()
    elif isinstance(node, io.StringIO):
        yield ("content",), lambda node: node.write("9")
        yield ("content",), lambda node: node.close()
    elif isinstance(node, random.Random):
        yield ("content",), lambda node: node.random()
    elif isinstance(node, asyncio.Future):
        yield ("content",), lambda node: node.set_result(5)
        yield ("content",), lambda node: node.cancel()
    elif hasattr(node, "hexdigest"):
        yield ("content",), lambda node: node.update(b"9")
    elif isinstance(node, BaseException):
        yield ("attribute", "args"), lambda node: setattr(node, "args", ("changed",))
        for name in ("strerror", "errno", "filename", "reason", "object", "msg", "value", "__cause__"):
            if hasattr(node, name) and not (name == "object"):
                new = 9 if name == "errno" else Exception("z") if name == "__cause__" else "changed"
                yield ("attribute", name), (lambda node, name=name, new=new: setattr(node, name, new))
        yield ("attribute", "x"), lambda node: setattr(node, "x", 5)
    elif isinstance(node, type):
        yield ("attribute", "x"), lambda node: setattr(node, "x", 5)
        yield ("attribute", "__name__"), lambda node: setattr(node, "__name__", "Renamed")
        yield ("attribute", "__qualname__"), lambda node: setattr(node, "__qualname__", "Renamed")
    elif isinstance(node, types.FunctionType):
        yield ("attribute", "x"), lambda node: setattr(node, "x", 5)
        yield ("attribute", "__name__"), lambda node: setattr(node, "__name__", "renamed")
        yield ("attribute", "__qualname__"), lambda node: setattr(node, "__qualname__", "renamed")
    elif isinstance(node, functools.partial):
        yield ("attribute", "x"), lambda node: setattr(node, "x", 5)
    elif isinstance(node, types.ModuleType):
        yield ("attribute", "x"), lambda node: setattr(node, "x", 5)
        yield ("attribute", "__name__"), lambda node: setattr(node, "__name__", "renamed")
    elif hasattr(node, "__next__"):
        yield ("position",), lambda node: next(node, None)
    elif hasattr(node, "x"):
        for new in instead_of(node.x):
            yield ("attribute", "x"), (lambda node, new=new: setattr(node, "x", new))
        yield ("attribute", "x"), lambda node: delattr(node, "x")
        if hasattr(node, "__dict__"):
            yield ("attribute", "added"), lambda node: setattr(node, "added", 5)


def done(change, node):
    """Whether a change could be made: of what the build itself has in use, it cannot."""
    with contextlib.suppress(BufferError, ValueError, RuntimeError, TypeError, AttributeError, KeyError):
        change(node)
        return True
    return False
