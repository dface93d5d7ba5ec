"""Schedules of single instructions."""

from __future__ import annotations

import contextlib
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from .. import _code, _explore
from ..markers import _locks
from ..markers._executor import REGISTRY, as_body
from ..markers._run import Run, Task
from ._api import StepSchedule, explore_interleavings, explore_random
from .common import InterleavingResult

__all__ = [
    "BytecodeShuffler",
    "InterleavingResult",
    "OpcodeScheduler",
    "controlled_interleaving",
    "explore_interleavings",
    "explore_random",
    "run_with_schedule",
    "schedule_strategy",
]

_FOREIGN = ("<frozen", _code.PACKAGE, *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")))


class OpcodeScheduler:
    """Picks who executes the next instruction: `schedule` has the numbers of threads. Who has ended or waits is passed
    over. When the schedule is over, or after `max_ops` instructions, they take turns."""

    def __init__(self, schedule: Sequence[int], num_threads: int = 2, max_ops: int | None = None) -> None:
        self.schedule, self.num_threads = list(schedule)[:max_ops], num_threads
        self.position = 0

    def __call__(self, able: list[Task]) -> Task:
        while self.position < len(self.schedule):
            wanted = str(self.schedule[self.position])
            self.position += 1
            for task in able:
                if task.name == wanted:
                    return task
        self.position += 1
        return min(able, key=lambda task: (int(task.name) - self.position) % self.num_threads)


class _Instructions(Run):
    """Each instruction of code under test is a marker."""

    def run(self, timeout: float | None = None) -> None:
        with self._monitored() if sys.version_info >= (3, 12) else contextlib.nullcontext():
            super().run(timeout)

    @contextlib.contextmanager
    def _monitored(self) -> Iterator[None]:
        """From CPython 3.12 on: there it depends on other threads which instructions a trace function is told of."""
        monitoring = sys.monitoring
        monitoring.use_tool_id(_explore.TOOL, "drawloom")
        monitoring.register_callback(_explore.TOOL, monitoring.events.INSTRUCTION, self._on_instruction)
        monitoring.set_events(_explore.TOOL, monitoring.events.INSTRUCTION)
        try:
            yield
        finally:
            monitoring.set_events(_explore.TOOL, 0)
            monitoring.register_callback(_explore.TOOL, monitoring.events.INSTRUCTION, None)
            monitoring.free_tool_id(_explore.TOOL)

    def _on_instruction(self, code: CodeType, _offset: int) -> Any:
        if code.co_filename.startswith(_FOREIGN):
            return sys.monitoring.DISABLE
        self._stop_at(sys._getframe(1))
        return None

    def _follow(self) -> None:
        if sys.version_info < (3, 12):
            super()._follow()

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename.startswith(_FOREIGN):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._trace_instructions

    def _trace_instructions(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "opcode":
            self._stop_at(frame)
        return self._trace_instructions

    def _stop_at(self, frame: FrameType) -> None:
        task = self.task()
        if task is not None and not task.pausing:
            task.marker, task.place = "instruction", (frame.f_code.co_filename, frame.f_lineno)
            self._pause(task, "marker")


class BytecodeShuffler:
    """Runs functions under a schedule of instructions."""

    def __init__(self, scheduler: OpcodeScheduler, deadlock_timeout: float = 5.0) -> None:
        self.scheduler = scheduler
        self.deadlock_timeout = deadlock_timeout
        self.errors: dict[int, BaseException] = {}

    def run(
        self,
        funcs: Sequence[Callable[..., Any]],
        args: Sequence[Sequence[Any]] | None = None,
        kwargs: Sequence[dict[str, Any]] | None = None,
        timeout: float | None = 10.0,
    ) -> None:
        """Raises what the first of them raised, or TimeoutError if they cannot end."""
        bodies = {
            str(i): as_body(function, *(args[i] if args else ()), **(kwargs[i] if kwargs else {}))
            for i, function in enumerate(funcs)
        }
        run = _Instructions(bodies, self.scheduler, REGISTRY, self.deadlock_timeout)
        try:
            run.run(timeout)
        finally:
            self.errors = {i: task.error for i, task in enumerate(run.tasks) if task.error is not None}
        for error in self.errors.values():
            raise error


@contextlib.contextmanager
def controlled_interleaving(schedule: Sequence[int], num_threads: int = 2) -> Iterator[BytecodeShuffler]:
    """What runs functions under `schedule`."""
    with _locks.watched():
        yield BytecodeShuffler(OpcodeScheduler(schedule, num_threads))


def run_with_schedule(
    schedule: Sequence[int],
    setup: Callable[[], Any],
    threads: Sequence[Callable[..., Any]],
    timeout: float | None = 5.0,
    detect_io: bool = True,
    debug: bool = False,
    deadlock_timeout: float = 5.0,
    **_options: Any,
) -> Any:
    """What `setup` returned, after `threads` have run under `schedule`: one of instructions, or a counterexample."""
    if isinstance(schedule, StepSchedule):
        return schedule.replayed(setup, threads)
    with _locks.watched():
        state = setup()
    scheduler = OpcodeScheduler(schedule, len(threads))
    BytecodeShuffler(scheduler, deadlock_timeout).run(threads, [(state,)] * len(threads), timeout=timeout)
    return state


def schedule_strategy(num_threads: int, max_ops: int = 300) -> Any:
    """A Hypothesis strategy of schedules of instructions."""
    from hypothesis import strategies

    return strategies.lists(strategies.integers(0, num_threads - 1), min_size=1, max_size=max_ops)
