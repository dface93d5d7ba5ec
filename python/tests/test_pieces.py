"""Pieces of coroutines, from await to await: two of them commute unless one writes what the other touches, and every class
of orders is explored once. Brute force over all orders says how many there are."""

import asyncio
import itertools
import random
from types import SimpleNamespace

import drawloom
import pytest

NAMES = "abcdef"

# Each task is a row of pieces, and each piece is what it reads and what it writes.
PROGRAMS = {
    "one thing": ["a>a", "a>a"],
    "a row": ["ab>ab", "bc>bc", "cd>cd"],
    "a circle": ["ab>ab", "bc>bc", "cd>cd", "ad>ad"],
    "one who reads all": ["a>a", "b>b", "abc>", "c>c"],
    "readers of pairs": ["ab>", "bc>", "ac>", ">b"],
    "a transfer and an audit": ["ab>ab", "cd>cd", "abcd>"],
    "two transfers": ["ab>ab", "bc>bc", "ab>ab"],
    "twice each": ["a>a b>b", "b>b a>a"],
    "twice each, and a third": ["a>a b>b", "b>b c>c", "c>c a>a"],
    "a pipeline": [">a a>b", "b>c c>d", "d>"],
    "a cache": ["a>b c>d", "b>c", "d>a"],
    "blind writes": [">ab", ">bc", ">ca"],
    "what nobody shares": ["a>a b>b", "c>c d>d"],
    "the older piece": [">a a>b", "a>"],
}


def pieces_of(program):
    parsed = []
    for task in program:
        pieces = [piece.split(">") for piece in task.split()]
        parsed.append([(set(reads), set(writes)) for reads, writes in pieces])
    return parsed


def conflict(one, other):
    return bool(one[1] & (other[0] | other[1]) or other[1] & one[0])


def classes(program):
    """The number of orders of pieces that differ in the order of two that do not commute."""
    tasks = pieces_of(program)
    flat = [(task, number) for task, pieces in enumerate(tasks) for number in range(len(pieces))]
    pairs = [(x, y) for x, y in itertools.combinations(flat, 2) if x[0] != y[0] and conflict(tasks[x[0]][x[1]], tasks[y[0]][y[1]])]
    seen = set()

    def go(at, done):
        if len(done) == len(flat):
            seen.add(tuple(done[x] < done[y] for x, y in pairs))
            return
        for task, pieces in enumerate(tasks):
            if at[task] < len(pieces):
                go((*at[:task], at[task] + 1, *at[task + 1:]), {**done, (task, at[task]): len(done)})

    go((0,) * len(tasks), {})
    return len(seen)


def workers_of(program):
    workers = []
    for number, pieces in enumerate(pieces_of(program)):
        lines = [f"async def task{number}(s):", "    total = 0"]
        for at, (reads, writes) in enumerate(pieces):
            if at:
                lines.append("    await asyncio.sleep(0)")
            lines += [f"    total += s.{name}" for name in sorted(reads)]
            lines += [f"    s.{name} = 10 * total + {number + 1}" for name in sorted(writes)]
        lines.append(f"    s.seen{number} = total")
        names = {"asyncio": asyncio}
        exec(compile("\n".join(lines), f"<task {number}>", "exec"), names)
        workers.append(names[f"task{number}"])
    return workers


def ends_of(program):
    """All that can come of it, by brute force."""
    tasks = pieces_of(program)
    ends = set()

    def go(at, state, totals):
        if all(here == len(pieces) for here, pieces in zip(at, tasks)):
            ends.add((tuple(sorted(state.items())), totals))
            return
        for task, pieces in enumerate(tasks):
            if at[task] == len(pieces):
                continue
            reads, writes = pieces[at[task]]
            total = totals[task] + sum(state[name] for name in reads)
            after = {**state, **dict.fromkeys(writes, 10 * total + task + 1)}
            go((*at[:task], at[task] + 1, *at[task + 1:]), after, (*totals[:task], total, *totals[task + 1:]))

    go((0,) * len(tasks), dict.fromkeys(NAMES, 0), (0,) * len(tasks))
    return ends


def explored(program):
    ends = set()

    def invariant(s):
        state = tuple((name, getattr(s, name)) for name in NAMES)
        ends.add((state, tuple(getattr(s, f"seen{task}") for task in range(len(program)))))

    setup = lambda: SimpleNamespace(**dict.fromkeys(NAMES, 0))  # noqa: E731
    result = drawloom.explore(setup, workers_of(program), invariant, strategy="exhaustive")
    assert result.verdict == "holds", result.reason
    return result.executions, ends


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_class_is_explored_once(name):
    program = PROGRAMS[name]
    executions, ends = explored(program)
    assert ends == ends_of(program)
    assert executions == classes(program)


def random_program(seed):
    draw = random.Random(seed)
    some = lambda most: "".join(sorted(draw.sample("abcd", draw.randint(0, most))))  # noqa: E731
    return [
        " ".join(f"{some(2)}>{some(2)}" for _ in range(draw.randint(1, 2)))
        for _ in range(draw.randint(2, 3))
    ]


@pytest.mark.parametrize("seeds", [range(at, at + 10) for at in range(0, 40, 10)], ids=str)
def test_every_class_of_random_programs_is_explored_once(seeds):
    for seed in seeds:
        program = random_program(seed)
        executions, ends = explored(program)
        assert ends == ends_of(program), program
        assert executions == classes(program), program


def test_a_report_names_what_is_raced_for_and_nothing_else():
    async def buy(s):
        have = s.stock
        await asyncio.sleep(0)
        s.stock = have - 1
        s.log.append("bought")

    async def audit(s):
        s.log.append("audit")

    setup = lambda: SimpleNamespace(stock=5, log=[])  # noqa: E731
    result = drawloom.explore(setup, [buy, buy, audit], lambda s: s.stock == 3)
    said = result.explanation.split("\n\n")[1]
    assert said.startswith("Lost update") and "`SimpleNamespace.stock`" in said and "list" not in said, said
    again = result.replay().explanation
    assert "Lost update" in again and "SimpleNamespace.stock" in again and "``" not in again, again
