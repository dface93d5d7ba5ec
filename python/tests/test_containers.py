"""How finely containers are told apart: as finely as nobody could notice, and no finer."""

import collections
import functools
import itertools
import threading

import pytest
from common import Box, exhaust


def keys(*operations):
    """Workers that do something to a dict, each in its own way."""
    return [lambda box, operation=operation: operation(box.d) for operation in operations]


def adds(key):
    def run(d):
        d[key] = 1

    return run


def removes(key):
    def run(d):
        d.pop(key, None)

    return run


def box(**items):
    return lambda: Box(d=dict(items), e=dict(items), items=[0, 0], log=[])


@pytest.mark.parametrize(
    ("operations", "traces"),
    [
        # Keys that come and go are no matter to other keys.
        ([adds("a"), adds("b")], 1),
        ([adds("a"), removes("b")], 1),
        ([adds("a"), lambda d: d.get("b")], 1),
        ([adds("a"), lambda d: d.setdefault("b", 2)], 1),
        ([adds("a"), lambda d: "a" in d], 2),
        ([adds("a"), lambda d: d.setdefault("a", 2)], 2),
        ([adds("a"), removes("a")], 2),
        ([adds("a"), adds("a")], 2),
        # How many there are is.
        ([adds("a"), adds("b"), lambda d: len(d)], 6),
        ([adds("a"), lambda d: not d], 2),
        ([adds("a"), lambda d: bool(d)], 2),
        ([adds("a"), lambda d: tuple(d)], 2),
        ([adds("a"), lambda d: d.clear()], 2),
        ([adds("a"), lambda d: d.update(b=1)], 2),
        ([adds("a"), lambda d: d == {}], 2),
    ],
)
def test_keys_that_are_added_and_removed(operations, traces):
    for workers in (keys(*operations), keys(*operations[::-1])):
        result = exhaust(box(), workers, lambda s: len(s.d) < 9)
        assert (result.verdict, result.executions) == ("holds", traces)


@pytest.mark.parametrize(
    ("operations", "traces"),
    [
        # Values that change are no matter to who asks how many there are, but to who looks at all of them.
        ([adds("a"), lambda d: len(d)], 1),
        ([adds("a"), adds("b"), lambda d: bool(d)], 1),
        ([adds("a"), lambda d: d.copy()], 2),
        ([adds("a"), lambda d: sum(d.values())], 2),
    ],
)
def test_values_that_change(operations, traces):
    result = exhaust(box(a=0, b=0), keys(*operations))
    assert (result.verdict, result.executions) == ("holds", traces)


def test_the_order_in_the_end_counts_only_for_who_looks_at_it():
    workers = keys(adds("a"), adds("b"))
    assert exhaust(box(), workers, lambda s: s.d == {"a": 1, "b": 1}).executions == 1
    assert exhaust(box(), workers, lambda s: list(s.d) == ["a", "b"]).verdict == "fails"
    assert exhaust(box(), workers, lambda s: [k for k in s.d] == ["a", "b"]).verdict == "fails"
    assert exhaust(box(), workers, lambda s: str(s.d)[2] == "a").verdict == "fails"


def test_what_is_done_to_one_container_is_no_matter_to_others():
    def one(s):
        s.d["a"] = 1
        s.items[0] = 1
        s.log.append(1)

    def other(s):
        s.d["b"] = 1
        s.items[1] = 1
        len(s.e)
        tuple(s.e)

    assert exhaust(box(), [one, other]).executions == 1


def test_containers_that_one_line_touches_are_told_apart_alike():
    def put(d, key):
        d[key] = 1

    def one(s):
        put(s.d, "a")
        put(s.e, "a")

    def other(s):
        put(s.d, "b")
        s.n = len(s.e)

    counts = set()
    result = exhaust(lambda: Box(d={}, e={}, n=None), [one, other], lambda s: counts.add(s.n))
    assert (result.verdict, counts) == ("holds", {0, 1})


def test_a_container_under_two_names():
    def one(s):
        mine = s.d
        mine["a"] = 1

    def other(s):
        s.n = len(s.same)

    def setup():
        d = {}
        return Box(d=d, same=d, n=None)

    for workers in ([one, other], [other, one]):
        counts = set()
        result = exhaust(setup, workers, lambda s: counts.add(s.n))
        assert (result.verdict, result.executions, counts) == ("holds", 2, {0, 1})


def test_a_look_that_adds_what_is_missing():
    def look(s):
        s.d["k"].append(1)

    def count(s):
        s.n = len(s.d)

    counts = set()
    result = exhaust(lambda: Box(d=collections.defaultdict(list), n=None), [look, look, count], lambda s: counts.add(s.n))
    assert (result.verdict, counts) == ("holds", {0, 1})


class Made:
    def __init__(self):
        self.by = "Python"


class Plain:
    """Made by the interpreter alone."""


def ask_for_one(s, name):
    setattr(s, name, s.d["k"])


ASKING = [lambda s: ask_for_one(s, "mine"), lambda s: ask_for_one(s, "other")]


@pytest.mark.parametrize("factory", [lambda: threading.RLock, lambda: Made, lambda: functools.partial(Made), lambda: make_one,
                                     lambda: Box(make=make_one).make, lambda: lambda: []])
