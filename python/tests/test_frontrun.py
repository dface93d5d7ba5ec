"""Frontrun's names: what its documentation shows, and that verdicts can be trusted."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import drawloom.frontrun
from drawloom.frontrun import async_shuffler, explore, explore_async_random, explore_random
from drawloom.frontrun.async_bytecode import await_point
from drawloom.frontrun.bytecode import (
    controlled_interleaving,
    explore_interleavings,
    run_with_schedule,
    schedule_strategy,
)
from drawloom.frontrun.common import InconclusiveExploration, InterleavingResult, Schedule, Step
from drawloom.frontrun.dpor import explore_dpor
from drawloom.frontrun.trace_markers import TraceExecutor, explore_marker_interleavings

SHIM = Path(__file__).parent.parent / "frontrun-shim"


class Counter:
    def __init__(self, value=0):
        self.value = value
        self.lock = threading.Lock()

    def increment(self):
        temp = self.value  # frontrun: read_value
        self.value = temp + 1  # frontrun: write_value

    def locked(self):
        with self.lock:
            self.value += 1


RACY = [lambda c: c.increment(), lambda c: c.increment()]
SAFE = [lambda c: c.locked(), lambda c: c.locked()]


def two(counter):
    return counter.value == 2


@pytest.mark.parametrize("by", [explore_dpor, explore_interleavings, explore_random, explore])
def test_a_race_is_found_and_reproduced(by):
    result = by(setup=Counter, invariant=two, **{"workers" if by is explore else "threads": RACY})
    assert isinstance(result, InterleavingResult)
    assert result.property_holds is False and result.failure_kind == "invariant"
    assert (result.reproduction_attempts, result.reproduction_successes) == (10, 10)
    assert set(result.counterexample) == {0, 1} and result.failures
    assert "0.1 (increment)" in result.explanation and "temp = self.value" in result.explanation
    with pytest.raises(AssertionError, match="Counter of bob: BROKEN INVARIANT"):
        result.assert_holds("Counter of bob: ")


@pytest.mark.parametrize("by", [explore_dpor, explore_interleavings])
def test_what_is_right_holds(by):
    result = by(setup=Counter, threads=SAFE, invariant=two)
    assert result.property_holds is True and result.exhausted
    result.assert_holds()


def test_a_bound_that_was_reached_proves_nothing():
    result = explore_dpor(Counter, RACY, lambda c: True, max_executions=1)
    assert result.property_holds is None and "max_schedules reached" in result.inconclusive_reason
    with pytest.raises(InconclusiveExploration):
        result.assert_holds()
    result.assert_holds(allow_inconclusive=True)


def test_a_worker_that_raises_is_a_failure():
    def bad(counter):
        raise KeyError("gone")

    result = explore_dpor(Counter, [bad, bad], lambda c: True)
    assert (result.property_holds, result.failure_kind) == (False, "worker_error")


def test_one_worker_many_times():
    assert explore(Counter, lambda c: c.increment(), lambda c: c.value == 3, count=3).property_holds is False
    result = explore(Counter, Counter.locked, lambda c: c.value == 3, count=3, strategy="random", max_attempts=20)
    assert result.property_holds is True
    with pytest.raises(ValueError, match="'dpor' or 'random'"):
        explore(Counter, RACY, two, strategy="best")


def test_options_keep_their_meaning_or_are_refused():
    assert explore_dpor(Counter, SAFE, two, preemption_bound=None, detect_io=False, deadlock_timeout=1.0).property_holds
    with pytest.raises(NotImplementedError, match="detect_sql"):
        explore_dpor(Counter, SAFE, two, detect_sql=True)
    with pytest.raises(NotImplementedError, match="timers fire when no task can run"):
        explore_dpor(Counter, SAFE, two, clock="explored")
    with pytest.raises(TypeError, match="colour"):
        explore_dpor(Counter, SAFE, two, colour="red")


def test_what_is_not_serialisable_fails():
    racy = explore_dpor(Counter, RACY, serializable_invariant=lambda c: c.value)
    assert racy.property_holds is False and "no order of whole workers leads to this result" in racy.explanation
    assert explore_dpor(Counter, SAFE, serializable_invariant=True).property_holds is True


def test_instructions_are_scheduled():
    alternating = [0, 1] * 100
    values = {run_with_schedule(alternating, Counter, RACY).value for _ in range(5)}
    assert values == {1}
    assert run_with_schedule([0] * 300, Counter, RACY).value == 2
    assert run_with_schedule(alternating, Counter, SAFE).value == 2


def test_a_counterexample_is_followed():
    result = explore_dpor(Counter, RACY, two)
    assert run_with_schedule(result.counterexample, Counter, RACY).value == 1


def test_functions_are_interleaved():
    counter = Counter()
    with controlled_interleaving([0, 1] * 100, num_threads=2) as runner:
        runner.run([counter.increment, counter.increment])
    assert counter.value == 1


def test_schedules_are_drawn():
    hypothesis = pytest.importorskip("hypothesis")
    found = hypothesis.find(schedule_strategy(2, 10), lambda schedule: 1 in schedule)
    assert found == [1]


def test_markers_as_documented():
    counter = Counter()
    steps = [Step("t1", "read_value"), Step("t2", "read_value"), Step("t1", "write_value"), Step("t2", "write_value")]
    executor = TraceExecutor(Schedule(steps))
    executor.run("t1", counter.increment)
    executor.run("t2", counter.increment)
    executor.wait(timeout=5.0)
    assert counter.value == 1
    result = explore_marker_interleavings(
        setup=Counter,
        threads={
            "t1": (lambda c: c.increment(), ["read_value", "write_value"]),
            "t2": (lambda c: c.increment(), ["read_value", "write_value"]),
        },
        invariant=two,
    )
    assert result.property_holds is False and isinstance(result.counterexample, Schedule)


def test_threads_ask_for_their_turns():
    from drawloom.frontrun.trace_markers import MarkerRegistry, ThreadCoordinator

    coordinator = ThreadCoordinator(Schedule([Step("b", "first"), Step("a", "second"), Step("b", "third")]))
    order = ["first", "second", "third", "later"]
    asked, passed = [], {}

    def come(name, *markers):
        for marker in markers:
            asked.append(marker)
            coordinator.wait_for_turn(name, marker)
            # Who has passed may take its time; who comes next has only to wait until it has come to its turn.
            passed[marker] = set(asked)

    threads = [threading.Thread(target=come, args=a) for a in (("a", "second"), ("b", "first", "third", "later"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(passed, key=order.index) == order and coordinator.completed
    assert all(set(order[:order.index(marker)]) <= before for marker, before in passed.items())
    with pytest.raises(TimeoutError, match="waits for ever"):
        ThreadCoordinator(Schedule([Step("a", "x")]), deadlock_timeout=0.01).wait_for_turn("b", "x")

    registry, frame = MarkerRegistry(), sys._getframe()
    registry.scan_frame(frame)
    assert registry.get_marker(__file__, Counter.increment.__code__.co_firstlineno + 1) == "read_value"


def test_who_is_to_run_is_checked():
    executor = TraceExecutor(Schedule([Step("a", "x")]))
    with pytest.raises(ValueError, match="empty"):
        executor.run({})
    with pytest.raises(TypeError, match="callable"):
        executor.run({"a": "no function"})


def test_the_name_frontrun_can_be_had():
    code = """
