"""Locks that say so when they keep a thread waiting. What `threading` and `queue` build of locks in Python is built of
these while threads with markers run."""

from __future__ import annotations

import _thread
import contextlib
import queue
import threading
import time
from typing import TYPE_CHECKING, Any

from .._patching import in_place

if TYPE_CHECKING:
    from ._run import Run

allocate_lock = _thread.allocate_lock
_native_sleep = time.sleep

current: Run | None = None
"""The run that is under way."""


class WatchedLock:
    """A lock; a thread of a run that has to wait for it lets others run."""

    def __init__(self) -> None:
        self._native = allocate_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        task = current.task() if current is not None else None
        if task is None or current is None:
            return self._native.acquire(blocking, timeout)
        while not self._native.acquire(False):
            if not blocking or timeout == 0 or not current.block(task, self, timed=timeout > 0):
                return False
        return True

    def release(self) -> None:
        self._native.release()
        if current is not None:
            current.released()

    def locked(self) -> bool:
        return self._native.locked()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_exception: Any) -> None:
        self.release()


def _sleep(seconds: float) -> None:
    # Who sleeps has said that others may run; when they do is for the schedule to say.
    if current is None or current.task() is None:
        _native_sleep(seconds)


def watched() -> contextlib.AbstractContextManager[None]:
    """Watched locks in place of those of the standard library."""
    return in_place([
        (threading, "Lock", WatchedLock),
        (threading, "_allocate_lock", WatchedLock),
        (threading, "RLock", threading._PyRLock),  # type: ignore[attr-defined]
        (_thread, "allocate_lock", WatchedLock),
        (queue, "SimpleQueue", queue._PySimpleQueue),  # type: ignore[attr-defined]
        (time, "sleep", _sleep),
    ])
