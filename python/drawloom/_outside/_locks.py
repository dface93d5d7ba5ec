"""Locks on files: `flock` waits in the engine. Locks of POSIX belong to processes, and keep no threads apart."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from typing import Any

from .. import _drawloom
from .._sync import make_lock
from . import _names
from ._waits import NOT_YET, waits

_flock, _lockf = fcntl.flock, fcntl.lockf
# The fact that locks are taken by several at once: then they are no mutexes to the engine.
SHARED = "shared-locks"


class _Held:
    """Which descriptors hold a lock, and of what."""

    def __init__(self) -> None:
        self.epoch = 0
        self.names: dict[int, str] = {}
        self.mutexes: dict[str, Any] = {}

    def now(self) -> dict[int, str]:
        if self.epoch != _drawloom.epoch():
            self.epoch = _drawloom.epoch()
            self.names.clear()
            self.mutexes.clear()
        return self.names

    def mutex(self, name: str) -> Any:
        self.now()
        if name not in self.mutexes:
            self.mutexes[name] = make_lock()
            self.mutexes[name].be_called(name)
        return self.mutexes[name]


_held = _Held()


def _number(file: Any) -> int:
    return file if isinstance(file, int) else file.fileno()


def flock(file: Any, operation: int) -> None:
    """`fcntl.flock`."""
    if not _drawloom.is_controlled():
        return _flock(file, operation)
    fd = _number(file)
    name = f"lock of {_names.of_fd(fd)}"
    if operation & fcntl.LOCK_UN:
        return _release(fd, lambda: _flock(fd, operation))
    if operation & fcntl.LOCK_SH and _drawloom.is_parallel():
        _drawloom.learn(SHARED)
    if _drawloom.is_known(SHARED) or fd in _held.now():
        return _take(fd, name, operation)
    if not _held.mutex(name).acquire(blocking=not operation & fcntl.LOCK_NB):
        return _flock(fd, operation)  # which says what is wrong
    try:
        _flock(fd, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        _wait_for_real(fd, name, operation)
    _held.now()[fd] = name


def _take(fd: int, name: str, operation: int) -> None:
    """One of a lock that several may have at once."""

    def attempt() -> Any:
        try:
            _flock(fd, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            if operation & fcntl.LOCK_NB:
                raise
            if any(holder != fd and of == name for holder, of in _held.now().items()):
                return NOT_YET
            _wait_for_real(fd, name, operation)
        _held.now()[fd] = name

    waits.until(name, attempt)


def _wait_for_real(fd: int, name: str, operation: int) -> None:
    _drawloom.uncontrolled(f"the {name}, which is held outside the exploration")
    _flock(fd, operation)


def lockf(file: Any, operation: int, *rest: Any) -> None:
    """`fcntl.lockf`: no thread waits for another of its process."""
    if _drawloom.is_controlled():
        _drawloom.touch(f"lock of {_names.of_fd(_number(file))}", True)
    _lockf(file, operation, *rest)


def is_held(fd: int) -> bool:
    """Whether closing it gives back a lock."""
    return bool(_held.names) and fd in _held.now()


def close(fd: int, native: Callable[[], None]) -> None:
    """Closes what holds a lock."""
    _release(fd, native)


def _release(fd: int, native: Callable[[], None]) -> None:
    name = _held.now().pop(fd, None)
    if name is None or not _drawloom.is_controlled():
        return native()
    mutex = _held.mutexes.get(name)
    if mutex is None:
        _drawloom.touch(name, True)
    native()
    if mutex is None:
        waits.over(name)
    else:
        mutex.release()
