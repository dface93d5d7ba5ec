"""All orders in which threads can pass their markers."""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._result import Verdict
from . import _locks
from ._executor import REGISTRY, as_body
from ._run import MarkerDeadlock, Run, ScheduleError, Task
from ._schedule import Schedule, Step, markers_of

Threads = Mapping[str, "Callable[..., Any] | tuple[Callable[..., Any], Sequence[str]]"]


@dataclass(frozen=True)
class MarkerResult:
    """What all orders of markers came to."""

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


class _Walk:
    """Goes through all orders depth first: each run repeats the last one up to the point where it differs."""

    def __init__(self, only_markers: bool) -> None:
        self.path: list[list[int]] = []  # of each choice: which was made, and how many there were
        self.at = 0
        self.diverged = False
        # Who begins first, and who gets a lock, decides nothing as long as nobody has to wait for one.
        self.only_markers = only_markers

    def __call__(self, able: list[Task]) -> Task:
        begins = [task for task in able if task.state != "marker"] if self.only_markers else []
        if begins:
            return begins[0]
        if self.at == len(self.path):
            self.path.append([0, len(able)])
        choice = self.path[self.at]
        self.diverged |= choice[1] != len(able)
        self.at += 1
        return able[min(choice[0], len(able) - 1)]

    def advance(self) -> bool:
        """To the next order; false if there is none."""
        self.at = 0
        while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
            self.path.pop()
        if self.path:
            self.path[-1][0] += 1
        return bool(self.path)


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

    Of a thread, the function is enough, which is given what `setup` returned. Where its markers are given beside it,
    they have to be those that it comes to first.
    """
    bodies = {name: told[0] if isinstance(told, tuple) else told for name, told in threads.items()}
    expected = markers_of({name: told for name, told in threads.items() if isinstance(told, tuple)})
    walk, outside = _Walk(only_markers=True), None
    orders: set[tuple[Step, ...]] = set()
    failing: set[tuple[Step, ...]] = set()
    uncontrolled = False
    failures: list[tuple[int, Schedule]] = []
    explanation = ""

    def result(verdict: Verdict, reason: str, exhausted: bool = False) -> MarkerResult:
        first = failures[0][1] if failures else None
        return MarkerResult(verdict, reason, len(orders), first, failures, explanation, exhausted)

    while True:
        run, wrong = _once(setup, bodies, invariant, walk, deadlock_timeout, timeout)
        if walk.diverged and not run.uncontrolled:
            return result("inconclusive", "the same order of markers does not always lead to the same markers")
        steps = [step for step, _, _ in run.passed if step.is_marker]
        if (run.contended or run.uncontrolled) and walk.only_markers:
            walk, outside = _Walk(only_markers=False), None
            for seen in (orders, failing, failures):
                seen.clear()
            explanation = ""
            continue
        uncontrolled |= run.uncontrolled
        orders.add(tuple(steps))
        explored = len(orders)
        if wrong is None:
            outside = outside or _unexpected(expected, steps)
        elif isinstance(wrong, ScheduleError) and not isinstance(wrong, MarkerDeadlock):
            return result("inconclusive", str(wrong))
        else:
            if tuple(steps) not in failing:
                failing.add(tuple(steps))
                made = steps if walk.only_markers else [step for step, _, _ in run.passed]
                failures.append((explored, Schedule(made)))
            explanation = explanation or _explained(run, wrong, explored)
            if stop_on_first:
                return result("fails", f"order {explored} fails")
        if not walk.advance():
            break
        if max_orders is not None and explored >= max_orders:
            verdict: Verdict = "fails" if failures else "no_bug_found"
            return result(verdict, f"{len(failures)} of {explored} orders fail, and more are left")
    reason = f"{len(failures)} of all {explored} orders fail"
    if failures:
        return result("fails", reason, exhausted=True)
    if outside is not None:
        return result("inconclusive", outside)
    if uncontrolled:
        return result("no_bug_found", f"{reason}; but threads wait for what is not under control: a lock made before?")
    return result("holds", reason, exhausted=True)


async def async_explore_marker_interleavings(
    setup: Callable[[], Any], threads: Threads, invariant: Callable[[Any], Any], **options: Any
) -> MarkerResult:
    """The same for coroutine functions. The calling event loop waits meanwhile."""
    return explore_marker_interleavings(setup, threads, invariant, **options)


def _once(
    setup: Callable[[], Any],
    bodies: Mapping[str, Callable[..., Any]],
    invariant: Callable[[Any], Any],
    walk: _Walk,
    deadlock_timeout: float,
    timeout: float | None,
) -> tuple[Run, BaseException | None]:
    with _locks.watched():
        state = setup()
    threads = {name: as_body(body, state) for name, body in bodies.items()}
    run = Run(threads, walk, REGISTRY, deadlock_timeout)
    try:
        run.run(timeout)
    except ScheduleError as stuck:
        return run, stuck
    for task in run.tasks:
        if task.error is not None:
            return run, task.error
    try:
        if invariant(state) is False:
            return run, AssertionError("the invariant does not hold")
    except AssertionError as broken:
        return run, broken
    return run, None


def _unexpected(expected: Mapping[str, Sequence[str]], steps: Sequence[Step]) -> str | None:
    for name, markers in expected.items():
        came = [step.marker_name for step in steps if step.execution_name == name]
        if came != list(markers):
            return f"{name} comes to the markers {came}, and not to {list(markers)}"
    return None


def _explained(run: Run, wrong: BaseException, explored: int) -> str:
    what = "".join(traceback.format_exception_only(type(wrong), wrong)).strip()
    failing = [task.name for task in run.tasks if task.error is wrong]
    who = f"{failing[0]} raised " if failing else ""
    rows = [
        (
            step.execution_name,
            step.marker_name,
            f"{os.path.basename(file)}:{line}",
            linecache.getline(file, line).strip(),
        )
        for step, file, line in run.passed
        if step.is_marker
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = ["  " + "  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]).rstrip() for row in rows]
    return "\n".join([f"{who}{what}", f"in order {explored} of markers:", "", *lines])
