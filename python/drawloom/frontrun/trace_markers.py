"""Markers, with Frontrun's result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import markers
from ..markers import (
    Schedule,
    Step,
    TraceExecutor,
    all_marker_schedules,
    frontrun,
    marker_schedule_strategy,
)
from ..markers import MarkerRegistry as _MarkerRegistry
from .common import InterleavingResult

__all__ = [
    "MarkerRegistry",
    "Schedule",
    "Step",
    "ThreadCoordinator",
    "TraceExecutor",
    "all_marker_schedules",
    "explore_marker_interleavings",
    "frontrun",
    "marker_schedule_strategy",
]


class MarkerRegistry(_MarkerRegistry):
    """The markers of source files."""

    def scan_frame(self, frame: FrameType) -> None:
        """Reads the file of a frame, as asking for a marker of it does."""
        self.of_file(frame.f_code.co_filename)


class ThreadCoordinator:
    """Has threads that ask for it wait for their turns, in the order of a schedule."""

    def __init__(self, schedule: Schedule, *, deadlock_timeout: float = 5.0) -> None:
        self.schedule, self.deadlock_timeout = schedule, deadlock_timeout
        self._position, self._moved = 0, threading.Condition()

    @property
    def completed(self) -> bool:
        """Whether every step was made."""
        return self._position == len(self.schedule.steps)

    def wait_for_turn(self, execution_name: str, marker_name: str) -> None:
        """Returns when all steps before this one were made. When the schedule is over, nobody waits."""

        def is_turn() -> bool:
            if self.completed:
                return True
            step = self.schedule.steps[self._position]
            return (step.execution_name, step.marker_name) == (execution_name, marker_name)

        with self._moved:
            if not self._moved.wait_for(is_turn, self.deadlock_timeout):
                raise TimeoutError(f"{execution_name} waits for ever for its turn at {marker_name!r}")
            self._position += not self.completed
            self._moved.notify_all()


def explore_marker_interleavings(
    setup: Callable[[], Any],
    threads: Any,
    invariant: Callable[[Any], Any],
    *,
    stop_on_first: bool = True,
    deadlock_timeout: float = 5.0,
    timeout: float | None = 10.0,
) -> InterleavingResult:
    """Tries every order in which threads can pass their markers."""
    result = markers.explore_marker_interleavings(
        setup, threads, invariant, stop_on_first=stop_on_first, deadlock_timeout=deadlock_timeout, timeout=timeout
    )
    holds = result.property_holds
    return InterleavingResult(
        property_holds=holds,
        counterexample=result.counterexample,
        num_explored=result.num_explored,
        unique_interleavings=result.num_explored,
        failures=list(result.failures),
        explanation=result.explanation or (None if holds else result.reason),
        exhausted=result.exhausted,
        inconclusive_reason=result.reason if holds is None else None,
    )