import frontrun, frontrun.async_bytecode, frontrun.async_shuffler, frontrun.common, frontrun.dpor, frontrun.bytecode, frontrun.trace_markers, frontrun.async_trace_markers
import drawloom.frontrun.dpor
assert frontrun.dpor.explore_dpor is drawloom.frontrun.dpor.explore_dpor
print(*sorted(frontrun.__all__))
"""
    paths = {"PYTHONPATH": f"{SHIM}:{Path(drawloom.__file__).parent.parent}"}
    told = subprocess.run([sys.executable, "-c", code], env=paths, capture_output=True, text=True, check=True).stdout
    assert told.split() == sorted(drawloom.frontrun.__all__)


class AsyncCounter:
    value = 0

    async def increment(self):
        seen = self.value
        await await_point()
        self.value = seen + 1

    async def at_once(self):
        self.value += 1


ASYNC = [lambda c: c.increment(), lambda c: c.increment()]


def test_coroutines_are_explored_at_random():
    result = asyncio.run(explore_async_random(AsyncCounter, ASYNC, two, max_attempts=50, seed=42))
    assert result.property_holds is False and set(result.counterexample) == {0, 1}
    safe = asyncio.run(explore_async_random(AsyncCounter, [lambda c: c.at_once()] * 2, two))
    assert safe.property_holds is True and safe.exhausted


@pytest.mark.parametrize("strategy", ["dpor", "random"])
def test_coroutine_functions_make_an_exploration_to_be_awaited(strategy):
    async def explored(worker):
        return await explore(AsyncCounter, worker, two, count=2, strategy=strategy)

    assert asyncio.run(explored(AsyncCounter.increment)).property_holds is False
    assert asyncio.run(explored(AsyncCounter.at_once)).property_holds is True
    assert explore_dpor(AsyncCounter, [AsyncCounter.increment] * 2, two).property_holds is False


def test_coroutines_that_are_not_serialisable_fail():
    racy = explore_dpor(AsyncCounter, [AsyncCounter.increment] * 2, serializable_invariant=lambda c: c.value)
    assert racy.property_holds is False
    safe = explore_dpor(AsyncCounter, [AsyncCounter.at_once] * 2, serializable_invariant=lambda c: c.value)
    assert safe.property_holds is True


def test_awaits_are_scheduled():
    def run(schedule):
        return asyncio.run(async_shuffler.run_with_schedule(schedule, AsyncCounter, ASYNC)).value

    assert run([0, 1] * 15) == 1
    assert run([0] * 20 + [1] * 20) == 2
    assert run([]) in (1, 2)
    result = asyncio.run(explore_async_random(AsyncCounter, ASYNC, two))
    assert run(result.counterexample) == 1

    async def together():
        counter = AsyncCounter()
        async with async_shuffler.controlled_interleaving([0, 1] * 15, num_tasks=2) as runner:
            await runner.run([counter.increment, counter.increment])
        return counter.value

    assert asyncio.run(together()) == 1


def test_a_schedule_of_awaits_passes_over_who_waits():
    class Locked:
        def __init__(self):
            self.value, self.lock = 0, asyncio.Lock()

        async def increment(self):
            async with self.lock:
                seen = self.value
                await await_point()
                self.value = seen + 1

    for schedule in ([0, 1] * 15, [0, 1, 1, 1, 1, 1, 0], [1] * 40):
        assert asyncio.run(async_shuffler.run_with_schedule(schedule, Locked, ASYNC)).value == 2


def test_what_a_task_raises_under_a_schedule_is_raised():
    async def fails(_):
        await await_point()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(async_shuffler.run_with_schedule([0, 1], AsyncCounter, [fails, AsyncCounter.at_once]))


def test_processes_are_not_explored():
    with pytest.raises(NotImplementedError, match="processes"):
        drawloom.frontrun.explore_processes([], setup=None, invariant=None)
    with pytest.raises(NotImplementedError, match="processes"):
        explore(Counter, SAFE, two, execution="process")
