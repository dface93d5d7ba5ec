"""Random programs in other forms, which come to the same: whatever is found of the one must be found of the other.

`long`: the programs of `fuzz.py` with functions that are long. Their loops and branches go over more than 300 code units,
and more than 255 names, constants, variables and cells come before those that matter, so that instructions have long
arguments. The outcomes and the executions are those of the short form.

`yields`: the same programs with `time.sleep(0)` anywhere. Their outcomes are those without.

`pauses`: the programs of `async_oracle.py` and `trio_oracle.py` with more pauses (`asyncio.sleep(0)`, checkpoints): what
was possible is, and what is possible besides is what the oracle says.

    python tests/fuzz_forms.py long 500          # so many programs
    python tests/fuzz_forms.py yields 500 2000   # from this seed on
"""

from __future__ import annotations

import dataclasses
import random
import sys
from typing import Any

import async_oracle
import fuzz
from fuzz_programs import Program

# More than there is room for in one byte.
MANY = 300


def padding(rng: random.Random, indent: str, what: str) -> list[str]:
    """Code that is never run, and needs many names, constants, variables or cells."""
    start = rng.randrange(10_000, 20_000)
    each = {
        "names": "    s.name{0}.of_module{0}()",
        "constants": "    got = {0}",
        "variables": "    local{0} = got",
        "globals": "    got = global{0}",
    }
    if what == "cells":
        names = [f"cell{i}" for i in range(start, start + MANY)]
        told = ", ".join(names)
        return [f"{indent}if got is None:", f"{indent}    {' = '.join(names)} = got",
                f"{indent}    def inner(): return {told}"]
    return [f"{indent}if got is None:", *(indent + each[what].format(i) for i in range(start, start + MANY))]


def long_form(source: str, rng: random.Random) -> str:
    """The same function, with what is never run in between, within a loop that is gone through once, or a branch."""
    head, first, *body = source.split("\n")
    kinds = ["names", "constants", "variables", "globals", "cells"]
    lines = [head, first]
    for what in rng.sample(kinds, rng.randint(1, 3)):
        lines += padding(rng, "    ", what)
    *body, last = body
    around = rng.choice(["for", "while", "if", "try", ""])
    indent = "        " if around else "    "
    lines += {
        "for": ["    for _once in (0,):"],
        "while": ["    once = True", "    while once is True:", "        once = False"],
        "if": ["    if got is not None:"],
        "try": ["    try:"],
        "": [],
    }[around]
    lines += [indent[4:] + line for line in body]
    lines += padding(rng, indent, rng.choice(kinds))
    if around == "try":
        lines += ["    finally:", *padding(rng, indent, "constants")]
    return "\n".join([*lines, last])


def with_yields(source: str, rng: random.Random) -> str:
    """The same function, which lets others run here and there: it does nothing by that."""
    lines = []
    for number, line in enumerate(source.split("\n")):
        text = line.lstrip()
        if number > 1 and not text.startswith(("except", "finally", "else")):
            lines += [line[: -len(text)] + "time.sleep(0)"] * rng.choice((0, 0, 0, 1, 1, 2))
        lines.append(line)
    return "\n".join(lines)


def in_form(program: Program, rewritten: Any, seed: int) -> Program:
    rng = random.Random(f"form {seed}")
    return dataclasses.replace(program, sources=[rewritten(source, rng) for source in program.sources])


def compare_long(seed: int) -> int:
    program, expected, traces = fuzz.drawn(seed)
    program = in_form(program, long_form, seed)
    return fuzz.held_against(program, expected, traces, f"seed {seed}, in its long form")


def compare_yields(seed: int) -> int:
    program, expected, _ = fuzz.drawn(seed)
    program = in_form(program, with_yields, seed)
    total = 0
    for backwards in (False, True):
        outcomes, kinds, executions, _ = fuzz.explored(program, backwards)
        found, told = set(outcomes) | kinds, fuzz.shown(seed, program)
        assert found == expected, f"{backwards=}: missed {expected - found}, impossible {found - expected}\n{told}"
        total += executions
    return total


def with_pauses(program: list[Any], rng: random.Random) -> list[Any]:
    def paused(code: list[Any]) -> list[Any]:
        return [step for each in code for step in [*[("pause",)] * rng.choice((0, 0, 0, 1)), each]]

    return [paused(code) for code in program]


def compare_pauses(seed: int) -> int:
    import trio_oracle

    rng, executions = random.Random(f"form {seed}"), 0
    for oracle, simulated in ((async_oracle, async_oracle.Simulated), (trio_oracle, trio_oracle.Simulated)):
        program = oracle.generate(seed)
        paused = with_pauses(program, rng)
        before = async_oracle.simulated(program, simulated)
        expected = async_oracle.simulated(paused, simulated)
        # Who is cancelled finds that out where it pauses, and then does not do what it did before.
        if not any(step[0] == "cancel" for code in program for step in code):
            assert before <= expected, f"seed {seed}: {before - expected}"
        executions += async_oracle.held_against(seed, paused, expected, oracle.explored)[1].executions
    return executions


COMPARE = {"long": compare_long, "yields": compare_yields, "pauses": compare_pauses}


def main() -> None:
    form, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    total = sum(COMPARE[form](seed) for seed in range(first, first + count))
    print(f"{count} programs in the form `{form}`, {total} executions: no outcome lost, none impossible")


if __name__ == "__main__":
    main()
