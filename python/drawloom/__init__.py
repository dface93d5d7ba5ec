"""Deterministic concurrency testing: Python's threads under a scheduler that you control."""

from ._drawloom import choose
from ._explore import explore, explore_async
from ._result import Finding, Result, Verdict
from ._selftest import verify
from ._testing import ExplorationFailed, test

__all__ = ["ExplorationFailed", "Finding", "Result", "Verdict", "choose", "explore", "explore_async", "test"]
__version__ = "0.1.0"

verify()
