"""As in `drawloom.frontrun.trace_markers`."""

from drawloom.frontrun.trace_markers import *  # noqa: F403
from drawloom.frontrun.trace_markers import __all__ as __all__
