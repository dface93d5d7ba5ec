"""What is asked of libraries, and what comes of it."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import drawloom


MOST = 20_000
"""Executions."""


@dataclass(frozen=True)
class Case:
    """Something that a user of a library would take for granted, and whether it is so."""

    claim: str
    setup: Callable[[], Any]
    workers: Sequence[Callable[..., Any]]
    invariant: Callable[[Any], Any] | None = None
    expected: str = "holds"
    options: dict[str, Any] = field(default_factory=dict)


def explore_all(package: str, cases: Sequence[Case]) -> None:
    """Explores each case, says what came of it, and ends with 1 if that is not what is written down."""
    parser = argparse.ArgumentParser(description=f"Explores {package}.")
    parser.add_argument("only", nargs="?", default="", help="part of the claims to be explored")
    parser.add_argument("--reports", action="store_true", help="show the interleavings that were found")
    arguments = parser.parse_args()
    print(f"{package} {importlib.metadata.version(package)}")
    surprises = 0
    for case in cases:
        if arguments.only not in case.claim:
            continue
        began = time.process_time()
        # Who looks for a bug stops when it is found; who looks for a proof wants them all.
        most = {"executions": MOST} if case.expected == "fails" else {"strategy": "exhaustive", "max_schedules": MOST}
        asked = {"shrink": arguments.reports, "fixes": 0, **most, **case.options}
        result = drawloom.explore(case.setup, case.workers, case.invariant, name=f"{package}: {case.claim}", **asked)
        taken = time.process_time() - began
        surprise = result.verdict != case.expected
        surprises += surprise
        print(f"  {case.claim}\n    {_told(result)}, {taken:.1f} s{f'; EXPECTED {case.expected}' if surprise else ''}")
        if arguments.reports and result.findings:
            print(result.explanation)
    sys.exit(1 if surprises else 0)


def _told(result: drawloom.Result) -> str:
    verdict = f"{result.verdict} ({result.reason})" if result.verdict in ("inconclusive", "no_bug_found") else result.verdict
    found = "".join(f": {finding.kind}, {finding.message.splitlines()[0]}" for finding in result.findings[:1])
    coarse = f", coarse: {result.coarse}" if result.coarse else ""
    executions = "1 execution" if result.executions == 1 else f"{result.executions} executions"
    return f"{verdict}{found}; {executions}{coarse}"
