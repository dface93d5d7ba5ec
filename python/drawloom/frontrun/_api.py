"""Explorations by the names of Frontrun."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .. import _explore, _naming
from .._async._explore import is_async
from .._result import Finding, Result
from . import _options
from ._serial import serialisable
from .common import InterleavingResult

Workers = Sequence[Callable[..., Any]]
ENOUGH = 2000


class StepSchedule(list[int]):
    """Who makes each step, by number of worker. `run_with_schedule` follows the very execution."""

    token = ""
    name = ""

    def replayed(self, setup: Callable[[], Any], workers: Workers) -> Any:
        """What `setup` returned, after `workers` have run in this very order."""
        states: list[Any] = []

        def kept() -> Any:
            states.append(setup())
            return states[-1]

        _explore.explore(kept, workers, None, name=self.name, replay=self.token)
        return states[-1]


def explore(
    setup: Callable[[], Any],
    workers: Workers | Callable[..., Any],
    invariant: Callable[[Any], Any] | None = None,
    *,
    count: int | None = None,
    strategy: str = "dpor",
    **options: Any,
) -> Any:
    """As in Frontrun 0.5 and later: `strategy` is `dpor` or `random`. With coroutine functions, to be awaited."""
    if callable(workers):
        if count is None:
            raise TypeError("one callable as workers needs count")
        workers = [workers] * count
    strategies: dict[str, Callable[..., Any]] = {"dpor": explore_dpor, "random": explore_random}
    by = strategies.get(strategy)
    if by is not None:
        result = by(setup, workers, invariant, **options)
        return _awaitable(result) if any(map(is_async, workers)) else result
    raise ValueError(f"strategy is 'dpor' or 'random', not {strategy!r}")


def explore_dpor(
    setup: Callable[[], Any],
    threads: Workers,
    invariant: Callable[[Any], Any] | None = None,
    max_executions: int | None = None,
    preemption_bound: int | None = 2,
    *,
    stop_on_first: bool = True,
    reproduce_on_failure: int = 10,
    total_timeout: float | None = None,
    serializable_invariant: bool | Callable[[Any], Any] = False,
    **options: Any,
) -> InterleavingResult:
    """Every behaviour once."""
    _options.check({**options, "preemption_bound": preemption_bound}, "explore_dpor")
    invariant = serialisable(setup, threads, invariant, serializable_invariant)
    asked: dict[str, Any] = {"max_schedules": max_executions, "timeout": _duration(total_timeout), "keep_going": not stop_on_first}
    name = _naming.of_exploration(setup, threads)
    result = _explore.explore(setup, threads, invariant, strategy="exhaustive", name=name, **asked)
    return _told(result, name, reproduce_on_failure)


def explore_random(
    setup: Callable[[], Any],
    threads: Workers,
    invariant: Callable[[Any], Any] | None = None,
    max_attempts: int = 200,
    max_ops: int | None = None,
    timeout_per_run: float = 5.0,
    seed: int | None = None,
    *,
    reproduce_on_failure: int = 10,
    total_timeout: float | None = None,
    serializable_invariant: bool | Callable[[Any], Any] = False,
    **options: Any,
) -> InterleavingResult:
    """`max_attempts` random executions; then, if none of them fails, whether none could.

    Random executions prove nothing. So that `property_holds` is not none of every program that is right, up to ten
    times as many executions, and at least `ENOUGH`, are made to see all behaviours.
    """
    _options.check(options, "explore_random")
    invariant = serialisable(setup, threads, invariant, serializable_invariant)
    name = _naming.of_exploration(setup, threads)
    asked: dict[str, Any] = {"name": name, "timeout": _duration(total_timeout)}
    result = _explore.explore(setup, threads, invariant, strategy="random", iterations=max_attempts, seed=seed, **asked)
    if result.verdict == "no_bug_found":
        most = max(10 * max_attempts, ENOUGH)
        every = _explore.explore(setup, threads, invariant, strategy="exhaustive", max_schedules=most, **asked)
        result = every if every.verdict in ("holds", "fails") else result
    return _told(result, name, reproduce_on_failure)


def explore_interleavings(
    setup: Callable[[], Any],
    threads: Workers,
    invariant: Callable[[Any], Any] | None = None,
    max_attempts: int = 200,
    max_ops: int | None = 300,
    timeout_per_run: float = 5.0,
    seed: int | None = None,
    debug: bool = False,
    **options: Any,
) -> InterleavingResult:
    """As `explore_random`."""
    return explore_random(setup, threads, invariant, max_attempts, max_ops, timeout_per_run, seed, **options)


async def _awaitable(result: InterleavingResult) -> InterleavingResult:
    return result


async def explore_async_random(
    setup: Callable[[], Any],
    tasks: Workers,
    invariant: Callable[[Any], Any] | None = None,
    max_attempts: int = 200,
    max_ops: int | None = None,
    timeout_per_run: float = 5.0,
    seed: int | None = None,
    **options: Any,
) -> InterleavingResult:
    """As `explore_random`, of functions that return coroutines."""
    workers = [as_coroutine_function(task) for task in tasks]
    return explore_random(setup, workers, invariant, max_attempts, max_ops, timeout_per_run, seed, **options)


def as_coroutine_function(function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """A coroutine function that awaits what `function` returns: lambdas are often given."""
    if is_async(function):
        return function

    async def awaits(*arguments: Any, **named: Any) -> Any:
        return await function(*arguments, **named)

    awaits.__name__ = _naming.of_worker(function) or awaits.__name__
    return awaits


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else f"{max(1, int(seconds * 1000))}ms"


_KINDS = {"exception": "worker_error", "starvation": "deadlock"}


def _told(result: Result, name: str, replays: int) -> InterleavingResult:
    told = InterleavingResult(
        property_holds={"holds": True, "fails": False}.get(result.verdict),
        num_explored=result.executions,
        unique_interleavings=result.executions,
        exhausted=result.exhausted,
    )
    if result.verdict != "fails":
        told.explanation = None if told.property_holds else result.reason
        told.inconclusive_reason = told.explanation
        return told
    first = result.findings[0]
    told.failures = [(i + 1, _schedule(finding, name)) for i, finding in enumerate(result.findings)]
    told.counterexample = told.failures[0][1]
    told.explanation = first.report
    told.failure_kind = _KINDS.get(first.kind, first.kind)
    told.reproduction_attempts = replays if first.token else 0
    again = (result.replay().verdict == "fails" for _ in range(told.reproduction_attempts))
    told.reproduction_successes = sum(again)
    return told


def _schedule(finding: Finding, name: str) -> StepSchedule:
    # Main is nobody's worker; who was started by one counts as that one.
    steps = (path.split(".") for path in finding.schedule)
    schedule = StepSchedule(int(step[1]) - 1 for step in steps if len(step) > 1)
    schedule.token, schedule.name = finding.token, name
    return schedule
