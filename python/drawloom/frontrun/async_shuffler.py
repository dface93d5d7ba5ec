"""Schedules of tasks, from await to await."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from typing import Any

from ._api import StepSchedule, as_coroutine_function, explore_async_random
from .bytecode import schedule_strategy as _of_threads
from .common import InterleavingResult

__all__ = [
    "AsyncShuffler",
    "AwaitScheduler",
    "InterleavingResult",
    "await_point",
    "controlled_interleaving",
    "explore_async_random",
    "explore_interleavings",
    "run_with_schedule",
    "schedule_strategy",
]

explore_interleavings = explore_async_random
_task_id_var: contextvars.ContextVar[int] = contextvars.ContextVar("task")
# How many times all others are asked before one that does not come is passed over: it waits for something else.
_PATIENCE = 20


async def await_point() -> None:
    """A point at which other tasks may run."""
    await asyncio.sleep(0)


class AwaitScheduler:
    """Whose turn it is after each await: `schedule` has the numbers of tasks. Tasks that have ended or
    wait are skipped; after the end of the schedule, all tasks run freely."""

    def __init__(self, schedule: Sequence[int], num_tasks: int = 2, deadlock_timeout: float = 5.0) -> None:
        self.schedule, self.num_tasks = list(schedule), num_tasks
        self._index, self._done, self._finished = 0, set[int](), False
        self._error: BaseException | None = None

    @property
    def had_error(self) -> bool:
        return self._error is not None

    async def pause(self, task: int) -> None:
        """Waits until it is this task's turn."""
        waited = 0
        while not self._is_turn_of(task):
            before = self._index
            await asyncio.sleep(0)
            waited = waited + 1 if self._index == before else 0
            if waited > _PATIENCE * self.num_tasks:
                self._index += 1

    def _is_turn_of(self, task: int) -> bool:
        while self._index < len(self.schedule) and self.schedule[self._index] in self._done:
            self._index += 1
        self._finished = self._finished or self._index >= len(self.schedule)
        if self._finished:
            return True
        is_turn = self.schedule[self._index] == task
        self._index += is_turn
        return is_turn

    async def _mark_done(self, task: int) -> None:
        self._done.add(task)

    async def _report_error(self, error: BaseException) -> None:
        self._error, self._finished = self._error or error, True


class _Paced:
    """A coroutine that waits for its turn whenever it could go on."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], scheduler: AwaitScheduler, task: int) -> None:
        self.coroutine, self.scheduler, self.task = coroutine, scheduler, task

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, thrown = self.coroutine.__await__(), None
        while True:
            yield from self.scheduler.pause(self.task).__await__()
            try:
                waits_for = steps.send(None) if thrown is None else steps.throw(thrown)
            except StopIteration as end:
                return end.value
            thrown = None
            try:
                yield waits_for
            except BaseException as exception:  # whatever it is, it is meant for the coroutine
                thrown = exception


class AsyncShuffler:
    """Runs coroutine functions under a schedule."""

    def __init__(self, scheduler: AwaitScheduler, deadlock_timeout: float = 5.0) -> None:
        self.scheduler = scheduler
        self.errors: dict[int, BaseException] = {}

    async def run(
        self,
        funcs: Sequence[Callable[..., Any]],
        args: Sequence[Sequence[Any]] | None = None,
        kwargs: Sequence[dict[str, Any]] | None = None,
        timeout: float | None = 10.0,
    ) -> None:
        """Raises what the first of them raised, or TimeoutError if they do not end."""
        calls = [(f, args[i] if args else (), kwargs[i] if kwargs else {}) for i, f in enumerate(funcs)]
        tasks = [asyncio.ensure_future(self._run(i, *call)) for i, call in enumerate(calls)]
        try:
            await asyncio.wait_for(asyncio.gather(*tasks), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError("tasks do not end under this schedule") from None

    async def _run(self, task: int, function: Callable[..., Any], args: Sequence[Any], named: dict[str, Any]) -> None:
        _task_id_var.set(task)
        try:
            await _Paced(function(*args, **named), self.scheduler, task)
        except Exception as error:
            self.errors[task] = error
            await self.scheduler._report_error(error)
            raise
        finally:
            await self.scheduler._mark_done(task)


@contextlib.asynccontextmanager
async def controlled_interleaving(schedule: Sequence[int], num_tasks: int = 2) -> AsyncIterator[AsyncShuffler]:
    """What runs coroutine functions under `schedule`."""
    yield AsyncShuffler(AwaitScheduler(schedule, num_tasks))


async def run_with_schedule(
    schedule: Sequence[int],
    setup: Callable[[], Any],
    tasks: Sequence[Callable[..., Any]],
    timeout: float | None = 5.0,
    deadlock_timeout: float = 5.0,
    **_options: Any,
) -> Any:
    """What `setup` returned, after `tasks` have run under `schedule`: one of awaits, or a counterexample."""
    if isinstance(schedule, StepSchedule):
        return schedule.replayed(setup, [as_coroutine_function(task) for task in tasks])
    state = setup()
    await AsyncShuffler(AwaitScheduler(schedule, len(tasks))).run(tasks, [(state,)] * len(tasks), timeout=timeout)
    return state


def schedule_strategy(num_tasks: int, max_ops: int = 100) -> Any:
    """A Hypothesis strategy of schedules of tasks."""
    return _of_threads(num_tasks, max_ops)
