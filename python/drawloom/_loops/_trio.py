"""Runs of trio within threads: trio's own, cut in between any two instructions, which waits for other threads under control.

Where tasks of one run are all there is, `_async/_trio.py` does better: it explores the order of tasks at every checkpoint. Here
it is trio's: those that can go on do so in turn, or in the reverse of it, and which of the two is a choice of the schedule.
"""

from __future__ import annotations

import contextlib
import contextvars
import heapq
import itertools
import selectors
import sys
import threading
from collections.abc import Callable
from typing import Any

import outcome
import trio
from trio._core import _entry_queue

from .. import _clock, _drawloom, _naming
from .._async._trio_notes import IN_ORDER
from .._async._trio_parts import NoInstruments, NoSignals, Resolver, abandon, close
from .._patching import Patch
from .._torn_down import TornDown
from ._waker import Waker

# Of whose types only trio itself knows.
_run: Any = trio._core._run
_threads: Any = trio._threads
_EntryQueue: Any = _entry_queue.EntryQueue
_native_start, _native_setup = _threads.start_thread_soon, _run.setup_runner
_numbers = itertools.count()
# What trio waits for at most: for ever.
_LONGEST = 86400


class System:
    """In place of what waits for the system: which task waits for which socket."""

    def __init__(self) -> None:
        self.waker = Waker()

    def get_events(self, timeout: float) -> Any:
        try:
            return self.waker.select(timeout if timeout < _LONGEST else None)
        except TornDown:
            _leave(sys._getframe(1).f_locals.get("gen"))
            raise

    def process_events(self, events: Any) -> None:
        for key, ready in events:
            waiting = {event: task for event, task in key.data.items() if event & ready}
            self._set(key.fd, {event: task for event, task in key.data.items() if event not in waiting})
            for task in waiting.values():
                _run.reschedule(task)

    async def wait_readable(self, fd: Any) -> None:
        await self._wait(fd, selectors.EVENT_READ)

    async def wait_writable(self, fd: Any) -> None:
        await self._wait(fd, selectors.EVENT_WRITE)

    async def _wait(self, fd: Any, event: int) -> None:
        fd = fd if isinstance(fd, int) else fd.fileno()
        if event in self._waiting(fd):
            raise trio.BusyResourceError("another task is already reading / writing this fd")
        self._set(fd, {**self._waiting(fd), event: trio.lowlevel.current_task()})

        def abort(_: Any) -> Any:
            self._set(fd, {other: task for other, task in self._waiting(fd).items() if other != event})
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def notify_closing(self, fd: Any) -> None:
        fd = fd if isinstance(fd, int) else fd.fileno()
        waiting = self._waiting(fd)
        self._set(fd, {})
        for task in waiting.values():
            _run.reschedule(task, outcome.Error(trio.ClosedResourceError("another task closed this fd")))

    def _waiting(self, fd: int) -> dict[int, Any]:
        key = self.waker.get_map().get(fd)
        return {} if key is None else key.data

    def _set(self, fd: int, waiting: dict[int, Any]) -> None:
        if self._waiting(fd):
            self.waker.unregister(fd)
        if waiting:
            self.waker.register(fd, sum(waiting), waiting)

    def force_wakeup(self) -> None:
        self.waker.wake()

    def statistics(self) -> Any:
        return None

    def close(self) -> None:
        self.waker.close()


def _leave(passes: Any) -> None:
    """The execution is over, and so is the run, whatever its tasks have still to do."""
    tasks = sorted(_run.GLOBAL_RUN_CONTEXT.runner.tasks, key=lambda task: task._counter, reverse=True)
    nurseries = [nursery for task in tasks for nursery in task._child_nurseries]
    for task in tasks:
        with contextlib.suppress(BaseException):
            close(task)
    abandon(passes, tasks, nurseries)


