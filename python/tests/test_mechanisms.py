"""Races through every mechanism that Python has for getting at something: each is found, whoever comes first."""

import array
import collections
import contextlib
import copy
import functools
import heapq
import io
import itertools
import operator
import sys
import threading

import pytest
from common import Box, exhaust, one_interval

from drawloom.frontrun import explore_dpor


def counted():
    return Box(value=0)


def two(box):
    return box.value == 2


def closure():
    total = 0

    def add():
        nonlocal total
        total += 1

    def deeper():
        def add_within():
            nonlocal total
            seen = total
            total = seen + 1

        return add_within

    return Box(add=add, within=deeper(), get=lambda: total)


def by_exec(box):
    exec("box.value = box.value + 1", {"box": box})


def by_eval(box):
    seen = eval("box.value", {"box": box})
    exec(compile("box.value = seen + 1", "<made up>", "exec"), {"box": box, "seen": seen})


def by_object(box):
    object.__setattr__(box, "value", object.__getattribute__(box, "value") + 1)


def by_operator(box):
    operator.setitem(box.items, "a", operator.getitem(box.items, "a") + 1)


def by_type(box):
    dict.__setitem__(box.items, "a", dict.__getitem__(box.items, "a") + 1)


def by_merging(box):
    box.items |= {"a": box.items["a"] + 1}


def by_item(box):
    box.items["a"] = box.items["a"] + 1


def by_chain(box):
    chain = collections.ChainMap(box.items, {"a": 0})
    chain["a"] = chain["a"] + 1


def items(**more):
    return lambda: Box(items={"a": 0}, **more)


def a_is_two(box):
    return box.items["a"] == 2


def in_array(box):
    box.numbers[0] += 1


class Lazy:
    def __init__(self):
        self.computed = 0

    @functools.cached_property
    def value(self):
        self.computed += 1
        return 42


class One:
    value = 1


class Two:
    value = 2


def doubled_by_class(box):
    box.total += type(box.one).value


def by_partial(box):
    box.seen = functools.partial(lambda base, more: base + more, box.value)(1)


def swaps(box):
    box.a, box.b = box.b, box.a


def sees_both(box):
    box.seen = box.a, box.b


def sends(box):
    box.total = box.generator.send(1)


def generator():
    def sums():
        total = 0
        while True:
            total += yield total

    made = sums()
    next(made)
    return Box(generator=made, total=0)


def once(box):
    if box.cache is None:
        box.made += 1
        box.cache = object()


def sets(name, value):
    return lambda box: setattr(box, name, value)


def does(function):
    """A worker that keeps what it has found."""

    def worker(box):
        box.seen = function(box)

    worker.__name__ = getattr(function, "__name__", "does")
    return worker


def writes(*pairs):
    def worker(box):
        for at, value in pairs:
            box.items[at] = value

    return worker


def numbers(*given):
    return lambda: Box(items=list(given), seen=None)


def seen(*allowed):
    return lambda box: box.seen in allowed


