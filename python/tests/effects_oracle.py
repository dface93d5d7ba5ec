"""An oracle for what functions that are not written in Python read and write.

A metamorphic relation: where a call has another result after one of its arguments, or something within it, was changed, the
call has read what was changed. The front end must say so, or say that it does not know what the call touches. And
what is different after a call the call has written.

The question "what is announced?" goes to the real code: the call is made under the callbacks of an exploration.
"""

import array
import asyncio
import collections
import functools
import io
import random
import re
import types
from dataclasses import dataclass

import effects_shapes as shapes

from drawloom import _drawloom
from drawloom._looking import instrumented

_ADDRESS = re.compile(r"0x[0-9a-f]+")
ENDLESS = 9


class Canon:
    """Values as something that can be compared. Nodes are who they are: a function that returns one has not read it."""

    def __init__(self, nodes):
        self.labels = {id(node): i for i, node in enumerate(nodes)}

    def __call__(self, value, depth=4):
        label = self.labels.get(id(value))
        return f"node {label}" if label is not None else self.inside(value, depth)

    def inside(self, value, depth=4):
        kind = type(value)
        name = f"node {self.labels[id(kind)]}" if id(kind) in self.labels else kind.__name__
        if depth == 0:
            return name
        if kind is types.GenericAlias:
            # It has the class and the attributes of something else.
            return name, self(value.__origin__, depth - 1), self(value.__args__, depth - 1)
        if value is None or kind in (int, float, complex, bool):
            return name, repr(value)
        if isinstance(value, str):
            return name, _ADDRESS.sub("0x", str.__str__(value))
        if isinstance(value, (bytes, bytearray)):
            return name, bytes(value)
        if isinstance(value, array.array):
            return name, value.typecode, value.tobytes()
        if isinstance(value, (list, tuple, collections.deque)):
            return name, [self(item, depth - 1) for item in type(value).__iter__(value)], self.attributes(value, depth)
        if isinstance(value, dict):
            return name, [(self(k, depth - 1), self(v, depth - 1)) for k, v in dict.items(value)], self.attributes(value, depth)
        if isinstance(value, types.MappingProxyType):
            return name
        if isinstance(value, (set, frozenset)):
            return name, sorted(repr(self(item, depth - 1)) for item in value), self.attributes(value, depth)
        if isinstance(value, (io.BytesIO, io.StringIO)):
            return (name, "closed") if value.closed else (name, value.getvalue(), value.tell())
        if isinstance(value, random.Random):
            return name, value.getstate()[1][-1], value.getstate()[1][0]
        if isinstance(value, asyncio.Future):
            try:
                return name, value._state, len(value._callbacks or ())
            except RuntimeError:
                return name, "not initialized"
        if hasattr(kind, "hexdigest"):
            return name, value.hexdigest()
        if isinstance(value, BaseException):
            told = [getattr(value, each, None) for each in ("strerror", "errno", "filename", "reason", "msg", "value")]
            return name, self(value.args, depth - 1), [self(each, depth - 1) for each in told], self.attributes(value, depth)
        if isinstance(value, type):
            return name, value.__name__, value.__qualname__, self(vars(value).get("x"), depth - 1)
        if isinstance(value, types.FunctionType):
            return name, value.__name__, value.__qualname__, self.attributes(value, depth)
        if isinstance(value, memoryview):
            # It reads nothing but how much there is.
            return name, value.format, value.shape
        if hasattr(kind, "__slots__") and isinstance(getattr(kind, "x", None), types.MemberDescriptorType) and hasattr(value, "x"):
            return name, self(value.x, depth - 1)
        return name, self.attributes(value, depth)

    def attributes(self, value, depth):
        # Methods and aliases have those of something else.
        found = getattr(value, "__dict__", None) if type(value).__dictoffset__ else None
        if type(found) is not dict:
            return None
        return [(key, self(item, depth - 1)) for key, item in found.items() if not key.startswith("__")]

    def state(self, node):
        """A node as it is now."""
        if hasattr(node, "__next__"):
            try:
                return _ADDRESS.sub("0x", repr(self.inside(node.__reduce__(), 6)))
            except Exception:
                return type(node).__name__
        return self.inside(node, 3)


@dataclass(frozen=True)
class Call:
    """A call, and the shapes that it is made with."""

    name: str
    function: object
    form: object
    shapes: tuple

    def __str__(self):
        return f"{self.name}({', '.join(name for name, _ in self.shapes)})"


class Run:
    """One call, of what was built anew."""

    def __init__(self, call, change=None):
        self.build = shapes.Build()
        self.arguments = [shape(self.build) for _, shape in call.shapes]
        self.call = call
        self.nodes = list(self.build.nodes)
        self.is_changed = change is None or shapes.done(change[1], self.nodes[change[0]])

    def make(self):
        """What comes of it."""
        canon = Canon(self.nodes)
        try:
            made = self.call.form(self.call.function, *self.arguments)
            self.is_lazy = hasattr(made, "__next__") and id(made) not in canon.labels
            return "returns", canon(made)
        except (Exception, asyncio.CancelledError) as error:
            self.is_lazy = False
            if id(error) in canon.labels:
                return "raises", canon(error)
            return "raises", type(error).__name__, _ADDRESS.sub("0x", repr(canon(error.args)))

    def states(self):
        canon = Canon(self.nodes)
        return [canon.state(node) for node in self.nodes]

    def announced(self):
        """What the front end takes it to touch, and what it has written in truth."""
        before = self.states()

        def body():
            try:
                self.call.form(self.call.function, *self.arguments)
            except (Exception, asyncio.CancelledError):
                pass

        found = _drawloom.announced(body)
        return found, [i for i, (one, other) in enumerate(zip(before, self.states())) if one != other]


