"""An iterator that is handed to a function is nobody else's, unless somebody else has it: up to CPython 3.10 the caller keeps
a reference to each argument till the function has returned, and does nothing with it."""

import ast
import asyncio
import contextlib
import ctypes
import difflib
import dis
import inspect
import sys
import threading

import pytest
from common import Box, exhaust

from drawloom import _code


def all_of(items):
    return sorted(items)


def by_loop(items):
    found = []
    for item in items:
        found.append(item)
    return found


class Listed:
    def __init__(self):
        self.kept = self.all_of

    def all_of(self, items):
        return sorted(items)

    @classmethod
    def of_class(cls, items):
        return sorted(items)

    @staticmethod
    def of_none(items):
        return sorted(items)


def defaults(items, *, reverse=False):
    return sorted(items, reverse=reverse)


FORMS = {
    "function": lambda s, make: all_of(make(s)),
    "loop": lambda s, make: by_loop(make(s)),
    "method": lambda s, make: s.listed.all_of(make(s)),
    "bound": lambda s, make: s.listed.kept(make(s)),
    "class": lambda s, make: Listed.of_class(make(s)),
    "static": lambda s, make: s.listed.of_none(make(s)),
    "by_name": lambda s, make: defaults(items=make(s), reverse=False),
    "nested": lambda s, make: (1, [2, s.listed.kept(make(s))])[1][1],
    "handled": lambda s, make: handled(s, make),
    "comprehension": lambda s, make: [item for item in make(s)],
}


def handled(s, make):
    try:
        raise KeyError
    except KeyError:
        with contextlib.nullcontext():
            for _ in range(1):
                return all_of(make(s))


both = pytest.mark.parametrize("order", [1, -1])
forms = pytest.mark.parametrize("form", FORMS)


def setup():
    return Box(listed=Listed(), items={1: 1, 2: 2}, shared=iter([1, 2]), got=[], seen=None)


@both
@forms
def test_an_iterator_that_is_passed_on_is_no_object_of_others(form, order):
    def reads(s):
        s.seen = FORMS[form](s, lambda s: iter(s.items.values()))

    def writes(s):
        s.items[1] = 3

    result = exhaust(setup, [reads, writes][::order], lambda s: sorted(s.seen) == [1, 2], keep_going=True)
    assert (result.verdict, result.coarse) == ("fails", None), result.coarse
    # Before all, after all, or before each of the three times that a loop asks for an item.
    assert result.executions <= 5


@both
@forms
def test_an_iterator_that_others_have_is_theirs_as_well(form, order):
    """Whoever comes second finds it further on."""

    def first(s):
        s.got.append(FORMS[form](s, lambda s: s.shared))

    def second(s):
        s.seen = FORMS[form](s, lambda s: s.shared)

    workers = [first, second][::order]
    for invariant in (lambda s: s.got[0] == [1, 2], lambda s: s.seen == [1, 2]):
        assert exhaust(setup, workers, invariant).verdict == "fails"


@forms
def test_an_iterator_that_was_lent_is_not_ones_own(form):
    """No object but two frames has it."""

    def borrows(s, items):
        s.seen = FORMS[form](s, lambda _: items)

    def lends(s):
        items = iter([1, 2])
        other = threading.Thread(target=borrows, args=(s, items))
        other.start()
        s.got.append(FORMS[form](s, lambda _: items))
        other.join()

    for invariant in (lambda s: s.got[0] == [1, 2], lambda s: s.seen == [1, 2]):
        assert exhaust(setup, [lends], invariant).verdict == "fails"


async def awaits(source):
    class Context:
        async def __aenter__(self):
            await asyncio.sleep(0)

        async def __aexit__(self, *exception):
            await asyncio.sleep(0)
            return exception[0] is ValueError

    async def numbers(n):
        for i in range(n):
            try:
                yield i
            finally:
                await asyncio.sleep(0)

    def delegates():
        try:
            yield from iter("ab")
        finally:
            yield from [1, 2]

    async with Context(), Context():
        found = [n async for n in numbers(3) if n] + [n for n in delegates()]
        async for _ in numbers(2):
            for a, *b in ([1, 2, 3], found):
                if len(b) > 3:
                    raise ValueError(b)
    match {"a": [found, source[:10]]}:
        case {"a": [[*first], str(text)]} if text:
            return first, text, {k: v for k, v in zip("ab", first)}


SOURCE = inspect.getsource(contextlib)
WORK = {
    "coroutines": lambda: asyncio.run(awaits(SOURCE)),
    "a library": lambda: ast.unparse(ast.parse(SOURCE)),
    "generators": lambda: list(difflib.unified_diff(SOURCE.split("\n")[:150], SOURCE.split("\n")[20:180])),
    "descriptions": lambda: [str(inspect.signature(f)) for f in vars(inspect).values() if inspect.isfunction(f)],
}


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="frames tell how many operands they have, or are asked at no other time")
@pytest.mark.parametrize("work", WORK)
def test_as_many_operands_lie_on_the_stack_as_are_worked_out(work):
    """At every instruction of code that is traced the interpreter tells."""
    worked_out, wrong, compared = {}, set(), set()
    at = 80  # bytes into a frame of 3.10

    def trace(frame, event, _argument):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            code = frame.f_code
            if code not in worked_out:
                worked_out[code] = _code.stack_depths(code, list(dis.get_instructions(code)))
            depth = ctypes.c_int.from_address(id(frame) + at).value
            compared.add((code, frame.f_lasti))
            if worked_out[code].get(frame.f_lasti) != depth:
                wrong.add((code.co_name, frame.f_lasti, depth))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        WORK[work]()
    finally:
        sys.settrace(before)
    assert len(compared) > 300 and not wrong
