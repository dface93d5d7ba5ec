"""Which event loop of asyncio a thread runs, and which task of it."""

from __future__ import annotations

import sys
from asyncio import events, tasks
from typing import Any

Running = tuple[Any, Any]
"""A loop and its task; or none."""


def set_aside() -> Running:
    """From now on the calling thread runs none; what it did run."""
    loop, task = events._get_running_loop(), None
    # Until then it was told by the loop which task runs, and another loop had another one.
    if loop is not None and sys.version_info >= (3, 14):
        task = tasks._swap_current_task(loop, None)  # type: ignore[attr-defined]
    events._set_running_loop(None)
    return loop, task


def resume(running: Running) -> None:
    """It runs again what was set aside."""
    loop, task = running
    events._set_running_loop(loop)
    if task is not None:
        tasks._swap_current_task(loop, task)  # type: ignore[attr-defined]
