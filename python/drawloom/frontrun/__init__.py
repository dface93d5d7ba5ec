"""The names of Frontrun, old and new, on drawloom's engine: its users and tests move over by changing an import.

The book lists every difference, under “From Frontrun”. Verdicts: `property_holds` is true only if every behaviour was explored, and
none where nothing can be said; an exception of a worker is a failure and is not raised.
"""

from typing import Literal

from ..markers import AsyncTraceExecutor, Schedule, Step, TraceExecutor
from ..markers import async_frontrun as async_frontrun
from ._api import explore, explore_async_random, explore_dpor, explore_interleavings, explore_random
from ._processes import CrossProcessResult, Subprocess, explore_processes
from .common import FrontrunInternalError, InconclusiveExploration, InterleavingResult, NondeterministicSQLError
from .trace_markers import all_marker_schedules, explore_marker_interleavings, marker_schedule_strategy

VIRTUAL_EPOCH = 1_000_000.0
ClockMode = Literal["real", "virtual", "explored"]
__version__ = "0.7.0"  # whose names these are

__all__ = [
    "VIRTUAL_EPOCH",
    "__version__",
    "AsyncTraceExecutor",
    "ClockMode",
    "CrossProcessResult",
    "FrontrunInternalError",
    "InconclusiveExploration",
    "InterleavingResult",
    "NondeterministicSQLError",
    "Schedule",
    "Step",
    "Subprocess",
    "TraceExecutor",
    "all_marker_schedules",
    "async_frontrun",
    "explore",
    "explore_async_random",
    "explore_dpor",
    "explore_interleavings",
    "explore_marker_interleavings",
    "explore_processes",
    "explore_random",
    "marker_schedule_strategy",
]
