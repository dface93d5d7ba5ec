"""Schedules and results, as Frontrun has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..markers import Schedule, Step

__all__ = ["FrontrunInternalError", "InconclusiveExploration", "InterleavingResult", "NondeterministicSQLError", "Schedule", "Step"]


class InconclusiveExploration(AssertionError):
    """Nothing can be said of the program."""


class NondeterministicSQLError(Exception):
    """Never raised here."""


class FrontrunInternalError(RuntimeError):
    """Never raised here."""


@dataclass
class InterleavingResult:
    """The result of an exploration."""

    property_holds: bool | None
    """True only if every behaviour was explored; none if that cannot be said."""
    counterexample: Any = None
    """Who makes each step of a failing execution, by number; of markers, a Schedule."""
    num_explored: int = 0
    unique_interleavings: int = 0
    failures: list[tuple[int, Any]] = field(default_factory=list)
    """Different failures: the number of an execution, and its schedule."""
    explanation: str | None = None
    reproduction_attempts: int = 0
    reproduction_successes: int = 0
    sql_anomaly: Any = None
    races_detected: list[Any] = field(default_factory=list)
    exhausted: bool | None = None
    failure_kind: str | None = None
    """`invariant`, `worker_error`, `deadlock` …"""
    inconclusive_reason: str | None = None

    def assert_holds(self, msg_prefix: str = "", *, allow_inconclusive: bool = False) -> None:
        """Raises AssertionError if the property does not hold, InconclusiveExploration if that cannot be said."""
        if self.property_holds is False:
            raise AssertionError(f"{msg_prefix}{self.explanation or 'the property does not hold'}")
        if self.property_holds is None and not allow_inconclusive:
            raise InconclusiveExploration(f"{msg_prefix}inconclusive: {self.inconclusive_reason}")
