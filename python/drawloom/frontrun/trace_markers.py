"""Markers, with Frontrun's result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import markers
from ..markers import (
    MarkerRegistry,
    Schedule,
    Step,
    TraceExecutor,
    all_marker_schedules,
    frontrun,
    marker_schedule_strategy,
)
from ..markers._executor import Script as ThreadCoordinator
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
