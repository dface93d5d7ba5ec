"""Event loops within threads: asyncio's own, which waits for other threads under control.

What it runs is the standard library's code, seen as any other: tasks and futures in Python, callbacks first in, first out.
Where tasks of one loop are all there is, `_async_loop` does better: it explores the order of callbacks, too.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import sys
import warnings
from asyncio import events, futures, tasks
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _clock, _drawloom, _naming, _sync
from ._async_places import all_of
from ._patching import Patch

_PyFuture: Any = futures._PyFuture  # type: ignore[attr-defined]
_PyTask: Any = tasks._PyTask  # type: ignore[attr-defined]
_native_new_event_loop = events.new_event_loop
_numbers: Iterator[int] = itertools.count()


class Future(_PyFuture):  # type: ignore[misc]
    """A future whose place in a set does not depend on where it lies."""

    def __init__(self, *, loop: Any = None) -> None:
        self._drawloom_number = next(_numbers)
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._drawloom_number


class Task(_PyTask):  # type: ignore[misc]
    """The same of tasks."""

    def __init__(self, coro: Any, *, name: str | None = None, **options: Any) -> None:
        self._drawloom_number = next(_numbers)
        # An execution may be over before it is.
        self._log_destroy_pending = False
        super().__init__(coro, name=name or getattr(coro, "__qualname__", "task"), **options)

    def __hash__(self) -> int:
        return self._drawloom_number


class _Gathering(Future):
    """What `asyncio.gather` returns: its cancellation is that of what it gathers."""

    def __init__(self, children: list[Any], *, loop: Any) -> None:
        super().__init__(loop=loop)
        self._children = children
        self._cancel_requested = False

    def cancel(self, msg: Any = None) -> bool:
        if self.done():
            return False
        cancelled = [child.cancel(msg=msg) for child in self._children]
        self._cancel_requested = self._cancel_requested or any(cancelled)
        return any(cancelled)


class _Waker:
    """What a loop waits at until time is up, or another thread calls: what that wants is told under one lock."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._condition = _sync.Condition(_sync.make_lock())
        self._told: list[Callable[[], Any]] = []
        self._called = False

    def select(self, timeout: float | None) -> list[Any]:
        with self._condition:
            if not self._called and not self._told and (timeout is None or timeout > 0):
                self._condition.wait(timeout)
            self._called, told, self._told = False, self._told, []
        for act in told:
            act()
        return []

    def tell(self, act: Callable[[], Any], wake: bool) -> None:
        """Has the loop's own thread act, when it looks; unless it is woken, that may be never."""
        with self._condition:
            if wake:
                self._called = True
                self._condition.notify()
            self._told.append(act)

    def close(self) -> None:
        """There is nothing to close."""


