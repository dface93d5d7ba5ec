"""What takes the place of the parts of a run of trio: its clock, its queues, its deadlines, and the system."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import trio
from trio._core import _run

from . import _drawloom
from ._async_host import instant, now
from ._async_places import touched_by

if TYPE_CHECKING:
    from ._async_trio import Loop


class Clock(trio.abc.Clock):  # type: ignore[misc]
    """Virtual time."""

    def start_clock(self) -> None: ...

    def current_time(self) -> float:
        return now()

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - now()


class Queue:
    """In place of those tasks that can go on."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.chosen: list[Any] = []

    def append(self, task: Any) -> None:
        self._loop.can_go_on(task)

    def clear(self) -> None:
        self.chosen = []

    def __iter__(self) -> Iterator[Any]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)


class Timer:
    """The deadline of a cancel scope."""

    def __init__(self, deadline: float, scope: Any) -> None:
        self._deadline, self._scope = deadline, scope

    def __call__(self) -> None:
        if self._scope._registered_deadline == self._deadline:
            due = _run.Deadlines()
            due.add(self._deadline, self._scope)
            due.expire(self._deadline)


class Deadlines:
    """In place of all deadlines: each one is a timer, which finds out itself whether it still counts."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def add(self, deadline: float, scope: Any) -> None:
        if not self._loop.is_over:
            self._loop.new_guest(Timer(deadline, scope), None, _reached(deadline))

    def remove(self, deadline: float, scope: Any) -> None: ...

    def next_deadline(self) -> float:
        return math.inf

    def expire(self, _now: float) -> bool:
        return False


def _reached(deadline: float) -> int:
    """The first instant that is not before a deadline."""
    until = instant(deadline)
    return until if now() + (until - _drawloom.guest_now()) / 1e9 >= deadline else until + 1


class Callback:
    """What somebody has asked a run to call."""

    def __init__(self, queue: EntryQueue, callback: Callable[..., Any], args: tuple[Any, ...], once: bool) -> None:
        self._queue, self._callback, self._args, self._once = queue, callback, args, once

    def __call__(self) -> None:
        if self._once:
            self._queue.leave(self._callback, self._args)
        touched_by(self._callback)
        self._callback(*self._args)


class EntryQueue:
    """In place of what others have asked a run to call: each one is a guest."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._once: list[tuple[Any, tuple[Any, ...]]] = []

    def run_sync_soon(self, callback: Callable[..., Any], *args: Any, idempotent: bool = False) -> None:
        if self._loop.is_over:
            raise trio.RunFinishedError("run() has exited")
        if idempotent:
            _drawloom.guest_touch(self, True)
            if (callback, args) in self._once:
                return
            self._once.append((callback, args))
        self._loop.schedule(None, Callback(self, callback, args, idempotent))

    def leave(self, callback: Any, args: tuple[Any, ...]) -> None:
        _drawloom.guest_touch(self, True)
        self._once.remove((callback, args))

    def size(self) -> int:
        return 0


class NoSockets:
    """In place of what waits for the system."""

    def process_events(self, _events: Any) -> None: ...

    def statistics(self) -> Any:
        return None

    def __getattr__(self, name: str) -> Any:
        _drawloom.give_up(f"trio.lowlevel.{name}(): there are no sockets in an explored run")


class NoInstruments(dict):  # type: ignore[type-arg]
    """In place of those who want to be told what a run does."""

    def add_instrument(self, _instrument: Any) -> None:
        _drawloom.give_up("an instrument of trio")

    remove_instrument = add_instrument
