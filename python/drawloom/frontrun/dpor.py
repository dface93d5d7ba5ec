"""Every behaviour once."""

from ._api import explore_dpor
from .common import InterleavingResult

__all__ = ["InterleavingResult", "explore_dpor"]
