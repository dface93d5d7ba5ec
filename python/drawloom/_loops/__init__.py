"""Event loops within threads: asyncio's own, which waits for other threads under control.

What it runs is the standard library's code, seen as any other: tasks and futures in Python, callbacks first in, first out.
Where tasks of one loop are all there is, `_async/_loop.py` does better: it explores the order of callbacks, too.
"""

from __future__ import annotations

import asyncio
import heapq
import importlib
import itertools
import socket
import sys
import warnings
from asyncio import events, futures, tasks
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import _drawloom, _naming, _running, _sync
from .._async._loop_waits import OF_LOCKS
from .._async._places import all_of
from .._async._waits import Book
from .._invariant import broken_of
from .._patching import Patch
from ._waker import Waker

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


class Loop(asyncio.SelectorEventLoop):
    """The event loop of a thread. What its thread does is nobody else's business; others come in by the waker."""

    def __init__(self) -> None:
        waker = Waker()
        super().__init__(waker)
        waker.loop = self
        # Who has which of its locks.
        self.book = Book()
        self._owner = _drawloom.task()
        self.remembered: list[Any] = []
        self._clock_resolution = 1e-9

    def _make_self_pipe(self) -> None:
        """Others come in by the waker."""

    _close_self_pipe = _make_self_pipe

    def run_forever(self) -> None:
        self._owner = _drawloom.task()
        try:
            super().run_forever()
        finally:
            self._forget_running_task()

    def _forget_running_task(self) -> None:
        """An execution may be over in the midst of a task, and its thread goes on."""
        if events._get_running_loop() is None:
            _running.resume((self, None))
            _running.set_aside()

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

    def _write_to_self(self) -> None:
        self._selector.tell(int, True)

    async def getaddrinfo(self, *arguments: Any, **options: Any) -> Any:
        return socket.getaddrinfo(*arguments, **options)

    def _make_pipe_transport(self, *_args: Any, **_options: Any) -> Any:
        _drawloom.give_up("a process or a pipe of an event loop")

    _make_read_pipe_transport = _make_write_pipe_transport = _make_subprocess_transport = _make_pipe_transport


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


def _of_running_tasks() -> list[Patch]:
    """Which task of a thread runs: from 3.14 on tasks in Python keep that among themselves, and who asks is not told."""
    if sys.version_info < (3, 14):
        return []
    names = "enter_task", "leave_task", "swap_current_task", "register_eager_task", "unregister_eager_task"
    natives: list[Patch] = [(tasks, f"_py_{name}", getattr(tasks, f"_{name}")) for name in names]
    return [*natives, (tasks, "_py_register_task", _register)]


def _unawaited(_coroutine: Any) -> None:
    """An execution may be over before what it was to await."""


PATCHES: list[Patch] = [
    *OF_LOCKS,
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
    *_of_running_tasks(),
]


def patches() -> list[Patch]:
    """What takes the place of what, where event loops are within threads."""
    return PATCHES if "trio._core._run" not in sys.modules else [*PATCHES, *_of_trio().PATCHES]


def _of_trio() -> Any:
    """The module that knows how trio runs within a thread."""
    return importlib.import_module("._trio", __package__)


class LoopProgram:
    """What every execution runs: coroutines in an event loop, which is a thread, and functions in threads of their own."""

    def __init__(self, setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any,
                 is_async: Callable[[Any], bool], library: str) -> None:
        self.awaited = [worker for worker in workers if is_async(worker)]
        called = [worker for worker in workers if not is_async(worker)]
        self.patches = patches()
        finished = _finished if library == "asyncio" else _of_trio().finished
        self.run = _run if library == "asyncio" else _of_trio().run
        self.workers = _drawloom.Workers(
            lambda: finished(setup()),
            [self._run_loop, *called],
            ["event loop", *map(_naming.of_worker, called)],
            None if invariant is None else lambda state: finished(invariant(state)),
            broken_of(invariant),
        )

    def __call__(self) -> None:
        _sync.begin_execution()
        begin_execution()
        self.workers.run()

    def _run_loop(self, state: Any) -> None:
        self.run(self.awaited, state)

    def known(self) -> tuple[str, str | None]:
        """What a token has to say of it besides, and what is not known of it."""
        return f"~{THREADED}", None


THREADED = "threads"
"""In a token: the event loop is a thread."""


def _run(workers: list[Callable[..., Any]], state: Any) -> None:
    asyncio.run(_gathered(workers, state))


async def _gathered(workers: list[Callable[..., Any]], state: Any) -> None:
    begun = [asyncio.create_task(worker(state), name=_naming.of_worker(worker)) for worker in workers]
    for task in begun:
        await task


def _finished(value: Any) -> Any:
    """What a function of the test has come to, awaited if need be."""
    return asyncio.run(_awaited(value)) if hasattr(type(value), "__await__") else value


async def _awaited(value: Any) -> Any:
    return await value