def is_a_name(what, result, other):
    """Whether only the message of an error is different, which tells the name of a class or a module: that is no matter
    of what a function does, and would have each function that can fail read the names of all its arguments."""
    return what[0] == "attribute" and what[1] in ("__name__", "__qualname__") and result[0] == "raises" and result[:2] == other[:2]


def is_read(announced, node, what):
    """Whether it is announced that this is read, by one who tells it apart from everything else."""
    for unknown, accesses in announced:
        if unknown is not None:
            return True
        for owner, part, detail, _ in accesses:
            if owner in owners(node) and covers(part, detail, what, node):
                return True
            # A name that is written on a class is the same on all objects.
            if isinstance(node, type) and part == "name" and what == ("attribute", detail):
                return True
    return False


def owners(node):
    """By what it is known: the names of a module are those of its dict."""
    return (id(node), id(vars(node))) if isinstance(node, types.ModuleType) else (id(node),)


def covers(part, detail, what, node):
    if what[0] == "attribute":
        return part == "names" or (part == "name" and detail == what[1])
    if part == "all":
        return True
    if part == "content":
        return what[0] != "order"
    if part == "size":
        return what[0] in ("size", "key")
    if part == "item" and isinstance(node, dict):
        return what[0] in ("item", "key") and what[1] == detail
    # Whatever else is done to a list is done to all of it.
    return part == "item" and what[0] in ("size", "order", detail if what[0] == "item" else None) or what == ("item", detail)


def is_written(announced, node):
    for unknown, accesses in announced:
        if unknown is not None:
            return True
        if any(owner in owners(node) and write for owner, _, _, write in accesses):
            return True
    return False


@dataclass
class Miss:
    """Something that is read or written, and not announced."""

    call: Call
    node: str
    what: tuple
    written: bool = False

    def __str__(self):
        return f"{self.call} {'writes' if self.written else 'reads'} the {self.node} ({' '.join(map(str, self.what))})"


class Oracle:
    """Holds calls against what is announced of them."""

    def __init__(self):
        self.calls = self.reads = self.writes = self.uncertain = 0
        self.misses = []
        # Calls of which something is read or written, still to be asked for.
        self.asked = []

    def check(self, call):
        """Makes a call and again with everything that can be changed. Whether its result is made when it is asked for."""
        self.calls += 1
        first = Run(call)
        before = first.states()
        found = [list(shapes.changes_of(node)) for node in first.nodes]
        result = first.make()
        after = first.states()
        if before != after:
            self.asked.append((call, None, None))
        again = None
        for index, changes in enumerate(found):
            for what, change in self.chosen(changes, result):
                run = Run(call, (index, change))
                if not run.is_changed:
                    continue
                other = run.make()
                if other == result or is_a_name(what, result, other):
                    continue
                again = again or Run(call).make()
                if again != result:
                    self.uncertain += 1
                    return False
                self.asked.append((call, (index, change), what))
        return first.is_lazy

    @staticmethod
    def chosen(changes, result):
        """What an object is changed by; where a call is not possible, only what could make it so."""
        return changes[:1] + changes[-1:] if result[:2] == ("raises", "TypeError") else changes

    def ask(self):
        """Asks for all calls that were kept. To be called once for many, since it takes time to turn callbacks on."""
        with instrumented():
            for call, change, what in self.asked:
                self.ask_one(call, change, what)
        self.asked.clear()

    def ask_one(self, call, change, what):
        if change is None:
            run = Run(call)
            announced, written = run.announced()
            for index in written:
                self.writes += 1
                if not is_written(announced, run.nodes[index]):
                    self.misses.append(Miss(call, type(run.nodes[index]).__name__, ("argument", index), written=True))
            return
        self.reads += 1
        # Whoever comes second must know of it, too: it is announced in the state before as well as in the one after.
        for run in (Run(call), Run(call, change)):
            announced, _ = run.announced()
            if not is_read(announced, run.nodes[change[0]], what):
                self.misses.append(Miss(call, type(run.nodes[change[0]]).__name__, what))
                return


def says_so(function):
    """Whether it is announced of a function which the table does not know that everything may be touched. It is called with
    more arguments than any function takes, so that it does nothing. To be asked while callbacks are on."""
    def body():
        try:
            function(*[None] * 40)
        except Exception:
            pass

    return any(unknown is not None for unknown, _ in _drawloom.announced(body))


def _compiled(source):
    names = {}
    exec(compile(source, "<call>", "exec"), names)
    return names["call"]


@functools.cache
def form(arity, how="plain", name=""):
    """A call in Python, as the program under test would make it."""
    given = [f"a{i}" for i in range(arity)]
    parameters = ", ".join(["f", *given])
    plain = f"f({', '.join(given)})"
    bodies = {
        "plain": f"return {plain}",
        "method": f"return a0.{name}({', '.join(given[1:])})",
        "spread": f"return f(*({', '.join(given)},))",
        "named": f"return f({', '.join(given[:-1])}, {name}={given[-1] if given else ''})",
        "in a list": f"return f([{', '.join(given)}])",
        "drained": f"found = []\n for item in {plain}:\n  found.append(item)\n  if len(found) == {ENDLESS}: break\n return found",
        "next": f"made = {plain}\n return next(made)",
        "list": f"return list({plain})" if name != "endless" else f"return next({plain})",
        "vars": f"return f(vars({given[0] if given else ''}){''.join(', ' + each for each in given[1:])})",
    }
    return _compiled(f"def call({parameters}):\n {bodies[how]}\n")


@functools.cache
def instruction(arity, source):
    given = "".join(f", a{i}" for i in range(arity))
    indented = source.replace("\n", "\n ")
    return _compiled(f"def call(f{given}):\n {indented}\n")
