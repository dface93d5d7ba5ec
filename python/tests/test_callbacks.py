"""What the interpreter does in several parts, since it calls Python code in between: others may run then."""

import functools
import heapq
import itertools

import pytest
from common import Box, exhaust


def same(x, *_):
    return x


class Count:
    """An iterator in Python."""

    def __init__(self, n):
        self.left = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


class Number:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n

    def __hash__(self):
        return self.n


def box():
    return Box(items=[3, 1, 2], n=None, seen=None)


def changes_both(s):
    s.items[0] = 10
    s.items[2] = 20


def takes_the_size(s):
    s.n = len(s.items)


def seen_by(look, changes=changes_both, setup=box):
    seen = []
    result = exhaust(setup, [look, changes], lambda s: seen.append(s.seen))
    assert result.verdict == "holds", result.explanation
    return seen


@pytest.mark.parametrize("goes_through", [
    lambda items: list(map(same, items)),
    lambda items: list(filter(lambda _: True, items)),
    lambda items: list(itertools.starmap(same, zip(items, "abc"))),
    lambda items: [x for x in map(same, items)],
    lambda items: [x for x in map(max, items, (0, 0, 0))],
    lambda items: [x for x, _ in zip(items, "abc")],
    lambda items: [x for _, x in enumerate(items)],
    lambda items: list(itertools.chain(map(same, items))),
    lambda items: functools.reduce(lambda seen, x: [*seen, x], items, []),
])
def test_items_that_change_while_they_are_gone_through(goes_through):
    """Who has seen the first before it was changed may see the last after that, though it was changed later."""

    def look(s):
        s.seen = goes_through(s.items)

    assert [3, 1, 20] in seen_by(look)


@pytest.mark.parametrize("goes_through", [
    lambda items: list(items),
    lambda items: list(map(str, items)),
    lambda items: list(zip(items, "abc")),
    lambda items: sorted(items, key=same),
])
def test_items_that_are_gone_through_at_once(goes_through):
    def look(s):
        s.seen = goes_through(s.items)

    firsts = [goes_through(items) for items in ([3, 1, 2], [10, 1, 2], [10, 1, 20])]
    assert all(seen in firsts for seen in seen_by(look))


@pytest.mark.parametrize("change, sizes", [
    (lambda items: items.sort(key=same), {0, 3}),
    (lambda items: items.sort(), {3}),
    (lambda items: items.extend(Count(2)), {3, 4, 5}),
    (lambda items: items.extend(x for x in (1, 2)), {3, 4, 5}),
    (lambda items: items.extend([1, 2]), {3, 5}),
    (lambda items: items.__iadd__(Count(2)), {3, 4, 5}),
])
def test_a_list_is_seen_while_it_changes(change, sizes):
    """While a list is sorted by what Python code says of its items it is empty."""
    seen = set()
    exhaust(box, [lambda s: change(s.items), takes_the_size], lambda s: seen.add(s.n))
    assert seen == sizes


def test_a_list_that_changes_while_it_is_sorted():
    result = exhaust(box, [lambda s: s.items.sort(key=same), lambda s: s.items.append(0)])
    assert result.verdict == "fails" and "list modified during sort" in result.explanation


def test_items_that_compare_themselves():
    """It was there all the time, and not where who looks for it was just then."""

    def setup():
        return Box(items=[Number(0), Number(1)], there=None)

    def looks(s):
        s.there = Number(1) in s.items

    def swaps(s):
        s.items[:] = s.items[::-1]

    seen = set()
    exhaust(setup, [looks, swaps], lambda s: seen.add(s.there))
    assert seen == {True, False}


def test_a_heap_of_items_that_compare_themselves():
    """`heapq` is no safer than its items."""

    def setup():
        return Box(heap=[Number(1), Number(2)])

    def pushes(s):
        heapq.heappush(s.heap, Number(0))

    def pops(s):
        heapq.heappop(s.heap)

    def is_heap(s):
        return all(not s.heap[i] < s.heap[(i - 1) // 2] for i in range(1, len(s.heap)))

    assert exhaust(setup, [pushes, pops], is_heap).verdict == "fails"


def test_what_is_under_a_lock_is_whole():
    import threading

    def setup():
        return Box(items=[3, 1, 2], lock=threading.Lock(), n=None)

    def sorts(s):
        with s.lock:
            s.items.sort(key=same)

    def looks(s):
        with s.lock:
            s.n = len(s.items)

    result = exhaust(setup, [sorts, looks], lambda s: s.n == 3)
    assert (result.verdict, result.executions) == ("holds", 2)


def test_what_has_raised_is_not_gone_on_with():
    """The memory of a frame that an exception has left is the next one's, and that may be of code that is not watched."""
    watched_by_nobody = {}
    exec(compile("def calls(what, arg): return what(arg)", "<frozen posixpath>", "exec"), watched_by_nobody)

    def raises(items, _):
        items.extend(1)

    def looks(s, then):
        try:
            raises(s.items, None)
        except TypeError:
            then(same, s)

    def executions(then):
        return exhaust(box, [lambda s: looks(s, then), lambda s: s.items.append(4)]).executions

    assert executions(watched_by_nobody["calls"]) == executions(lambda what, arg: what(arg)) == 2


def test_a_frame_that_was_left_is_not_the_next_one_of_its_function():
    """What it touched when an exception left it is not touched again, whoever calls the function and gets its memory."""

    class Negated:
        def __neg__(self):
            return 0

    def negates(items, what):
        -what
        items.extend(what)

    def negates_besides(items, what):
        -what
        items.extend(what)

    def looks(s, then):
        for function, items, what in ((negates, s.items, 1), (then, [], Negated())):
            try:
                function(items, what)
            except TypeError:
                pass

    def steps(then):
        result = exhaust(box, [lambda s: looks(s, then), lambda s: s.items.append(4)])
        return result.executions, result.steps

    assert steps(negates) == steps(negates_besides) == (2, 20)
