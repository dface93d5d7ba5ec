"""Settings from the command line and the environment, for all explorations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result

given: dict[str, str] = {}
"""From the command line: `strategy`, `seed`, `iterations`, `replay`. It overrides the environment."""

results: list[Result] | None = None
"""What explorations came to, while somebody wants to know."""


def setting(name: str) -> str | None:
    return given.get(name) or os.environ.get(f"DRAWLOOM_{name.upper()}") or None


def replay() -> str | None:
    """The schedule to be replayed, instead of exploring."""
    return setting("replay")


def overridden(strategy: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The strategy and options of an exploration, unless something else was asked for."""
    options = dict(options)
    for name in ("seed", "iterations", "timeout"):
        value = setting(name)
        if value is not None:
            options[name] = value
    return setting("strategy") or strategy, options


def noted(result: Result) -> Result:
    """Remembers `result` for the report of the test that runs."""
    if results is not None:
        results.append(result)
    return result
