"""Markers: comments in the code under test, and orders in which threads pass them.

    temp = self.value  # drawloom: read
    self.value = temp + 1  # drawloom: write

A marker gates the line that it is on, or, on a line of its own, the line that follows. Between two markers a thread
runs alone. `TraceExecutor` runs one order, `explore_marker_interleavings` all of them.
"""

from ._executor import AsyncTraceExecutor, TraceExecutor, async_frontrun, frontrun
from ._explore import MarkerResult, async_explore_marker_interleavings, explore_marker_interleavings
from ._places import MarkerRegistry
from ._run import MarkerDeadlock, ScheduleError
from ._schedule import Schedule, Step, all_marker_schedules, marker_schedule_strategy

__all__ = [
    "AsyncTraceExecutor",
    "MarkerDeadlock",
    "MarkerRegistry",
    "MarkerResult",
    "Schedule",
    "ScheduleError",
    "Step",
    "TraceExecutor",
    "all_marker_schedules",
    "async_explore_marker_interleavings",
    "async_frontrun",
    "explore_marker_interleavings",
    "frontrun",
    "marker_schedule_strategy",
]
