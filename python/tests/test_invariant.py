"""An invariant that does not hold is shown with its source and with the values that it reads."""

import argparse
import asyncio
import collections
import enum

import pytest

import drawloom
from drawloom._invariant import Invariant


class Counter:
    def __init__(self):
        self.n = 0

    def add(self):
        seen = self.n
        self.n = seen + 1

    async def add_later(self):
        seen = self.n
        await a_switch()
        self.n = seen + 1

    def count(self):
        return self.n


async def a_switch():
    await asyncio.sleep(0)


WANTED = 2


def message(invariant, workers=(Counter.add, Counter.add), **options):
    result = drawloom.explore(Counter, list(workers), invariant, name="counting", **options)
    assert [finding.kind for finding in result.findings] == ["invariant"]
    again = drawloom.explore(Counter, list(workers), invariant, name="counting", replay=result.findings[0].token)
    assert again.findings[0].message == result.findings[0].message
    assert result.findings[0].message.replace("AssertionError: ", "").replace("\n", "\n    ") in result.explanation
    return result.findings[0].message.replace("AssertionError: ", "")


def test_a_lambda_and_the_attribute_that_it_reads():
    assert message(lambda c: c.n == 2) == "the invariant does not hold: `c.n == 2`\nc.n is 1"


def test_a_function_with_a_name_of_its_own_and_one_of_the_module():
    def all_are_counted(counter):
        """Nothing is lost."""
        total = counter.n
        return total == WANTED

    assert message(all_are_counted) == "the invariant does not hold: `total == WANTED`\ntotal is 1\nWANTED is 2"


def test_of_several_returns_nobody_knows_which_it_was():
    def invariant(c):
        if c.n != 2:
            return False
        return True

    assert message(invariant) == "the invariant does not hold: `invariant`\nc.n is 1"


def test_a_method_is_not_called_again_and_the_fields_of_the_object_are_told():
    assert message(lambda c: c.count() == 2) == "the invariant does not hold: `c.count() == 2`\nc.n is 1"


def test_of_an_object_of_a_library_no_fields_are_told():
    parser = argparse.ArgumentParser(prog="shop")
    told = Invariant(lambda parser: parser.get_default("stock")).broken(parser)
    assert told == 'the invariant does not hold: `parser.get_default("stock")`'


def test_coroutines_too():
    async def invariant(c):
        return c.n == 2

    workers = (Counter.add_later, Counter.add_later)
    for each in (invariant, lambda c: c.n == 2):
        assert message(each, workers) == "the invariant does not hold: `c.n == 2`\nc.n is 1"


def test_what_differs_only_in_values_is_one_finding():
    result = drawloom.explore(Counter, [Counter.add] * 3, lambda c: c.n == 3, keep_going=True, strategy="exhaustive")
    assert len(result.findings) == 1 and result.failing > 1


class Colour(enum.Enum):
    RED = 1


class Rude:
    """Runs something whenever it is looked at."""

    ran = False

    def __init__(self):
        self.secret = self

    def look(self, *_):
        Rude.ran = True
        raise SystemExit("looked at")

    __getattr__ = __repr__ = __str__ = __len__ = __bool__ = __eq__ = look
    __hash__ = None
    value = property(look)


Pair = collections.namedtuple("Pair", "one two")


READ = [
    (lambda s: s["a"][1] == 3, {"a": [1, 2]}, ['s["a"][1] is 2']),
    (lambda s: len(s) == 1, {"b", "a"}, ["s is {'a', 'b'}"]),
    (lambda s: s, set(), ["s is set()"]),
    (lambda s: s.one is s.two, Pair(Colour.RED, (None,)), ["s.one is Colour.RED", "s.two is (None,)"]),
    (lambda s: sum(s) == 1, list(range(100)), ["s is [0, 1, 2, 3, 4, 5, … 94 more]"]),
    (lambda s: s == "x", "y" * 500, ["s is '" + "y" * 79 + "…"]),
    (lambda s: s == 1, 1 << 100_000, ["s is a number of 100001 bits"]),
    (lambda s: s[1], [object(), [[[[1]]]]], ["s[1] is [[[…]]]"]),
    (lambda s: len(s), [object()], ["s is [<object>]"]),
    (lambda s: s.value.other == 1, Rude(), []),
    (lambda s: s.missing, Rude(), []),
    (lambda s: s.secret == 2, Rude(), []),
    (lambda s: s.secret[0] == s, Rude(), []),
]


def test_values_are_read_without_running_anything():
    for invariant, state, values in READ:
        first, *told = Invariant(invariant).broken(state).split("\n")
        assert first.startswith("the invariant does not hold: `")
        assert told == values and not Rude.ran


def test_what_has_no_source_is_told_plainly():
    made = eval("lambda c: c.n == 2")
    for invariant in (made, collections.OrderedDict, None, Counter().add):
        assert Invariant(invariant).broken(Counter()).startswith("the invariant does not hold")
    assert Invariant(made).broken(Counter()) == "the invariant does not hold"


def test_of_several_lambdas_in_a_line_it_is_the_right_one():
    first, second = (lambda c: c.n == 2), (lambda c: c.count() == 3)
    assert Invariant(first).broken(Counter()).startswith("the invariant does not hold: `c.n == 2`")
    assert Invariant(second).broken(Counter()).startswith("the invariant does not hold: `c.count() == 3`")


def test_a_forgotten_return_is_refused():
    def both_are_counted(c):
        seen = c.n
        seen == 2

    with pytest.raises(ValueError, match=r"`both_are_counted` makes a comparison .* ignores its result: `seen == 2`; put `return` or `assert`"):
        drawloom.explore(Counter, [Counter.add, Counter.add], both_are_counted)


def test_so_is_one_of_a_method_and_of_a_membership():
    class Checks:
        def holds(self, c):
            if c.n:
                c.n in (1, 2)

    with pytest.raises(ValueError, match="`holds` makes a comparison in line"):
        drawloom.explore(Counter, [Counter.add], Checks().holds)


def test_what_says_something_may_also_compare():
    def asserts(c):
        c.n == 2
        assert c.n == 1

    def returns(c):
        c.n == 2
        return c.n == 1

    def between(c):
        assert 0 < c.n < 2

    def asks_another(c):
        asserts(c)

    for invariant in (asserts, returns, between, asks_another, lambda c: 0 < c.n < 2, lambda c: None):
        assert drawloom.explore(Counter, [Counter.add], invariant).verdict == "holds"