RACES = {
    "a cell": (closure, [lambda b: b.add()] * 2, lambda b: b.get() == 2),
    "a cell from two depths": (closure, [lambda b: b.add(), lambda b: b.within()], lambda b: b.get() == 2),
    "exec": (counted, [by_exec] * 2, two),
    "eval and compile": (counted, [by_eval] * 2, two),
    "object.__setattr__": (counted, [by_object] * 2, two),
    "the module operator": (items(), [by_operator] * 2, a_is_two),
    "methods of dict, not bound": (items(), [by_type] * 2, a_is_two),
    "|=": (items(), [by_merging, by_item], a_is_two),
    "a ChainMap": (items(), [by_chain] * 2, a_is_two),
    "array": (lambda: Box(numbers=array.array("i", [0])), [in_array] * 2, lambda b: b.numbers[0] == 2),
    "__class__": (lambda: Box(one=One(), total=0), [doubled_by_class, lambda b: setattr(b.one, "__class__", Two)],
                  lambda b: b.total == 1),
    "partial": (lambda: Box(value=1, seen=0), [by_partial, sets("value", 5)], seen(6)),
    "a, *b = items": (numbers(1, 2, 3), [does(lambda b: (lambda head, *tail: (head, len(tail)))(*b.items)),
                                         lambda b: (writes((0, 9))(b), b.items.append(4))], seen((1, 2), (9, 3))),
    ":=": (lambda: Box(value=0, seen=None), [does(lambda b: v if (v := b.value) >= 0 else None), sets("value", 7)],
           seen(7)),
    "an f-string": (lambda: Box(value=0, seen=""), [does(lambda b: f"{b.value}"), sets("value", 7)], seen("7")),
    "a comprehension": (lambda: Box(value=0, seen=None), [does(lambda b: [b.value for _ in range(2)]),
                                                           sets("value", 7)], seen([0, 0], [7, 7])),
    "a conditional expression": (lambda: Box(flag=True, a=1, b=2, seen=0), [
        does(lambda b: b.a if b.flag else b.b), lambda b: (setattr(b, "flag", False), setattr(b, "a", 9))], seen(1, 2)),
    "0 < x < 10": (lambda: Box(x=5, seen=None), [does(lambda b: 0 < b.x < 10), sets("x", 15)],
                   lambda b: b.seen == (0 < b.x < 10)),
    "a swap": (lambda: Box(a=1, b=2, seen=None), [swaps, sees_both], seen((1, 2), (2, 1))),
    "what is made once": (lambda: Box(cache=None, made=0), [once] * 2, lambda b: b.made == 1),
    "reduce": (numbers(1, 2, 3), [does(lambda b: functools.reduce(lambda x, y: x + y, b.items)),
                                  writes((0, 10), (2, 30))], seen(6, 42)),
    "min and max": (numbers(5, 3, 9), [does(lambda b: (min(b.items), max(b.items))), writes((0, 0), (2, 100))],
                    seen((3, 9), (0, 100))),
    "sum": (lambda: Box(items={"a": 1, "b": 2}, seen=0), [does(lambda b: sum(b.items.values())),
                                                          writes(("a", 10), ("b", 20))], seen(3, 30)),
    "sort and reverse": (numbers(3, 1, 2), [does(lambda b: (b.items.sort(), list(b.items))[1]),
                                            lambda b: b.items.reverse()], seen([1, 2, 3])),
    "enumerate": (numbers(1, 2, 3), [does(lambda b: sum(i * v for i, v in enumerate(b.items))),
                                     lambda b: b.items.insert(0, 9)], seen(8, 14)),
    "zip": (lambda: Box(items=["a", "b"], values=[1, 2], seen=None), [
        does(lambda b: dict(zip(b.items, b.values))["b"]), lambda b: b.values.__setitem__(1, 5)], seen(5)),
    "join": (numbers("hello", "world"), [does(lambda b: " ".join(b.items)),
                                         lambda b: (writes((0, "goodbye"))(b), b.items.append("!"))],
             seen("hello world", "goodbye world !")),
    "a slice of a bytearray": (lambda: Box(items=bytearray(2), seen=b""), [does(lambda b: bytes(b.items[0:2])),
                                                                          writes((0, 255), (1, 255))],
                               seen(b"\x00\x00", b"\xff\xff")),
    "whether it is empty, and how many": (numbers(1), [does(lambda b: (bool(b.items), len(b.items))),
                                                       lambda b: b.items.clear()], seen((True, 1), (False, 0))),
    "in, and then the item": (items(seen=None), [does(lambda b: b.items["a"] if "a" in b.items else None),
                                                 lambda b: b.items.pop("a")], None),
    "get": (items(seen=None), [does(lambda b: b.items.get("a", -1)), by_item], seen(1)),
    "setdefault": (lambda: Box(items={}, seen=None), [does(lambda b: b.items.setdefault("k", 1)),
                                                      lambda b: b.items.setdefault("k", 2)], seen(1)),
    "a set": (lambda: Box(items=set(), seen=0), [does(lambda b: (b.items.add(1), len(b.items))[1]),
                                                 lambda b: b.items.discard(1)], lambda b: b.seen == len(b.items)),
    "move_to_end": (lambda: Box(items=collections.OrderedDict(a=1, b=2), seen=None), [
        does(lambda b: next(iter(b.items))), lambda b: b.items.move_to_end("a")], seen("b")),
    "a deque": (lambda: Box(items=collections.deque([1]), seen=None), [
        lambda b: len(b.items) and b.items.popleft(), lambda b: len(b.items) and b.items.popleft()], None),
    "sys.modules": (lambda: (sys.modules.pop("made up", None), Box(seen=None))[1], [
        does(lambda b: "made up" in sys.modules), lambda b: sys.modules.__setitem__("made up", threading)], seen(True)),
    "send to a generator": (generator, [sends] * 2, lambda b: b.total == 2),
    "a shallow copy": (lambda: Box(items={"k": [1]}, seen=None), [
        does(lambda b: len(copy.copy(b.items)["k"])), lambda b: b.items["k"].append(2)], seen(1)),
    "a deep copy": (lambda: Box(items={"k": [1]}, seen=None), [
        does(lambda b: len(copy.deepcopy(b.items)["k"])), lambda b: b.items["k"].append(2)], seen(1)),
    "StringIO": (lambda: Box(items=io.StringIO("first"), seen=None), [
        does(lambda b: b.items.getvalue()), lambda b: (b.items.write("second"), b.items.truncate(3))],
        seen("first", "sec")),
    "BytesIO": (lambda: Box(items=io.BytesIO(b"first"), seen=None), [
        does(lambda b: b.items.getvalue()), lambda b: (b.items.write(b"second"), b.items.truncate(3))],
        seen(b"first", b"sec")),
    "a partial of a method": (numbers(), [lambda b: functools.partial(b.items.append, 1)(), does(lambda b: len(b.items))],
                              seen(1)),
    "a method by name": (numbers(), [lambda b: operator.methodcaller("append", 1)(b.items),
                                     does(lambda b: len(b.items))], seen(1)),
    "an item by operator": (numbers(0), [writes((0, 1)), does(lambda b: operator.itemgetter(0)(b.items))], seen(1)),
    "a counter that is shared": (lambda: Box(items=itertools.count(), seen=None), [
        does(lambda b: next(b.items)), lambda b: next(b.items)], seen(0)),
}


