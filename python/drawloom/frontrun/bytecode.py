"""Schedules of single instructions."""

from __future__ import annotations

import contextlib
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

from .. import _code
from ..markers._executor import as_body
from ..markers._run import Execution, run_in_order
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

    def find(self, able: Sequence[tuple[str, str]]) -> int:
        """Which of the ready threads is next, by thread and position."""
        threads = [int(name) for name, _ in able]
        for wanted in self.schedule[self.position :]:
            if wanted in threads:
                return threads.index(wanted)
        turn = max(self.position, len(self.schedule)) + 1
        return threads.index(min(threads, key=lambda thread: (thread - turn) % self.num_threads))

    def passed(self, name: str, _what: str) -> bool:
        """A thread continues, because the scheduled one was blocked."""
        if int(name) in self.schedule[self.position :]:
            self.position = self.schedule.index(int(name), self.position) + 1
        else:
            self.position = max(self.position, len(self.schedule)) + 1
        return True


def _gates(code: CodeType) -> dict[int, Any] | None:
    """Whether code is under test: then each of its instructions is a place to stop at."""
    return None if code.co_filename.startswith(_FOREIGN) else {}


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
        execution = Execution(bodies)
        try:
            run_in_order(execution, self.scheduler, _gates, timeout, self.deadlock_timeout, every_instruction=True)
        finally:
            self.errors = {int(name): error for name, error in execution.raised().items()}
        for error in self.errors.values():
            raise error


@contextlib.contextmanager
def controlled_interleaving(schedule: Sequence[int], num_threads: int = 2) -> Iterator[BytecodeShuffler]:
    """What runs functions under `schedule`."""
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
    state = setup()
    scheduler = OpcodeScheduler(schedule, len(threads))
    BytecodeShuffler(scheduler, deadlock_timeout).run(threads, [(state,)] * len(threads), timeout=timeout)
    return state


def schedule_strategy(num_threads: int, max_ops: int = 300) -> Any:
    """A Hypothesis strategy of schedules of instructions."""
    from hypothesis import strategies

    return strategies.lists(strategies.integers(0, num_threads - 1), min_size=1, max_size=max_ops)
