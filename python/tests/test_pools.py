"""Pools of threads."""

import sys
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait

import drawloom
import pytest
from common import Box, Cell, exhaust


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


BOUND = {"max_schedules": 500}


def add(cell):
    value = cell.value
    cell.value = value + 1


def add_with(lock, cell):
    with lock:
        add(cell)


def idle(_):
    """So that there is a choice."""


def drawn(setup, workers, invariant):
    return drawloom.explore(setup, workers, invariant, strategy="random", executions=300, shrink=False, fixes=0)


def not_refuted(result):
    assert result.verdict in ("holds", "no_bug_found"), result.explanation
    return True


def test_jobs_of_a_pool_race():
    def work(guarded):
        def run(cell):
            lock = threading.Lock()
            with ThreadPoolExecutor(2) as pool:
                for _ in range(2):
                    pool.submit(add_with, lock, cell) if guarded else pool.submit(add, cell)

        return run

    result = exhaust(Cell, [work(False)], lambda c: c.value == 2, **BOUND)
    assert result.verdict == "fails", result.explanation
    assert result.replay().verdict == "fails"
    assert not_refuted(exhaust(Cell, [work(True)], lambda c: c.value == 2, **BOUND))


def test_one_thread_takes_one_job_after_the_other():
    def work(cell):
        with ThreadPoolExecutor(1) as pool:
            results = [pool.submit(add, cell) for _ in range(2)]
        assert all(result.done() for result in results)

    assert not_refuted(exhaust(Cell, [work], lambda c: c.value == 2, **BOUND))


def test_a_pool_made_by_the_setup():
    def setup():
        return Box(pool=ThreadPoolExecutor(1), value=0)

    def work(s):
        s.pool.submit(add, s)

    def work_and_wait(s):
        s.pool.submit(add, s).result()

    # What has been submitted need not be done yet; and the pool's idle threads are no deadlock.
    assert exhaust(setup, [work], lambda s: s.value == 1, **BOUND).verdict == "fails"
    assert not_refuted(exhaust(setup, [work_and_wait], lambda s: s.value == 1, **BOUND))


def test_map_and_exceptions():
    def half(n):
        return n // 2 if n else 1 // n

    def work(s):
        with ThreadPoolExecutor(2) as pool:
            s.got = list(pool.map(half, [4, 2]))
            s.failed = pool.submit(half, 0).exception()

    def careless(s):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(half, [0]))

    def setup():
        return Box(got=None, failed=None)

    assert not_refuted(exhaust(setup, [work], lambda s: s.got == [2, 1] and s.failed is not None, **BOUND))
    assert "ZeroDivisionError" in exhaust(setup, [careless], **BOUND).explanation


def test_the_first_of_several():
    def work(s):
        def job(number):
            return number

        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(job, number) for number in range(2)]
            s.order = [done.result() for done in as_completed(jobs)]

    def setup():
        return Box(order=None)

    assert not_refuted(exhaust(setup, [work], lambda s: sorted(s.order) == [0, 1], **BOUND))
    assert drawn(setup, [work], lambda s: s.order == [0, 1]).verdict == "fails"

    def wait_for_one(s):
        with ThreadPoolExecutor(2) as pool:
            done, _ = wait([pool.submit(int), pool.submit(int)], return_when=FIRST_COMPLETED)
            s.order = len(done)

    assert not_refuted(exhaust(setup, [wait_for_one], lambda s: s.order >= 1, **BOUND))
    assert drawn(setup, [wait_for_one], lambda s: s.order == 1).verdict == "fails"


def test_a_pool_that_waits_for_itself():
    def work(threads):
        def run(_):
            with ThreadPoolExecutor(threads) as pool:
                pool.submit(lambda: pool.submit(int).result()).result()

        return run

    assert exhaust(Cell, [work(1)], **BOUND).findings[0].kind in ("deadlock", "starvation")
    assert not_refuted(exhaust(Cell, [work(2)], **BOUND))


if sys.version_info >= (3, 14):
    # There were none before.
    from concurrent.futures import InterpreterPoolExecutor

    def test_a_pool_of_interpreters_is_not_taken_for_one_of_threads():
        def work(_):
            with InterpreterPoolExecutor(1) as pool:
                pool.submit(len, "a").result()

        result = exhaust(Cell, [work], **BOUND)
        assert result.verdict == "inconclusive" and "in interpreters of their own" in result.reason


@pytest.mark.parametrize("strategy", ["random", "pos"])
def test_pools_under_strategies_that_draw(strategy):
    def work(cell):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(add, [cell, cell]))

    result = drawloom.explore(Cell, [work], lambda c: c.value == 2, strategy=strategy, executions=300)
    assert result.verdict == "fails", result.reason
    assert result.replay().verdict == "fails"
