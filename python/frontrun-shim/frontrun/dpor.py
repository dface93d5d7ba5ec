"""As in `drawloom.frontrun.dpor`."""

from drawloom.frontrun.dpor import *  # noqa: F403
from drawloom.frontrun.dpor import __all__ as __all__
