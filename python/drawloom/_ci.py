"""What CI is told of a run of pytest: SARIF, annotations and a step summary on GitHub. JUnit's XML is pytest's own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from . import _drawloom
from ._result import Result


def add_options(group: Any) -> None:
    group.addoption("--drawloom-sarif", default=None, metavar="FILE", help="write findings as SARIF 2.1.0")
    group.addoption(
        "--drawloom-github",
        default="auto",
        choices=["auto", "always", "never"],
        help="annotations and a step summary for GitHub (auto: if GITHUB_ACTIONS is true)",
    )


def note(item: pytest.Item, report: pytest.TestReport, results: list[Result], pages: dict[str, str]) -> None:
    """Leaves with the report of a test what CI is told of it: xdist sends that to the process that reads it."""
    if not results:
        return
    found = [finding for result in results if result.verdict == "fails" for finding in result.findings]
    root = str(item.config.rootpath)
    if not report.failed:
        found = []
    problems = [json.loads(_drawloom.problem(f.record, root, pages.get(f.record))) for f in found]
    status = "failed" if report.failed else "ignored" if report.skipped else "passed"
    case = {
        "name": item.nodeid,
        "group": "pytest",
        "status": status,
        "milliseconds": round(report.duration * 1000),
        "note": "; ".join(result.reason for result in results),
        "problems": problems,
        "output": report.longreprtext if report.failed and not problems else None,
    }
    report.drawloom = json.dumps(case)  # type: ignore[attr-defined]
    for finding in found:
        # They stand in the XML of JUnit, which takes them from what is known when the test is torn down.
        item.user_properties.append(("drawloom.kind", finding.kind))
        item.user_properties.append(("drawloom.replay", finding.token))


class Collected:
    """The tests of a run, in the process that speaks with the user."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.cases: list[Any] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        case = getattr(report, "drawloom", None)
        if case is not None:
            self.cases.append(json.loads(case))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        cases = json.dumps(self.cases)
        file = self.config.getoption("drawloom_sarif")
        if file is not None:
            Path(file).write_text(_drawloom.for_ci("sarif", cases), encoding="utf-8")
        when = self.config.getoption("drawloom_github")
        if when == "never" or (when == "auto" and os.environ.get("GITHUB_ACTIONS") != "true"):
            return
        terminalreporter.ensure_newline()
        for line in _drawloom.for_ci("annotations", cases).splitlines():
            terminalreporter.write_line(line)
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary and self.cases:
            with open(summary, "a", encoding="utf-8") as file:
                file.write(_drawloom.for_ci("summary", cases))
