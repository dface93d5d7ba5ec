"""Holds the table of functions that are not written in Python against what these functions do: `effects.py [part of a name]`.

It says how many functions, calls, reads and writes there were, and what was read or written without being announced. A part of
a second for each function and some minutes for all of them with `--limit 60`, which makes so many calls for each number of
arguments; hours without.
"""

import argparse
import collections
import faulthandler
import functools
import sys
import time
import warnings

import effects_functions as functions
import effects_shapes as shapes
from effects_oracle import Call, Oracle, form, instruction

# Seconds. A single function takes a few of them; one that takes so much longer hangs, and ends the command with its stack.
LIMIT = 900


@functools.cache
def arguments(arity, of=None):
    """The shapes that something of so many arguments is called with; `of` is the type of the first one."""
    every, flat = shapes.all_shapes(), shapes.one_deep()
    few = {**shapes.leaves(), **shapes.callables(), **shapes.formats(), **shapes.types_of()}
    seconds = {**few, **{name: flat[name] for name in ("[0]", "{'x': 0, 'y': 1}", "bytearray(b'0')", "Attributed", "iter([0, 1])")}}
    firsts = {name: shape for name, shape in every.items() if of is None or is_one(shape, of)}
    if arity == 0:
        return [()]
    if arity == 1:
        return [(first,) for first in firsts.items()] + ([(each,) for each in few.items()] if of is None else [])
    if arity == 2:
        # Equal ones, so that those who compare go on within them; and one that lies within the other.
        found = [(first, first) for first in firsts.items()]
        found += [(around, (name, shape)) for name, shape in every.items() for around in within(name, shape, of)]
        if of is None:
            found += [(first, second) for first in few.items() for second in every.items()]
        else:
            small = [first for first in firsts.items() if first[0] in {**flat, **few}][:4]
            found += [(first, second) for first in small for second in every.items()]
        return found + [(first, second) for first in firsts.items() for second in seconds.items()]
    thirds = [(name, every[name]) for name in ("0", "1", "'a'", "b'1'", "None", "[0]", "[1, 0]", "bytearray(b'0')", "{0: 0}", "Attributed", "[[]]",
                                               "([0],)", "{'x': [0]}", "[bytearray(b'0')]", "iter([0, 1])", "memoryview(bytearray)")]
    small = [first for first in firsts.items() if first[0] in flat or first[0] in few][:12]
    if of is None:
        small = thirds + [(name, few[name]) for name in ("len", "str", "'x'", "'a'")]
    middle = thirds + [(name, few[name]) for name in ("len", "'x'", "list")]
    return [(first, second, third) for first in small for second in middle for third in thirds]


def within(name, shape, of):
    for around, make in shapes.outer().items():
        if around in ("[{}]", "({},)", "deque({})", "{{'x': {}}}", "OwnList({})", "values of {}"):
            def outer(build, make=make):
                return make(build, shape(build))

            if of is None or is_one(outer, of):
                yield around.format(name), outer


def is_one(shape, kind):
    try:
        return isinstance(shape(shapes.Build()), kind)
    except TypeError:
        return False


def says_how_many(call):
    """Whether a call is refused for how many arguments it has."""
    try:
        call()
    except TypeError as error:
        told = str(error)
        return "argument" in told and any(part in told for part in ("takes", "expected", "at least", "at most", "exactly", "must have"))
    except BaseException:
        return False
    return False


def some(every, limit, seed):
    """So many of a list, evenly spread; others for another seed."""
    if not limit or len(every) <= limit:
        return every
    step = len(every) / limit
    return [every[int(i * step + seed * 7919 % step) % len(every)] for i in range(limit)]


def calls_of(name, function, kind, limit, seed):
    """All calls of a function, or about so many for each number of arguments."""
    for arity in range(0 if kind is None else 1, 4):
        chosen = some(arguments(arity, kind), limit, seed)
        plain = form(arity)
        if chosen and says_how_many(lambda: plain(function, *(shape(shapes.Build()) for _, shape in chosen[0]))):
            continue
        for given in chosen:
            yield Call(name, function, plain, given), arity
        if arity == 1:
            for given in chosen:
                yield Call(f"{name} of a list", function, form(1, "in a list"), given), arity
                yield Call(f"{name} of *", function, form(1, "spread"), given), arity
        if kind is not None and arity in (1, 2):
            method = name.rsplit(".", 1)[-1]
            for given in chosen:
                yield Call(f"{name} as a method", function, form(arity, "method", method), given), arity


def check_function(oracle, name, function, kind, limit, seed):
    for call, arity in calls_of(name, function, kind, limit, seed):
        if oracle.check(call) and call.form is form(arity):
            for how in ("drained", "next"):
                oracle.check(Call(f"{name}, {how}", function, form(arity, how), call.shapes))


def check_instruction(oracle, arity, source, limit, seed):
    for given in some(arguments(arity), limit, seed):
        oracle.check(Call(source.replace("\n", "; "), None, instruction(arity, source), given))


def run(part="", limit=0, said=lambda line: None, step=1, began=lambda name: None):
    """Runs the oracle, over every `step`th function; returns it, how many these are, and which are coarse and left out."""
    warnings.simplefilter("ignore")
    oracle = Oracle()
    known, coarse, left = functions.tabled()
    jobs = [(name, lambda seed, f=function, n=name, k=kind: check_function(oracle, n, f, k, limit, seed)) for name, function, kind, _ in known]
    jobs += [(source, lambda seed, a=arity, s=source: check_instruction(oracle, a, s, limit, seed)) for arity, source in functions.INSTRUCTIONS]
    count = 0
    for number, (name, job) in enumerate(jobs):
        began(name)
        if part in name and not number % step:
            count += 1
            before, start = len(oracle.misses), time.monotonic()
            job(number)
            oracle.ask()
            if len(oracle.misses) > before or time.monotonic() - start > 5:
                said(f"{name!r}: {len(oracle.misses) - before} in {time.monotonic() - start:.1f} s")
    return oracle, (count, coarse, left)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--limit", type=int, default=0, help="about so many calls for each number of arguments")
    parser.add_argument("--show", type=int, default=3, help="how many of each function's are shown")
    parser.add_argument("--coarse", action="store_true", help="name the functions of which nothing is known")
    given = parser.parse_args()
    oracle, (count, coarse, left) = run(
        given.part, given.limit, lambda line: print(line, file=sys.stderr, flush=True),
        began=lambda name: faulthandler.dump_traceback_later(LIMIT, exit=True))
    faulthandler.cancel_dump_traceback_later()
    shown = collections.Counter()
    for miss in oracle.misses:
        shown[miss.call.name] += 1
        if shown[miss.call.name] <= given.show:
            print(miss)
    if given.coarse:
        print(*coarse, sep="\n")
    print(f"CPython {sys.version.split()[0]}: {count} functions and instructions, {oracle.calls} calls of {len(shapes.all_shapes())} shapes, "
          f"{oracle.reads} reads, {oracle.writes} writes, {oracle.uncertain} calls without a certain result; "
          f"{len(coarse)} functions are coarse, {len(left)} left out; {len(oracle.misses)} not announced, of {len(shown)} functions")
    sys.exit(bool(oracle.misses))


if __name__ == "__main__":
    main()
