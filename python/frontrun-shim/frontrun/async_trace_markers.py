"""As in `drawloom.frontrun.async_trace_markers`."""

from drawloom.frontrun.async_trace_markers import *  # noqa: F403
from drawloom.frontrun.async_trace_markers import __all__ as __all__
