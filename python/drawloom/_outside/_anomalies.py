"""Findings in programs with databases, with the names of anomalies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .sql._history import anomaly, history

# More findings than these are not run once more.
_MOST = 3


def with_anomalies(run: Callable[..., dict[str, Any]], config: str, known: str | None) -> dict[str, Any]:
    """What an exploration came to; each finding with the anomaly that its schedule is, run once more to see it."""
    history.begin()
    told = run(config, known)
    if not history.is_used:
        return told
    for found in told["findings"][:_MOST]:
        schedule, _, of_pieces = found["token"].partition("~")
        if schedule:
            history.begin()
            run(f'replay(token = "{schedule}", shrink = false, fixes = 0)', of_pieces)
            found["anomaly"] = anomaly(history.events, history.circle)
    return told
