"""Measures one tool on one program, in this process: `measure.py TOOL TABLE ROW`. Prints what came of it as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from programs import COUNTED, TABLES, Row

# So much CPU time is measured at least, in seconds.
LEAST = 0.3
ATTEMPTS = 200


def ours(row: Row, table: str, workers: list[Any]) -> tuple[int, str]:
    """Executions, and the verdict."""
    import drawloom

    options: dict[str, Any] = {"shrink": False, "fixes": 0}
    if table == "counted":
        options["strategy"] = "exhaustive"
    if table == "sampled":
        result = drawloom.explore(row.setup, workers, None, strategy="random", executions=ATTEMPTS, **options)
        return result.executions, "not asked"
    result = drawloom.explore(row.setup, workers, row.invariant, **options)
    return result.executions, result.verdict


def frontruns(row: Row, table: str, workers: list[Any]) -> tuple[int, str]:
    import frontrun

    if table == "sampled":
        result = frontrun.explore_random(row.setup, workers, lambda _: True, max_attempts=ATTEMPTS, detect_io=False,
                                         reproduce_on_failure=0)
        return result.num_explored, "not asked"
    options: dict[str, Any] = {}
    if table == "counted":
        options = {"preemption_bound": None, "stop_on_first": False, "reproduce_on_failure": 0,
                   "detect_io": row.uses_files, "total_timeout": 60.0}
    result = frontrun.explore(row.setup, workers, row.invariant, **options)
    verdict = {True: "holds", False: "fails", None: "inconclusive"}[result.property_holds]
    return result.num_explored, verdict


TOOLS: dict[str, Callable[[Row, str, list[Any]], tuple[int, str]]] = {"drawloom": ours, "frontrun": frontruns}


def measured(tool: str, table: str, row: Row) -> dict[str, Any]:
    explore = TOOLS[tool]
    explore(COUNTED[0], table, COUNTED[0].workers)  # what is done once in a process
    told: dict[str, Any] = {}
    for order, workers in (("given", row.workers), ("reversed", row.workers[::-1])):
        try:
            began = time.process_time(), time.perf_counter()
            executions, verdict = explore(row, table, workers)
            total, spent, elapsed = executions, time.process_time() - began[0], time.perf_counter() - began[1]
            while order == "given" and table != "trusted" and spent < LEAST:
                total += explore(row, table, workers)[0]
                spent, elapsed = time.process_time() - began[0], time.perf_counter() - began[1]
        except Exception as exception:  # whatever it is, it is what the tool came to
            told[order] = {"verdict": f"raises {type(exception).__name__}"}
            continue
        told[order] = {"executions": executions, "verdict": verdict, "cpu": spent / max(1, total), "wall": elapsed / max(1, total)}
        if table == "sampled":
            break
    return told


if __name__ == "__main__":
    tool, table, number = sys.argv[1:]
    print(json.dumps(measured(tool, table, TABLES[table][int(number)])))
