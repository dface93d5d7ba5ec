"""Deterministic concurrency testing: threads and coroutines of Python under a scheduler that you control."""

from ._supported import refuse_others

refuse_others()

from ._drawloom import choose  # noqa: E402
from ._explore import ReplayError, explore, explore_async  # noqa: E402
from ._result import Assumption, Finding, Result, Verdict  # noqa: E402
from ._selftest import verify  # noqa: E402
from ._testing import ExplorationFailed, test  # noqa: E402

__all__ = [
    "Assumption", "ExplorationFailed", "Finding", "ReplayError", "Result", "Verdict", "choose", "explore", "explore_async", "test",
]
__version__ = "0.1.0"

verify()
