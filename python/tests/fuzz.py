"""Random programs: an exhaustive exploration must find what every schedule of them comes to, no more and no less.

`python tests/fuzz.py 2000` compares 2,000 programs with the oracle (`fuzz_oracle.py`): the outcomes, one execution for
each Mazurkiewicz trace, and the same with the workers reversed. `python tests/fuzz.py 2000 0 15` explores each of them
15 times more, with the interpreter switching threads all the time, and expects the very same.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import drawloom
from fuzz_oracle import Oracle, TooLarge
from fuzz_programs import Program, random_program


def explored(program: Program, backwards: bool = False) -> tuple[list[Any], set[str], int, list[str]]:
    """The outcomes in their order, the kinds of what was found, the number of executions, and the tokens."""
    outcomes: list[Any] = []
    workers = program.workers()
    result = drawloom.explore(
        program.setup,
        workers[::-1] if backwards else workers,
        lambda s: outcomes.append(program.seen(s)),
        strategy="exhaustive", shrink=False, fixes=0, max_schedules=1_000_000,
    )
    assert result.exhausted, result.reason
    assert result.coarse is None, result.coarse
    kinds = {finding.kind for finding in result.findings}
    assert kinds <= {"deadlock", "starvation"}, result.explanation
    kinds = {"stuck"} if kinds else set()
    return outcomes, kinds, result.executions, [finding.token for finding in result.findings]


@contextlib.contextmanager
def switching_all_the_time() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


# Programs with more traces are drawn anew.
MOST_TRACES = 300


def drawn(seed: int) -> tuple[Program, set[Any], int]:
    """A program that is worth it, its outcomes, and the number of its traces."""
    for attempt in itertools.count():
        program = random_program(f"{seed} {attempt}")
        with contextlib.suppress(TooLarge):
            outcomes, traces = Oracle(program).explore()
            if 1 < traces <= MOST_TRACES:
                return program, outcomes, traces
    raise AssertionError


def shown(seed: int, program: Program) -> str:
    told = f"seed {seed}, {program.full_dict=}, {program.queue_size=}, {program.looks_at_order=}"
    return "\n".join([told, *program.sources])


def compare(seed: int, repetitions: int = 0) -> int:
    """Compares one program; the number of its traces."""
    program, expected, traces = drawn(seed)
    return held_against(program, expected, traces, shown(seed, program), repetitions)


def held_against(program: Program, expected: set[Any], traces: int, shown: str, repetitions: int = 0) -> int:
    """Explores a program in both orders, and expects certain outcomes and as many executions as there are traces."""
    first = None
    for backwards in (False, True):
        outcomes, kinds, executions, tokens = explored(program, backwards)
        found = set(outcomes) | kinds
        assert found == expected, f"{backwards=}: missed {expected - found}, impossible {found - expected}\n{shown}"
        assert executions == traces, f"{backwards=}: {executions} executions, {traces} traces\n{shown}"
        # What is gathered before the exploration begins anew is not of its executions.
        first = first or (outcomes[-(executions):], kinds, executions, tokens)
    with switching_all_the_time():
        for _ in range(repetitions):
            outcomes, kinds, executions, tokens = explored(program)
            assert (outcomes[-executions:], kinds, executions, tokens) == first, f"another result\n{shown}"
    return traces


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    repetitions = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    total = sum(compare(seed, repetitions) for seed in range(first, first + count))
    told = f", the same in {repetitions} runs with a switch interval of 1e-6" if repetitions else ""
    print(
        f"{count} programs, {total} traces: all outcomes found, none impossible, one execution for each trace, "
        f"the same with workers reversed{told}"
    )


if __name__ == "__main__":
    main()