def test_what_is_missing_is_made_by_code_in_python(factory):
    """Two look, and both miss it: each has one of its own, and the dict has that of who stores his last."""
    result = exhaust(lambda: Box(d=collections.defaultdict(factory())), ASKING, lambda s: s.mine is s.other)
    assert (result.verdict, result.executions, result.coarse) == ("fails", 4, None)


def make_one():
    return Plain()


@pytest.mark.parametrize("factory", [lambda: list, lambda: threading.Lock, lambda: Plain])
def test_what_is_missing_is_made_by_the_interpreter(factory):
    result = exhaust(lambda: Box(d=collections.defaultdict(factory())), ASKING, lambda s: s.mine is s.other)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 2, None)


def test_what_makes_the_missing_shares_something_itself():
    def setup():
        s = Box(made=0)

        def make():
            s.made += 1
            return s.made

        s.d = collections.defaultdict(make)
        return s

    seen = set()
    exhaust(setup, ASKING, lambda s: seen.add((s.mine, s.other, s.made)))
    # One makes it, or each; of two that count at once one count may be lost.
    assert seen == {(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 2)}


def test_numbers_that_are_given_to_whoever_asks_first():
    def setup():
        return Box(d=collections.defaultdict(itertools.count().__next__))

    seen = set()
    result = exhaust(setup, [lambda s: s.d["a"], lambda s: s.d["b"]], lambda s: seen.add((s.d["a"], s.d["b"])))
    assert (result.verdict, seen) == ("holds", {(0, 1), (1, 0)})


def test_what_makes_the_missing_raises():
    def make():
        raise LookupError("none left")

    result = exhaust(lambda: Box(d=collections.defaultdict(make)), ASKING)
    assert result.verdict == "fails" and "LookupError: none left" in result.explanation


def test_an_iterator_that_begins_before_a_key_is_added():
    def iterate(s):
        items = iter(s.d)
        next(items)

    result = exhaust(box(a=0), [iterate, lambda s: s.d.setdefault("b", 1)])
    assert result.verdict == "fails"
    assert "changed size during iteration" in result.explanation


def test_an_iterator_that_threads_share():
    def by_next(s):
        s.mine = next(s.numbers)

    def by_method(s):
        s.other = s.draw()

    def setup():
        numbers = itertools.count()
        return Box(numbers=numbers, draw=numbers.__next__, mine=None, other=None)

    seen = set()
    result = exhaust(setup, [by_next, by_method], lambda s: seen.add((s.mine, s.other)))
    assert (result.verdict, result.executions, result.coarse, seen) == ("holds", 2, None, {(0, 1), (1, 0)})


def test_a_view_reads_what_it_is_of():
    def look(s):
        s.n = s.d.keys().isdisjoint(("a",))

    seen = set()
    assert exhaust(box(), [look, *keys(adds("a"))], lambda s: seen.add(s.n)).executions == 2
    assert seen == {True, False}


def test_locks_are_made_while_others_run():
    def make(s):
        s.log.append((threading.RLock(), threading.Condition(), threading.Lock()))

    assert exhaust(box(), [make, make]).coarse is None


def test_comprehensions_see_what_they_go_through():
    def write(s):
        s.items[0] = 1
        s.items[1] = 1

    def read(s):
        s.n = [item for item in s.items]
        s.m = sum(item for item in s.items)

    seen = set()
    result = exhaust(lambda: Box(items=[0, 0], n=None, m=None), [write, read], lambda s: seen.add((*s.n, s.m)))
    assert result.coarse is None
    assert {(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 1), (1, 0, 2), (1, 1, 2), (0, 1, 2)} <= seen


def test_what_does_not_change_is_no_matter_to_who_takes_from_it():
    def fill(s):
        s.log.extend(s.items)
        s.log.sort()

    result = exhaust(box(), [fill, fill], lambda s: s.log == s.items * 2)
    assert (result.verdict, result.coarse) == ("holds", None)


class Lists:
    def __init__(self):
        self.a, self.b, self.c = [1], [2], [3]


def test_a_list_that_is_extended_by_another_is_one_step_on_both():
    def extend_a_by_b(s):
        s.a.extend(s.b)

    def extend_b_by_c(s):
        s.b.extend(s.c)

    def append_to_c(s):
        s.c.append(9)

    def ends(*workers):
        seen = set()
        result = exhaust(Lists, list(workers), lambda s: (seen.add((*s.a, 0, *s.b, 0, *s.c)), True)[1])
        assert (result.verdict, result.coarse) == ("holds", None)
        assert result.executions == len(seen)
        return len(seen)

    # Who reads a list conflicts with who changes it, and with nobody else.
    assert ends(extend_a_by_b, append_to_c) == 1
    assert ends(extend_a_by_b, extend_b_by_c) == 2
    assert ends(extend_b_by_c, append_to_c) == 2
    assert ends(extend_a_by_b, extend_b_by_c, append_to_c) == 4


def test_two_lists_that_extend_each_other_never_see_half_of_it():
    seen = set()

    def forth(s):
        s.a.extend(s.b)

    def back(s):
        s.b.extend(s.a)

    result = exhaust(Lists, [forth, back], lambda s: (seen.add((tuple(s.a), tuple(s.b))), True)[1])
    assert (result.verdict, result.executions, result.coarse) == ("holds", 2, None)
    assert seen == {((1, 2), (2, 1, 2)), ((1, 2, 1), (2, 1))}
