"""As in `drawloom.frontrun.bytecode`."""

from drawloom.frontrun.bytecode import *  # noqa: F403
from drawloom.frontrun.bytecode import __all__ as __all__
