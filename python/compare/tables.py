"""Runs every program with both tools, each in a process of its own, and prints the tables as Markdown."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import Any

from programs import TABLES, Row

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds that a process may take.
LIMIT = 150


def run(tool: str, table: str, number: int) -> dict[str, Any]:
    """What `measure.py` prints; no matter what becomes of the process."""
    command = [sys.executable, os.path.join(HERE, "measure.py"), tool, table, str(number)]
    if tool == "frontrun":
        command = [os.path.join(os.path.dirname(sys.executable), "frontrun"), *command]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"given": {"verdict": f"no answer in {LIMIT} s"}}
    try:
        return json.loads(ran.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        said = (ran.stderr.strip().splitlines() or ["?"])[-1]
        return {"given": {"verdict": f"ended with {ran.returncode}: {said}"}}


def expected(row: Row) -> str:
    return "fails" if row.fails else "holds"


def judged(row: Row, told: dict[str, Any]) -> str:
    """Whether the verdicts are right, in both orders."""
    verdicts = [told.get(order, {}).get("verdict", "-") for order in ("given", "reversed")]
    if all(verdict == expected(row) for verdict in verdicts):
        return "yes"
    words = ["right" if verdict == expected(row) else verdict for verdict in verdicts]
    said = words[0] if words[0] == words[1] else f"{words[0]}, reversed: {words[1]}"
    is_false_pass = row.fails and "holds" in verdicts
    return f"**{'false pass' if is_false_pass and words[0] == words[1] else said}**"


def executions(told: dict[str, Any]) -> str:
    counts = [str(told.get(order, {}).get("executions", "-")) for order in ("given", "reversed")]
    return counts[0] if counts[0] == counts[1] or counts[1] == "-" else f"{counts[0]} ({counts[1]} reversed)"


def per_execution(told: dict[str, Any]) -> float | None:
    return told.get("given", {}).get("cpu")


def in_ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.3f}"


def ratio(theirs: float | None, ours: float | None) -> str:
    return "-" if not theirs or not ours else f"{theirs / ours:.0f}x"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def both(name: str, number: int, row: Row) -> tuple[dict[str, Any], dict[str, Any]]:
    progress(f"{name}: {row.name}")
    return run("drawloom", name, number), run("frontrun", name, number)


def counted() -> tuple[str, bool]:
    """All behaviours: executions beside traces, verdicts, CPU time."""
    rows, good = [], True
    for number, row in enumerate(TABLES["counted"]):
        ours, theirs = both("counted", number, row)
        traces = "-" if row.traces is None else str(row.traces)
        exact = row.traces is None or executions(ours) == traces
        good = good and exact and judged(row, ours) == "yes"
        rows.append([row.name, traces, executions(ours), executions(theirs), judged(row, ours), judged(row, theirs),
                     in_ms(per_execution(ours)), in_ms(per_execution(theirs)), ratio(per_execution(theirs), per_execution(ours))])
    head = ["program", "traces", "executions: ours", "Frontrun's", "verdict right: ours", "Frontrun's", "CPU ms per execution: ours",
            "Frontrun's", "ratio"]
    return table(head, rows), good


def trusted() -> tuple[str, bool]:
    """Verdicts with shipped defaults, in both orders of the workers."""
    rows, good = [], True
    for number, row in enumerate(TABLES["trusted"]):
        ours, theirs = both("trusted", number, row)
        good = good and judged(row, ours) == "yes"
        rows.append([row.name, expected(row), judged(row, ours), judged(row, theirs)])
    return table(["program", "in truth", "verdict right: ours", "Frontrun's"], rows), good


def sampled() -> str:
    """Random schedules: attempts per second."""
    rows = []
    for number, row in enumerate(TABLES["sampled"]):
        ours, theirs = both("sampled", number, row)
        wall = [told.get("given", {}).get("wall") for told in (ours, theirs)]
        rate = ["-" if not w else f"{1 / w:,.0f}" for w in wall]
        rows.append([row.name, *rate, ratio(wall[1], wall[0]), in_ms(per_execution(ours)), in_ms(per_execution(theirs)),
                     ratio(per_execution(theirs), per_execution(ours))])
    head = ["program", "attempts per second: ours", "Frontrun's", "ratio", "CPU ms per attempt: ours", "Frontrun's", "ratio"]
    return table(head, rows)


def main() -> None:
    print(f"## CPython {platform.python_version()}\n")
    counts, exact = counted()
    print(f"### All behaviours\n\n{counts}\n")
    verdicts, right = trusted()
    print(f"### Verdicts with shipped defaults, workers in both orders\n\n{verdicts}\n")
    print(f"### Random schedules\n\n{sampled()}\n", flush=True)
    if not (exact and right):
        progress("an execution count is not that of the traces, or a verdict of ours is wrong")
        sys.exit(1)


if __name__ == "__main__":
    main()
