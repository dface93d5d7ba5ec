"""What is kept for a whole process, and stands for something else while an exploration runs."""

from __future__ import annotations

import importlib
import locale
import sys
from typing import Any

from . import _drawloom
from ._patching import Patch

_setlocale: Any = locale._setlocale  # type: ignore[attr-defined]


def setlocale(category: int, name: str | None = None) -> str:
    """`_locale.setlocale`, by which `strptime` asks in which language it is."""
    if _drawloom.is_controlled():
        _drawloom.touch("the locale", name is not None)
    said: str = _setlocale(category, name)
    return said


class _WithinTask:
    """That a task of Celery runs is known to a whole process, since a worker of Celery is one. In eager mode threads stand for
    workers: it is a matter of each of them."""

    def __init__(self, result: Any) -> None:
        self.asks, self.says = result.task_join_will_block, result._set_task_join_will_block
        self.known: dict[tuple[int, int], bool] = {}

    def ask(self) -> bool:
        if not _drawloom.is_controlled():
            return bool(self.asks())
        return self.known.get((_drawloom.epoch(), _drawloom.task()), False)

    def say(self, blocks: bool) -> None:
        if not _drawloom.is_controlled():
            self.says(blocks)
            return
        if any(epoch != _drawloom.epoch() for epoch, _ in self.known):
            self.known.clear()
        self.known[_drawloom.epoch(), _drawloom.task()] = blocks


def patches() -> list[Patch]:
    """What takes the place of what."""
    found: list[Patch] = [(locale, "_setlocale", setlocale)]
    # Celery imports it when a task is called first, which may be in the midst of an exploration.
    result = importlib.import_module("celery.result") if "celery" in sys.modules else None
    if result is not None and hasattr(result, "_set_task_join_will_block"):
        within = _WithinTask(result)
        found += [(result, "task_join_will_block", within.ask), (result, "_set_task_join_will_block", within.say)]
    return found
