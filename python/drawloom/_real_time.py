"""What happens in real time: Ctrl-C, threads that stand still, and the collection of garbage."""

from __future__ import annotations

import contextlib
import gc
import linecache
import os
import signal
import sys
import sysconfig
import threading
from collections.abc import Iterator

from . import _settings
from ._code import PACKAGE

STUCK_AFTER = 5.0
"""Seconds for which a thread may stand still in something that is not under control."""
_STDLIB = sysconfig.get_path("stdlib")


def patience(asked: float | None) -> float:
    """The seconds that were asked for; 0 is for ever."""
    setting = _settings.setting("stuck_after")
    if setting is not None:
        return float(setting)
    return STUCK_AFTER if asked is None else asked


def locate(thread: int) -> str:
    """Where a thread is: the function that stands still, and who has called it from outside the standard library."""
    frame = sys._current_frames().get(thread)
    innermost = None
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            name = getattr(code, "co_qualname", code.co_name)
            place = f"{os.path.relpath(code.co_filename)}:{frame.f_lineno}"
            if not code.co_filename.startswith(_STDLIB):
                line = linecache.getline(code.co_filename, frame.f_lineno).strip()
                called = f"`{line}` in `{name}`, {place}"
                return called if innermost is None else f"{innermost}, called by {called}"
            innermost = innermost or f"`{name}`"
        frame = frame.f_back
    return innermost or "code not written in Python"


_FRAMES = 8
"""So many of those that have called each other are told, the last of them."""


def stack(thread: int) -> list[str]:
    """Where a thread is, and who has called that: a line each, the innermost first."""
    frame = sys._current_frames().get(thread)
    told: list[str] = []
    while frame is not None and len(told) < _FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            name = getattr(code, "co_qualname", code.co_name)
            line = linecache.getline(code.co_filename, frame.f_lineno).strip()
            told.append(f"{os.path.relpath(code.co_filename)}:{frame.f_lineno} in `{name}`: {line}")
        frame = frame.f_back
    return told


def nothing() -> None:
    """For what the interpreter does whenever a function begins."""


def is_interruptible() -> bool:
    """Whether Ctrl-C is ours to see to."""
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and hasattr(os, "fork") and callable(signal.getsignal(signal.SIGINT))


# For one of these nobody waits, if it does nothing by default. The first means little to anybody.
_WAKING = ("SIGURG", "SIGRTMAX", "SIGRTMIN")


def _wake(number: int, frame: object) -> None:
    raise KeyboardInterrupt("code outside drawloom's control took too long")


@contextlib.contextmanager
def woken() -> Iterator[int]:
    """A signal that has main look up from what it stands still in; 0 where there is none. Ctrl-C would not do for it: who runs
    in the background may have been told to ignore that."""
    unused = [number for name in _WAKING if (number := getattr(signal, name, 0)) and signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread() or not unused:
        yield 0
        return
    signal.signal(unused[0], _wake)
    try:
        yield unused[0]
    finally:
        signal.signal(unused[0], signal.SIG_DFL)


@contextlib.contextmanager
def heeded() -> Iterator[tuple[bool, int]]:
    """While it lasts, Ctrl-C ends the exploration, if that is ours to see to; and the signal that wakes main does."""
    yields = is_interruptible()
    before = signal.getsignal(signal.SIGINT) if yields else None
    with woken() as waking:
        try:
            yield yields, waking
        finally:
            if yields:
                signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def collecting_between() -> Iterator[None]:
    """Garbage is collected between executions only, and what was there before is not looked through each time."""
    enabled = gc.isenabled()
    gc.disable()
    # How much is frozen already says nothing: from 3.12 on the interpreter itself keeps what is immortal there.
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
