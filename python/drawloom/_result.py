"""The result of an exploration."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from . import _drawloom

Verdict = Literal["holds", "no_bug_found", "fails", "inconclusive"]


@dataclass(frozen=True)
class Finding:
    """A failure, with everything needed to understand and to reproduce it."""

    kind: str
    """`invariant` (it does not hold), `exception`, `deadlock`, `starvation`, `livelock` …"""
    message: str
    token: str = field(repr=False)
    """The schedule: `explore(…, replay=token)` reproduces the finding."""
    schedule: list[str] = field(repr=False)
    """The task of each step, by spawn path: `0` is main, `0.1` the first worker."""
    occurrences: int
    preemptions: int
    record: str = field(repr=False)
    """The whole record of the execution, as JSON."""
    anomaly: str | None = None
    """For database statements: the name of the anomaly, such as `write skew`."""

    @property
    def report(self) -> str:
        """The report as text: the interleaving with source lines."""
        return self.render()

    def render(self, *, width: int = 120, colour: bool = False, page: str | None = None) -> str:
        """The report as text; `page` is the path of its saved page."""
        text = _drawloom.render(self.record, width, colour, page)
        if self.anomaly is None:
            return text
        head, _, rest = text.partition("\n\n")
        # Names of tables and keys come from the program: nothing in them may steer a terminal.
        anomaly = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in self.anomaly)
        return f"{head}\n\nAnomaly: {anomaly}\n\n{rest}"

    def page(self) -> str:
        """The report as an HTML page."""
        return _drawloom.page(self.record)

    def save(self, directory: str | os.PathLike[str], name: str) -> Path:
        """Writes the page to a file named after `name` and the schedule, and the record beside it."""
        plain = re.sub(r"[^\w.-]+", "-", name).strip("-")
        schedule = re.sub(r"\W+", "", self.token.partition("~")[0])[-12:] or self.kind.replace(" ", "-")
        target = Path(directory) / f"{plain}.{schedule}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        for path, text in ((target, self.page()), (target.with_suffix(".json"), self.record)):
            # Another process may write the same: whoever reads finds one of them whole.
            written = path.with_name(f"{path.name}.{os.getpid()}")
            # Somebody may have put a link there: it is replaced, not followed.
            written.unlink(missing_ok=True)
            with written.open("x", encoding="utf-8") as file:
                file.write(text)
            written.replace(path)
        return target


@dataclass(frozen=True)
class Assumption:
    """An assumption that a verdict rests on."""

    kind: str
    """`time`, `weak references`, `module state`, `frameworks` or `C code`."""
    what: str
    """The assumption in words, with the line where it first matters."""

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, repr=False)
class Result:
    """The result of an exploration."""

    verdict: Verdict
    """`holds` only if every behaviour was explored."""
    reason: str
    """How much was explored; for `inconclusive`, why nothing can be claimed."""
    executions: int
    steps: int
    exhausted: bool
    failing: int
    findings: list[Finding]
    coarse: str | None = None
    """Why some accesses count as a conflict with everything, if any do: slower, but still correct."""
    uncontrolled: str | None = None
    """A wait for something outside the exploration, if there was one: the result may differ from run to run."""
    assumptions: list[Assumption] = field(default_factory=list)
    """The assumptions of `holds`: where one of them is wrong, so is the verdict."""
    _replay: Callable[[str], Result] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        found = f", {', '.join(finding.kind for finding in self.findings)}" if self.findings else ""
        exhausted = ", exhausted" if self.exhausted else ""
        executions = "1 execution" if self.executions == 1 else f"{self.executions} executions"
        kinds = ", ".join(assumption.kind for assumption in self.assumptions) if self.verdict == "holds" else ""
        assuming = f", assuming {kinds}" if kinds else ""
        return f"<drawloom.Result {self.verdict}{found}: {executions}{exhausted}{assuming}>"

    @property
    def explanation(self) -> str:
        """The report of the first finding, or else the reason."""
        return self.findings[0].report if self.findings else self.reason

    @property
    def counterexample(self) -> list[str] | None:
        """The task of each step of the failing schedule."""
        return self.findings[0].schedule if self.findings else None

    def replay(self) -> Result:
        """Runs the schedule of the first finding again."""
        if not self.findings or self._replay is None:
            raise ValueError("there is nothing to replay: nothing was found")
        return self._replay(self.findings[0].token)

    def assert_holds(self) -> None:
        """Raises AssertionError unless the verdict is `holds`: every behaviour was explored, and none fails."""
        if self.verdict != "holds":
            not_all = f"not every behaviour was explored: {self.reason}"
            raise AssertionError(not_all if self.verdict == "no_bug_found" else self.explanation)

    def assert_no_bug(self) -> None:
        """Raises AssertionError if the verdict is `fails` or `inconclusive`. Passes without a proof: see `assert_holds`."""
        if self.verdict in ("fails", "inconclusive"):
            raise AssertionError(self.explanation)
