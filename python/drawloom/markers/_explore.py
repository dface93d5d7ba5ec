"""All orders in which threads can pass their markers."""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _drawloom
from .._invariant import broken_of
from .._result import Verdict
from .._torn_down import TornDown
from ._executor import REGISTRY, as_body
from ._run import Execution, MarkerDeadlock, begin_execution, check_real_time, under_control
from ._schedule import BEGINS, Schedule, Step, markers_of

Threads = Mapping[str, "Callable[..., Any] | tuple[Callable[..., Any], Sequence[str]]"]


@dataclass(frozen=True)
class MarkerResult:
    """The result of trying all orders of markers."""

    verdict: Verdict
    """`holds` only if every order was tried."""
    reason: str
    num_explored: int
    counterexample: Schedule | None = None
    """The first order that failed: `TraceExecutor` brings it about."""
    failures: list[tuple[int, Schedule]] = field(default_factory=list, repr=False)
    """Which order failed, counted from 1, and what it was."""
    explanation: str = field(default="", repr=False)
    exhausted: bool = False

    @property
    def property_holds(self) -> bool | None:
        """Whether the invariant holds in all orders; none if that cannot be said."""
        return {"holds": True, "fails": False}.get(self.verdict)

    def assert_holds(self) -> None:
        """Raises AssertionError unless every order was tried and none failed."""
        if self.verdict != "holds":
            raise AssertionError(self.explanation or self.reason)


class _Orders:
    """The program whose executions are the orders, and what they have come to."""

    def __init__(
        self,
        setup: Callable[[], Any],
        threads: Threads,
        invariant: Callable[[Any], Any],
        stop_on_first: bool,
        max_orders: int | None,
        timeout: float | None,
    ) -> None:
        self.setup, self.invariant, self.told_broken = setup, invariant, broken_of(invariant)
        self.bodies = {name: told[0] if isinstance(told, tuple) else told for name, told in threads.items()}
        self.expected = markers_of({name: told for name, told in threads.items() if isinstance(told, tuple)})
        self.stop_on_first, self.max_orders, self.timeout = stop_on_first, max_orders, timeout
        self.raised: BaseException | None = None
        self.begin()

    def begin(self) -> None:
        """Forgets the markers seen so far."""
        self.orders: set[tuple[Step, ...]] = set()
        self.failing: set[tuple[Step, ...]] = set()
        self.failures: list[tuple[int, Schedule]] = []
        self.explanation = ""
        self.unexpected: str | None = None
        self.took_too_long: str | None = None
        self.has_enough = False

    def __call__(self) -> None:
        begin_execution()
        self.execution, self.broken = Execution({}), None
        try:
            state = self.setup()
            self.execution = Execution({name: as_body(body, state) for name, body in self.bodies.items()})
            self.execution.run()
            if not self.execution.errors and _drawloom.is_broken(self.invariant(state)):
                self.broken = AssertionError(_drawloom.unobserved(lambda: self.told_broken(state)))
        except TornDown:
            raise
        except AssertionError as broken:
            self.broken = broken
        except BaseException as error:
            self.raised = error

    broken: AssertionError | None = None
    """That of the execution that runs: the invariant does not hold."""

    def ended(self, *told: Any) -> bool:
        """An execution is over; whether enough were made."""
        self.execution.ended(*told)
        if self.raised is None and self.execution.found in (None, "deadlock", "starvation", "out of time"):
            self._note(self.execution)
        return self.raised is not None or self.has_enough

    def _note(self, execution: Execution) -> None:
        stuck = execution.stuck(self.timeout)
        if stuck is not None and not isinstance(stuck, MarkerDeadlock):
            self.took_too_long, self.has_enough = str(stuck), True
            return
        steps = tuple(turn.step for turn in execution.turns if turn.step.is_marker)
        self.orders.add(steps)
        wrong = stuck or next(iter(execution.raised().values()), self.broken)
        if wrong is None:
            self.unexpected = self.unexpected or _unexpected(self.expected, steps)
        elif steps not in self.failing:
            self.failing.add(steps)
            made = [turn.step for turn in execution.turns]
            matters = any(step.marker_name == BEGINS for step in made)
            self.failures.append((len(self.orders), Schedule(made if matters else list(steps))))
            self.explanation = self.explanation or _explained(execution, wrong, len(self.orders))
            self.has_enough |= self.stop_on_first
        self.has_enough |= self.max_orders is not None and len(self.orders) >= self.max_orders


def explore_marker_interleavings(
    setup: Callable[[], Any],
    threads: Threads,
    invariant: Callable[[Any], Any],
    *,
    stop_on_first: bool = True,
    deadlock_timeout: float = 5.0,
    timeout: float | None = 10.0,
    max_orders: int | None = None,
) -> MarkerResult:
    """Tries every order in which `threads` can pass their markers, and asks `invariant` after each.

    A thread is a function that gets the result of `setup`. If its markers are given beside it, they must be the first ones
    that it reaches.
    """
    tried = _Orders(setup, threads, invariant, stop_on_first, max_orders, timeout)
    with under_control(timeout, deadlock_timeout) as limits:
        told = _drawloom.explore_markers(tried, REGISTRY.gates, *limits)
    lost = check_real_time(told) or tried.took_too_long
    if tried.raised is not None:
        raise tried.raised
    failed, explored = len(tried.failures), len(tried.orders)

    def result(verdict: Verdict, reason: str, exhausted: bool = False) -> MarkerResult:
        first = tried.failures[0][1] if failed else None
        return MarkerResult(verdict, reason, explored, first, tried.failures, tried.explanation, exhausted)

    if failed and stop_on_first:
        return result("fails", f"order {tried.failures[0][0]} fails")
    if lost is None and told["diverged"] and not tried.has_enough:
        lost = f"the same order of markers does not always lead to the same markers: {told['diverged']}"
    if lost is not None:
        return result("inconclusive", lost)
    if not told["exhausted"]:
        return result("fails" if failed else "no_bug_found", f"{failed} of {explored} orders fail, and more are left")
    reason = f"{failed} of all {explored} orders fail"
    if failed:
        return result("fails", reason, exhausted=True)
    if tried.unexpected is not None:
        return result("inconclusive", tried.unexpected)
    if told["uncontrolled"]:
        return result("no_bug_found", f"{reason}; but not under control: {told['uncontrolled']}")
    return result("holds", reason, exhausted=True)


async def async_explore_marker_interleavings(
    setup: Callable[[], Any], threads: Threads, invariant: Callable[[Any], Any], **options: Any
) -> MarkerResult:
    """The same for coroutine functions. The calling event loop waits meanwhile."""
    return explore_marker_interleavings(setup, threads, invariant, **options)


def _unexpected(expected: Mapping[str, Sequence[str]], steps: Sequence[Step]) -> str | None:
    for name, markers in expected.items():
        came = [step.marker_name for step in steps if step.execution_name == name]
        if came != list(markers):
            return f"{name} reaches the markers {came}, not {list(markers)}"
    return None


def _explained(execution: Execution, wrong: BaseException, explored: int) -> str:
    what = "".join(traceback.format_exception_only(type(wrong), wrong)).strip()
    failing = [name for name, error in execution.errors.items() if error is wrong]
    who = f"{failing[0]} raised " if failing else ""
    rows = [
        (
            step.execution_name,
            step.marker_name,
            f"{os.path.basename(file)}:{line}",
            linecache.getline(file, line).strip(),
        )
        for step, file, line in execution.turns
        if step.is_marker
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = ["  " + "  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]).rstrip() for row in rows]
    return "\n".join([f"{who}{what}", f"in order {explored} of markers:", "", *lines])
