"""As in `drawloom.frontrun.async_bytecode`."""

from drawloom.frontrun.async_bytecode import *  # noqa: F403
from drawloom.frontrun.async_bytecode import __all__ as __all__