class Wakeup:
    """In place of the socket by which threads wake a run, and the task in it that calls what they want."""

    def __init__(self, waker: Waker) -> None:
        self._waker = waker
        self._waiting: Any = None
        self._is_woken = False

    def wakeup_thread_and_signal_safe(self) -> None:
        self._waker.tell(self._wake, True)

    def _wake(self) -> None:
        self._is_woken, waiting, self._waiting = True, self._waiting, None
        if waiting is not None:
            _run.reschedule(waiting)

    async def wait_woken(self) -> None:
        if self._is_woken:
            await trio.lowlevel.checkpoint()
        else:
            self._waiting = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._abort)
        self._is_woken = False

    def _abort(self, _: Any) -> Any:
        self._waiting = None
        return trio.lowlevel.Abort.SUCCEEDED

    def wakeup_on_signals(self) -> None: ...

    def close(self) -> None: ...


class Deadlines(_run.Deadlines):  # type: ignore[misc]
    """Those of one instant come in the order in which they were set, wherever their scopes lie."""

    def add(self, deadline: float, scope: Any) -> None:
        self._active += 1
        heapq.heappush(self._heap, (deadline, next(_numbers), scope))


def _setup_runner(clock: Any, instruments: Any, restricted: bool, strict: bool) -> Any:
    """As `trio.run` begins."""
    if not _drawloom.is_controlled():
        return _native_setup(clock, instruments, restricted, strict)
    if hasattr(_run.GLOBAL_RUN_CONTEXT, "runner"):
        raise RuntimeError("Attempted to call run() from inside a run()")
    if instruments:
        NoInstruments().add_instrument(instruments[0])
    system = System()
    runner = _run.Runner(
        clock=_run.SystemClock() if clock is None else clock, instruments=_run.Instruments(()), io_manager=system,
        ki_manager=NoSignals(), strict_exception_groups=strict, system_context=contextvars.copy_context(),
        deadlines=Deadlines(), entry_queue=_EntryQueue(wakeup=Wakeup(system.waker)),
    )
    runner.asyncgens.install_hooks(runner)
    Resolver.be_used(runner)
    _run.GLOBAL_RUN_CONTEXT.runner = runner
    return runner


class _Dice:
    """In place of trio's: whether those that can go on do so in turn."""

    def random(self) -> float:
        batch = sys._getframe(1).f_locals.get("batch", ())
        return 1.0 if len(batch) < 2 or not _drawloom.is_parallel() or _drawloom.choose(2) == 0 else 0.0

    def uniform(self, low: float, _high: float) -> float:
        return low

    def shuffle(self, batch: list[Any]) -> None:
        """They were put into the order in which they were made, for Hypothesis."""
        if len(batch) > 1 and _drawloom.is_parallel() and _drawloom.choose(2):
            batch.reverse()


def _start_thread_soon(function: Callable[[], Any], deliver: Callable[[Any], object], name: str | None = None) -> None:
    """A thread for each call: those that trio keeps would outlast an execution."""
    if not _drawloom.is_controlled():
        _native_start(function, deliver, name)
        return
    threading.Thread(target=lambda: deliver(outcome.capture(function)), name=name, daemon=True).start()


PATCHES: list[Patch] = [
    (_run, "_r", _Dice()),
    (_run, "perf_counter", _clock.PATCHES["perf_counter"]),
    (_run, "setup_runner", _setup_runner),
    *IN_ORDER,
    (_threads, "start_thread_soon", _start_thread_soon),
    (trio.lowlevel, "start_thread_soon", _start_thread_soon),
]


def finished(value: Any) -> Any:
    """What a function of the test has come to, awaited if need be."""
    return trio.run(lambda: value) if hasattr(type(value), "__await__") else value


def run(workers: list[Callable[..., Any]], state: Any) -> None:
    """Runs coroutine functions as tasks, until all have ended."""
    trio.run(_gathered, workers, state)


async def _gathered(workers: list[Callable[..., Any]], state: Any) -> None:
    async with trio.open_nursery() as nursery:
        for worker in workers:
            nursery.start_soon(worker, state, name=_naming.of_worker(worker))
