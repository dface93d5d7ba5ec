"""Threads that pass markers in one order."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._places import MarkerRegistry
from ._run import Execution, ScheduleError, run_in_order
from ._schedule import Schedule, Step

REGISTRY = MarkerRegistry()
"""What is known of source files."""


class Script:
    """Picks the next thread by a schedule. After its end the threads finish one after the other."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.position = 0
        # Where the schedule says who begins and who goes on, nobody does so by himself.
        self.only_markers = all(step.is_marker for step in schedule.steps)

    @property
    def completed(self) -> bool:
        """Whether every step was made."""
        return self.position == len(self.schedule.steps)

    def find(self, able: Sequence[tuple[str, str]]) -> int | None:
        """Which of the ready threads is next, by thread and marker; None if all must wait."""
        steps = [Step(*turn) for turn in able]
        if self.completed:
            return 0
        on_the_way = [step for step in steps if not step.is_marker]
        if self.only_markers and on_the_way:
            # Whose marker comes first: it may be behind a lock that others want, too.
            names = dict.fromkeys(step.execution_name for step in self.schedule.steps[self.position :])
            ranks = {name: rank for rank, name in enumerate(names)}
            return steps.index(min(on_the_way, key=lambda step: ranks.get(step.execution_name, len(ranks))))
        for wanted in self.schedule.steps[self.position :]:
            if wanted in steps:
                return steps.index(wanted)
            if wanted.is_marker:
                return None
        return 0

    def passed(self, name: str, what: str) -> bool:
        """A thread continues; false if it is at a marker, and another thread is next."""
        made, position = Step(name, what), self.position
        while position < len(self.schedule.steps):
            wanted = self.schedule.steps[position]
            position += 1
            if wanted == made:
                self.position = position
                return True
            if wanted.is_marker:
                return not made.is_marker
        # Who was to go on did not have to wait, or nothing is said any more.
        return self.completed or not made.is_marker


def as_body(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """A thread's body of a function or coroutine function. A coroutine has an event loop of its own."""

    def body() -> Any:
        outcome = function(*args, **kwargs)
        return asyncio.run(outcome) if inspect.iscoroutine(outcome) else outcome

    return body


class TraceExecutor:
    """Runs threads so that they pass their markers in the order of `schedule`.

    All of them run to their first markers at once, in the order of their first steps. A marker that the schedule does not
    have at that point makes its thread wait for ever: then no thread can continue, and `ScheduleError` names the position
    of each. `deadlock_timeout` is the time until that error if a thread blocks outside Drawloom's control, for example in C
    code, or if other threads exist that it may be waiting for.
    """

    def __init__(self, schedule: Schedule, *, deadlock_timeout: float = 5.0) -> None:
        self.schedule = schedule
        self.deadlock_timeout = deadlock_timeout
        self.marker_registry = REGISTRY
        self.reset()

    def reset(self) -> None:
        """Forgets all threads, to start again."""
        self._bodies: dict[str, Callable[[], Any]] = {}
        self._run: Execution | None = None
        self.coordinator = Script(self.schedule)
        self.thread_errors: dict[str, BaseException] = {}

    @property
    def task_errors(self) -> dict[str, BaseException]:
        """What threads have raised, by name."""
        return self.thread_errors

    @property
    def threads(self) -> list[str]:
        """Their names."""
        return list(self._bodies)

    def run(
        self,
        threads: Mapping[str, Callable[..., Any]] | str,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Runs `threads`, functions by name, to their ends. `run(name, function)` adds one, to be run by `wait`."""
        if isinstance(threads, str):
            if target is None:
                raise TypeError("run(name, function) needs a function")
            self._bodies[threads] = as_body(target, *args, **(kwargs or {}))
            return
        if not threads:
            raise ValueError("there is no thread to run: threads is empty")
        for name, function in threads.items():
            if not callable(function):
                raise TypeError(f"thread {name!r} has a target that is not callable: {function!r}")
            self._bodies[name] = as_body(function)
        self.wait(timeout)

    def wait(self, timeout: float | None = None) -> None:
        """Runs all added threads to their end. Raises the first exception of a thread, or `ScheduleError`."""
        if self._run is not None:
            return
        unknown = {step.execution_name for step in self.schedule.steps} - set(self._bodies)
        if unknown:
            raise ScheduleError(f"the schedule names unknown threads: {', '.join(sorted(unknown))}")
        execution = self._run = Execution(self._bodies)
        try:
            run_in_order(execution, self.coordinator, self.marker_registry.gates, timeout, self.deadlock_timeout)
        finally:
            self.thread_errors = execution.raised()
        for error in self.thread_errors.values():
            raise error
        missed = [step for step in self.schedule.steps[self.coordinator.position :] if step.is_marker]
        if missed:
            raise ScheduleError(f"{missed[0].execution_name} ended without reaching marker {missed[0].marker_name!r}")


class AsyncTraceExecutor(TraceExecutor):
    """The same for coroutine functions: each has an event loop and a thread of its own."""

    def run(self, threads: Any, target: Any = None, *args: Any, timeout: float | None = 10.0, **kwargs: Any) -> None:
        super().run(threads, target, *args, timeout=timeout, **kwargs)


def frontrun(
    schedule: Schedule,
    threads: Mapping[str, Callable[..., Any]],
    thread_args: Mapping[str, Sequence[Any]] | None = None,
    thread_kwargs: Mapping[str, Mapping[str, Any]] | None = None,
    timeout: float | None = None,
    deadlock_timeout: float = 5.0,
) -> TraceExecutor:
    """Runs `threads` with their arguments, in the order of `schedule`."""
    executor = TraceExecutor(schedule, deadlock_timeout=deadlock_timeout)
    for name, function in threads.items():
        executor.run(name, function, (thread_args or {}).get(name, ()), (thread_kwargs or {}).get(name))
    executor.wait(timeout)
    return executor


def async_frontrun(
    schedule: Schedule,
    tasks: Mapping[str, Callable[..., Any]],
    task_args: Mapping[str, Sequence[Any]] | None = None,
    task_kwargs: Mapping[str, Mapping[str, Any]] | None = None,
    timeout: float | None = 10.0,
    deadlock_timeout: float = 5.0,
) -> TraceExecutor:
    """The same for coroutine functions."""
    return frontrun(schedule, tasks, task_args, task_kwargs, timeout, deadlock_timeout)
