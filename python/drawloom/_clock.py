"""Virtual time, for all that reads a clock or waits for one."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from typing import Any

from . import _drawloom

# The first instant of every execution; and that of the calendar.
EPOCH = 1_000_000
calendar = EPOCH
_SECONDS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
_OF_NOW = ("localtime", "gmtime", "ctime")
_native: dict[str, Any] = {
    name: getattr(time, name)
    for name in ("sleep", "strftime", *_SECONDS, *(f"{name}_ns" for name in _SECONDS), *_OF_NOW)
    if hasattr(time, name)
}


def native(name: str) -> Any:
    """A function of `time`, as it was."""
    return _native[name]


def now() -> float:
    """Seconds, by the calendar."""
    return calendar + _drawloom.now() / 1e9


def sleep(seconds: float) -> None:
    if not _drawloom.is_controlled():
        _native["sleep"](seconds)
        return
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    _drawloom.sleep(seconds)


def _beginning(name: str) -> int:
    return calendar if name.startswith("time") else EPOCH


def _clock(name: str) -> Callable[[], float]:
    native = _native[name]

    def clock() -> float:
        return _beginning(name) + _drawloom.now() / 1e9 if _drawloom.is_controlled() else native()

    return clock


def _clock_ns(name: str) -> Callable[[], int]:
    native = _native[name]

    def clock() -> int:
        return _beginning(name) * 10**9 + _drawloom.now() if _drawloom.is_controlled() else native()

    return clock


def _of_now(name: str) -> Callable[..., Any]:
    native = _native[name]

    def of_now(seconds: float | None = None) -> Any:
        return native(now() if seconds is None and _drawloom.is_controlled() else seconds)

    return of_now


def _strftime(layout: str, *instant: Any) -> str:
    return str(_native["strftime"](layout, *(instant or (PATCHES["localtime"](),))))


PATCHES: dict[str, Callable[..., Any]] = {"sleep": sleep, "strftime": _strftime}
"""By name, what is in the place of the functions of `time`."""
for _name in _native:
    if _name.endswith("_ns"):
        PATCHES[_name] = _clock_ns(_name)
    elif _name in _SECONDS:
        PATCHES[_name] = _clock(_name)
    elif _name in _OF_NOW:
        PATCHES[_name] = _of_now(_name)

monotonic = PATCHES["monotonic"]


def _datetime_now(kind: Any, tz: Any = None) -> Any:
    return kind.fromtimestamp(now(), tz)


def _datetime_utcnow(kind: Any) -> Any:
    return kind.fromtimestamp(now(), datetime.timezone.utc).replace(tzinfo=None)


OF_DATETIME = {"now": _datetime_now, "utcnow": _datetime_utcnow}


def substitutes() -> list[tuple[Any, Any]]:
    """What is called instead of functions of the interpreter, however these were imported."""
    return [(_native[name], patch) for name, patch in PATCHES.items()]
