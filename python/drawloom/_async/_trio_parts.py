"""What takes the place of the parts of a run of trio: its clock, its queues, its deadlines, and the system."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import outcome
import trio
from trio._core import _parking_lot, _run

from .. import _drawloom
from ._host import instant, now
from ._places import touched_by
from ._sockets import Watch

if TYPE_CHECKING:
    from ._trio import Loop


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
            _drawloom.assume_time()
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


class System:
    """In place of what waits for the system: which task waits for which socket."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._waiting: dict[tuple[int, bool], tuple[Watch, Any]] = {}

    async def wait_readable(self, fd: Any) -> None:
        await self.waits(fd, False)

    async def wait_writable(self, fd: Any) -> None:
        await self.waits(fd, True)

    async def waits(self, of: Any, writes: bool) -> None:
        fd = of if isinstance(of, int) else of.fileno()
        if (fd, writes) in self._waiting:
            raise trio.BusyResourceError("another task is already reading / writing this fd")
        task = trio.lowlevel.current_task()

        def wake() -> None:
            if watch.begin_event():
                self._end(fd, writes)
                _run.reschedule(task)

        def abort(_: Any) -> Any:
            self._end(fd, writes)
            return trio.lowlevel.Abort.SUCCEEDED

        watch = Watch(self._loop, fd, writes, lambda _: wake)
        self._waiting[fd, writes] = watch, task
        watch.look()
        await trio.lowlevel.wait_task_rescheduled(abort)

    def notify_closing(self, of: Any) -> None:
        fd = of if isinstance(of, int) else of.fileno()
        for writes in (False, True):
            if (fd, writes) in self._waiting:
                _run.reschedule(self._end(fd, writes), outcome.Error(trio.ClosedResourceError("another task closed this fd")))

    def _end(self, fd: int, writes: bool) -> Any:
        """Nobody waits any more. Who did."""
        watch, task = self._waiting.pop((fd, writes))
        watch.end()
        return task

    def process_events(self, _events: Any) -> None: ...

    def statistics(self) -> Any:
        return None


class NoInstruments(dict):  # type: ignore[type-arg]
    """In place of those who want to be told what a run does."""

    def add_instrument(self, _instrument: Any) -> None:
        _drawloom.give_up("an instrument of trio")

    remove_instrument = add_instrument


class NoSignals:
    """In place of what waits for Ctrl-C."""

    ki_pending = False

    def install(self, *_args: Any) -> None: ...

    def close(self) -> None: ...


class Resolver(trio.abc.HostnameResolver):  # type: ignore[misc]
    """In place of the threads in which trio looks up names."""

    @staticmethod
    def be_used(runner: Any) -> None:
        """By the tasks of a run."""
        runner._locals[trio._socket._resolver] = Resolver()

    async def getaddrinfo(self, *arguments: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return socket.getaddrinfo(*arguments)

    async def getnameinfo(self, *arguments: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return socket.getnameinfo(*arguments)


# Nurseries in one another that a task which is closed may be in.
_NESTED = 100


def close(task: Any) -> None:
    """Closes a task that has not ended."""
    _run.GLOBAL_RUN_CONTEXT.task = task
    # A nursery that is left waits for its tasks, and so has to be left anew.
    for _ in range(_NESTED):
        try:
            return task.coro.close()  # type: ignore[no-any-return]
        except RuntimeError:
            continue


def abandon(passes: Any, tasks: list[Any], nurseries: list[Any]) -> None:
    """Ends a run whose tasks are closed, and will not end by themselves."""
    for nursery in nurseries:
        nursery._children.clear()
    for task in tasks:
        _parking_lot.GLOBAL_PARKING_LOT_BREAKER.pop(task, None)
    try:
        passes.throw(trio.TrioInternalError())
    except BaseException:  # that is how it ends
        pass