class Loop(asyncio.BaseEventLoop):
    """The event loop of a thread. What its thread does is nobody else's business; others come in by the waker."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Waker(self)
        self._owner = _drawloom.task()
        self.remembered: list[Any] = []
        self._clock_resolution = 1e-9

    def run_forever(self) -> None:
        self._owner = _drawloom.task()
        super().run_forever()

    def _is_elsewhere(self) -> bool:
        return _drawloom.is_controlled() and _drawloom.task() != self._owner

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
        if not self._is_elsewhere():
            return super().call_soon(callback, *args, context=context)
        # Not allowed, and not noticed: the loop is not woken.
        return self._from_elsewhere(callback, args, context, False)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> Any:
        return self._from_elsewhere(callback, args, context, True)

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> Any:
        if not self._is_elsewhere():
            return super().call_at(when, callback, *args, context=context)
        self._check_closed()
        timer = events.TimerHandle(when, callback, args, self, context)
        self._selector.tell(lambda: self._schedule(timer), False)
        return timer

    def _schedule(self, timer: Any) -> None:
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True

    def _from_elsewhere(self, callback: Any, args: Any, context: Any, wake: bool) -> Any:
        self._check_closed()
        handle = events.Handle(callback, args, self, context)
        self._selector.tell(lambda: self._ready.append(handle), wake)
        return handle

    def stop(self) -> None:
        if self._is_elsewhere():
            self._selector.tell(super().stop, False)
        else:
            super().stop()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if _drawloom.is_controlled():
            super().call_exception_handler(context)

    def _process_events(self, event_list: list[Any]) -> None: ...

    def _write_to_self(self) -> None:
        self._selector.tell(int, True)

    def _make_socket_transport(self, *_args: Any, **_options: Any) -> Any:
        _drawloom.give_up("a socket of an event loop")

    _make_ssl_transport = _make_datagram_transport = _make_read_pipe_transport = _make_socket_transport
    _make_write_pipe_transport = _make_subprocess_transport = _add_reader = _add_writer = _make_socket_transport
    add_reader = add_writer = sock_recv = sock_sendall = sock_connect = sock_accept = _make_socket_transport


def _new_event_loop() -> Any:
    return Loop() if _drawloom.is_controlled() else _native_new_event_loop()


def begin_execution() -> None:
    """Numbers begin anew."""
    global _numbers
    _numbers = itertools.count()


def _register(task: Any) -> None:
    """Tasks are remembered by their loop, and not in a set that forgets them whenever it pleases the interpreter."""
    task._loop.remembered.append(task)


def _all_tasks(loop: Any = None) -> set[Any]:
    loop = events.get_running_loop() if loop is None else loop
    return {task for task in loop.remembered if not task.done()}


def _unawaited(_coroutine: Any) -> None:
    """An execution may be over before what it was to await."""


PATCHES: list[Patch] = [
    (warnings, "_warn_unawaited_coroutine", _unawaited),
    (futures, "Future", Future),
    (asyncio, "Future", Future),
    (tasks, "Task", Task),
    (asyncio, "Task", Task),
    (tasks, "_GatheringFuture", _Gathering),
    (tasks, "set", all_of),
    (tasks, "_register_task", _register),
    (tasks, "all_tasks", _all_tasks),
    (asyncio, "all_tasks", _all_tasks),
    (events, "new_event_loop", _new_event_loop),
    (asyncio, "new_event_loop", _new_event_loop),
]


class _InOrder:
    """In place of trio's dice: of those that can go on, the order is not reversed now and then."""

    def random(self) -> float:
        return 1.0

    def uniform(self, low: float, _high: float) -> float:
        return low

    def shuffle(self, _batch: list[Any]) -> None:
        """They were put into the order in which they were made, for Hypothesis."""


def patches() -> list[Patch]:
    """What takes the place of what, where event loops are within threads."""
    trio = sys.modules.get("trio._core._run")
    if trio is None:
        return PATCHES
    return [*PATCHES, (trio, "_r", _InOrder()), (trio, "perf_counter", _clock.PATCHES["perf_counter"])]


class LoopProgram:
    """What every execution runs: coroutines in an event loop, which is a thread, and functions in threads of their own."""

    def __init__(self, setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any,
                 is_async: Callable[[Any], bool]) -> None:
        self.awaited = [worker for worker in workers if is_async(worker)]
        called = [worker for worker in workers if not is_async(worker)]
        self.patches = patches()
        self.workers = _drawloom.Workers(
            lambda: _finished(setup()),
            [self._run_loop, *called],
            ["event loop", *map(_naming.of_worker, called)],
            None if invariant is None else lambda state: _finished(invariant(state)),
        )

    def __call__(self) -> None:
        _sync.begin_execution()
        begin_execution()
        self.workers.run()

    def _run_loop(self, state: Any) -> None:
        asyncio.run(self._gathered(state))

    async def _gathered(self, state: Any) -> None:
        begun = [asyncio.create_task(worker(state), name=_naming.of_worker(worker)) for worker in self.awaited]
        for task in begun:
            await task

    def known(self) -> tuple[str, str | None]:
        """What a token has to say of it besides, and what is not known of it."""
        return f"~{THREADED}", None


THREADED = "threads"
"""In a token: the event loop is a thread."""


def _finished(value: Any) -> Any:
    """What a function of the test has come to, awaited if need be."""
    return asyncio.run(_awaited(value)) if hasattr(type(value), "__await__") else value


async def _awaited(value: Any) -> Any:
    return await value
