"""As in `drawloom.frontrun.common`."""

from drawloom.frontrun.common import *  # noqa: F403
from drawloom.frontrun.common import __all__ as __all__
