"""As in `drawloom.frontrun.async_shuffler`."""

from drawloom.frontrun.async_shuffler import *  # noqa: F403
from drawloom.frontrun.async_shuffler import __all__ as __all__
