"""Waiting for several sockets at once."""

from __future__ import annotations

import errno
import os
import select
import selectors
import sys
from typing import Any

from .. import _drawloom
from .._code import is_foreign
from .._patching import Patch
from ._links import TOGETHER, known_at
from ._selector import Selector
from ._waits import NOT_YET, waits

_native_select, _native_poll = select.select, select.poll
_native_epoll: Any = getattr(select, "epoll", None)
_READS = select.POLLIN | select.POLLPRI
_ASKED_FOR = _READS | select.POLLOUT
_ONCE: int = getattr(select, "EPOLLONESHOT", 0)


def _number(of: Any) -> int:
    return of if isinstance(of, int) else int(of.fileno())


def together(read: Any, write: Any, exceptional: Any, timeout: float | None = None) -> Any:
    """`select.select`."""
    if not _drawloom.is_parallel():
        return _native_select(read, write, exceptional, timeout)
    _drawloom.learn(TOGETHER)
    read, write, exceptional = list(read), list(write), list(exceptional)

    def attempt() -> Any:
        ready = [one for one in read if _is_readable(one)]
        writable = _native_select([], write, [], 0)[1]
        return (ready, writable, []) if ready or writable else NOT_YET

    ready = waits.until(TOGETHER, attempt, timeout)
    return ([], [], []) if ready is NOT_YET else ready


def _is_readable(one: Any) -> bool:
    fd = _number(one)
    known = known_at(fd)
    if known is not None:
        return known.has_something()
    _drawloom.uncontrolled("a descriptor that is not part of the exploration")
    return bool(_native_select([fd], [], [], 0)[0])


class Poll:
    """`select.poll`."""

    # How many of its units a second has.
    _SECOND = 1000.0

    def __init__(self) -> None:
        self._masks: dict[int, int] = {}

    def register(self, fd: Any, eventmask: int = _ASKED_FOR) -> None:
        self._change()
        self._masks[_number(fd)] = eventmask

    def modify(self, fd: Any, eventmask: int) -> None:
        self._change()
        if _number(fd) not in self._masks:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        self._masks[_number(fd)] = eventmask

    def unregister(self, fd: Any) -> None:
        self._change()
        if _number(fd) not in self._masks:
            raise self._missing()
        del self._masks[_number(fd)]

    def _missing(self) -> Exception:
        return KeyError()

    def _change(self) -> None:
        """Who waits meanwhile looks at what is asked for now."""
        if _drawloom.is_parallel():
            _drawloom.learn(TOGETHER)
            _drawloom.touch(TOGETHER, True)
            waits.over(TOGETHER)

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        seconds = None if timeout is None or timeout < 0 else timeout / self._SECOND
        if not _drawloom.is_parallel():
            return self._asked(self._masks, seconds)
        _drawloom.learn(TOGETHER)
        ready = waits.until(TOGETHER, self._attempt, seconds)
        return [] if ready is NOT_YET else ready

    def _attempt(self) -> Any:
        writable = dict(self._asked({fd: mask & select.POLLOUT for fd, mask in self._masks.items()}, 0))
        ready = []
        for fd, mask in self._masks.items():
            # What has arrived is reckoned, and whether there is room is asked.
            events = writable.get(fd, 0) & (mask | select.POLLNVAL)
            if not events & select.POLLNVAL and mask & _READS and _is_readable(fd):
                events |= select.POLLIN
            if events:
                ready.append((fd, events))
        return ready or NOT_YET

    @staticmethod
    def _asked(masks: dict[int, int], seconds: float | None) -> list[tuple[int, int]]:
        """What the system says."""
        poll = _native_poll()
        for fd, mask in masks.items():
            poll.register(fd, mask & _ASKED_FOR)
        return poll.poll(None if seconds is None else seconds * 1000)


class Epoll(Poll):
    """`select.epoll`, which tells as long as it is so, or once."""

    _SECOND = 1.0

    def __init__(self, sizehint: int = -1, flags: int = 0) -> None:
        super().__init__()
        self.closed = False

    def register(self, fd: Any, eventmask: int = _ASKED_FOR) -> None:
        if _number(fd) in self._masks:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        super().register(fd, self._level(eventmask))

    def modify(self, fd: Any, eventmask: int) -> None:
        super().modify(fd, self._level(eventmask))

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        ready = super().poll(timeout)
        ready = ready if maxevents < 0 else ready[:maxevents]
        for fd, _ in ready:
            if self._masks[fd] & _ONCE:
                self._masks[fd] = _ONCE
        return ready

    def _level(self, mask: int) -> int:
        if _drawloom.is_controlled() and mask & getattr(select, "EPOLLET", 0):
            _drawloom.give_up("edge-triggered epoll")
        return mask

    def _missing(self) -> Exception:
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> Epoll:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()


def _is_of_driver() -> bool:
    """Whether a driver asks, whose calls are steps as a whole: it waits for real."""
    return is_foreign(sys._getframe(2).f_code.co_filename)


def poll() -> Any:
    """`select.poll`."""
    return _native_poll() if _is_of_driver() else Poll()


def epoll(*arguments: Any, **options: Any) -> Any:
    """`select.epoll`."""
    return _native_epoll(*arguments, **options) if _is_of_driver() else Epoll(*arguments, **options)


def patches() -> list[Patch]:
    """What takes the place of what."""
    replaced: list[Patch] = [
        (select, "select", together),
        (select, "poll", poll),
        (selectors.SelectSelector, "_select", staticmethod(together)),
    ]
    if _native_epoll is not None:
        replaced.append((select, "epoll", epoll))
    names = [name for name in ("DefaultSelector", "SelectSelector", "PollSelector", "EpollSelector") if hasattr(selectors, name)]
    return replaced + [(selectors, name, Selector) for name in names]