def in_memory(box):
    with box.file:
        box.file.read()


RACES["a context that is not written in Python"] = (lambda: Box(file=io.StringIO("a")), [in_memory] * 2, lambda b: True)

if sys.version_info >= (3, 14):
    RACES["a heap with the largest first"] = (numbers(), [lambda b: heapq.heappush_max(b.items, 1),
                                                          does(lambda b: len(b.items))], seen(1))
    # What it is made of is read when it is shown.
    exec("def shown(box):\n    box.seen = str(t'{box.items}')")
    RACES["a t-string"] = (numbers(), [shown, lambda b: b.items.append(1)], seen(  # noqa: F821
        "Template(strings=('', ''), interpolations=(Interpolation([], 'box.items', None, ''),))"))

if sys.version_info >= (3, 12):
    # Until then it takes a lock.
    RACES["cached_property"] = (Lazy, [lambda lazy: lazy.value] * 2, lambda lazy: lazy.computed == 1)


def locked(worker):
    """The worker, with the lock of its box around it."""

    def inside(box):
        with box.lock:
            worker(box)

    return inside


@contextlib.contextmanager
def held(lock):
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def within_a_generator(box):
    with held(box.lock):
        box.value += 1


def twice(box):
    for _ in "ab":
        with box.lock:
            box.value += 1


def raises_and_catches(box):
    with box.lock:
        try:
            seen = box.value
            raise ValueError
        except ValueError:
            box.value = seen + 1


def takes_it_twice(box):
    with box.lock, box.lock:
        box.value += 1


def waits_for_the_other(box):
    box.event.wait()
    box.value += 1


def goes_first(box):
    box.value += 1
    box.event.set()


def works_alone(box):
    mine = [1, 2, 3]
    mine.append(sum(mine))
    assert mine[3] == 6


def with_lock(**more):
    return lambda: Box(value=0, lock=threading.Lock(), items={"a": 0}, **more)


# What looks like a race and is none.
SAFE = {
    "a lock": (with_lock(), [locked(lambda b: setattr(b, "value", b.value + 1))] * 2, two),
    "a lock around items": (with_lock(), [locked(by_item)] * 2, a_is_two),
    "a lock around exec": (with_lock(), [locked(by_exec)] * 2, two),
    "a lock in a generator": (with_lock(), [within_a_generator] * 2, two),
    "a lock and an exception": (with_lock(), [raises_and_catches] * 2, two),
    "a lock taken twice": (lambda: Box(value=0, lock=threading.RLock()), [takes_it_twice] * 2, two),
    "a lock in a loop": (with_lock(), [twice] * 2, lambda b: b.value == 4),
    "an event that orders": (lambda: Box(value=0, event=threading.Event()), [goes_first, waits_for_the_other], two),
    "attributes of their own": (lambda: Box(a=0, b=0), [sets("a", 1), sets("b", 1)], lambda b: (b.a, b.b) == (1, 1)),
    "items of their own": (numbers(0, 0), [writes((0, 1)), writes((1, 1))], lambda b: b.items == [1, 1]),
    "containers of their own": (counted, [works_alone] * 3, None),
    "values that do not change": (lambda: Box(text="a,b", pair=(1, 2)), [
        lambda b: b.text.split(",") + list(b.pair), lambda b: sorted(b.pair) + [b.text.upper()]], None),
}


@one_interval
@pytest.mark.parametrize("reverse", [False, True], ids=["", "reversed"])
@pytest.mark.parametrize("name", SAFE)
def test_what_is_no_race_holds(name, reverse):
    setup, workers, invariant = SAFE[name]
    result = exhaust(setup, workers[::-1] if reverse else workers, invariant)
    assert result.verdict == "holds", result.explanation


@one_interval
@pytest.mark.parametrize("name", [*RACES, *SAFE])
def test_frontruns_names_say_the_same(name):
    setup, workers, invariant = {**RACES, **SAFE}[name]
    options = {"detect_io": False, "deadlock_timeout": 5.0, "reproduce_on_failure": 1, "max_executions": 1000}
    assert explore_dpor(setup, workers, invariant, **options).property_holds is (name in SAFE)


@pytest.mark.parametrize("reverse", [False, True], ids=["", "reversed"])
@pytest.mark.parametrize("name", RACES)
def test_a_race_is_found(name, reverse):
    setup, workers, invariant = RACES[name]
    result = exhaust(setup, workers[::-1] if reverse else workers, invariant, max_schedules=1000)
    assert result.verdict == "fails", (result, result.reason, result.coarse)
