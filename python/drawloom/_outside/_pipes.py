"""Pipes between threads: what is read waits in the engine until somebody has written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .. import _drawloom
from ._peers import Receiving
from ._waits import NOT_YET, waits

_pipe, _close, _read = os.pipe, os.close, os.read


class Pipe:
    """What was written and not read yet, and whether anybody can still write."""

    def __init__(self, number: int) -> None:
        self.name = f"pipe {number}"
        self.unread = 0
        self.is_open = True
        # Who has written to it, and where.
        self.users: dict[int, tuple[str, int]] = {}


class _Pipes:
    def __init__(self) -> None:
        self.epoch = 0
        self.ends: dict[int, tuple[Pipe, bool]] = {}
        self.made = 0

    def now(self) -> dict[int, tuple[Pipe, bool]]:
        if self.epoch != _drawloom.epoch():
            self.epoch, self.made = _drawloom.epoch(), 0
            self.ends.clear()
        return self.ends


_pipes = _Pipes()


def pipe() -> tuple[int, int]:
    """`os.pipe`."""
    reader, writer = _pipe()
    if _drawloom.is_controlled():
        ends = _pipes.now()
        _pipes.made += 1
        made = Pipe(_pipes.made)
        ends[reader], ends[writer] = (made, False), (made, True)
    return reader, writer


def is_pipe(fd: int) -> bool:
    return bool(_pipes.ends) and fd in _pipes.now()


def operation(native: Callable[..., Any], fd: int, *arguments: Any, **options: Any) -> Any:
    """Reads, writes or whatever else."""
    known, writes = _pipes.now()[fd]
    if writes:
        _drawloom.touch(known.name, True)
        done = native(fd, *arguments, **options)
        if native.__name__ in ("write", "writev"):
            known.unread += done
            if _drawloom.is_parallel() and _drawloom.task() not in known.users:
                known.users[_drawloom.task()] = _drawloom.here()
            waits.over(known.name)
        return done
    if native is not _read:
        _drawloom.touch(known.name, True)
        return native(fd, *arguments, **options)

    def attempt() -> Any:
        if known.unread == 0 and known.is_open:
            return NOT_YET
        data = native(fd, *arguments, **options)
        known.unread -= len(data)
        return data

    return waits.until(known.name, attempt, about=Receiving(known))


def close(fd: int) -> bool:
    """Closes an end of a pipe; false if it is none."""
    if not is_pipe(fd):
        return False
    known, writes = _pipes.now().pop(fd)
    _drawloom.touch(known.name, True)
    _close(fd)
    if writes:
        known.is_open = False
        waits.over(known.name)
    return True
