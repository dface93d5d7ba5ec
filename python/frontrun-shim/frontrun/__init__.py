"""Frontrun's import name: everything is in `drawloom.frontrun`."""

from drawloom.frontrun import *  # noqa: F403
from drawloom.frontrun import __all__ as __all__
