"""Everything that threads start, wait for and leave behind: controlled like the workers themselves."""

import contextvars
import sys
import threading
import time

import drawloom
import pytest
from common import Box, Cell, exhaust

MODULE_LOCK = threading.Lock()
MODULE_RLOCK = threading.RLock()
MODULE_CONDITION = threading.Condition()
MODULE_EVENT = threading.Event()
MODULE_LOCAL = threading.local()
MODULE_VARIABLE = contextvars.ContextVar("variable", default=0)


def idle(_):
    """So that there is a choice."""


def add(cell):
    value = cell.value
    cell.value = value + 1


def test_a_timer_races_with_what_goes_on_meanwhile():
    def work(cell):
        timer = threading.Timer(5.0, add, [cell])
        timer.start()
        time.sleep(5.0)
        add(cell)
        timer.join()

    def work_and_wait(cell):
        timer = threading.Timer(5.0, add, [cell])
        timer.start()
        timer.join()
        add(cell)

    assert exhaust(Cell, [work, idle], lambda c: c.value == 2).verdict == "fails"
    assert exhaust(Cell, [work_and_wait, idle], lambda c: c.value == 2).verdict == "holds"


def test_a_timer_that_is_cancelled_in_time_never_fires():
    def cancelled(after):
        def work(cell):
            timer = threading.Timer(5.0, add, [cell])
            timer.start()
            time.sleep(after)
            timer.cancel()
            timer.join()

        return work

    assert exhaust(Cell, [cancelled(4.0), idle], lambda c: c.value == 0).verdict == "holds"
    assert exhaust(Cell, [cancelled(5.0)], lambda c: c.value == 0).verdict == "fails"


def test_a_join_with_a_timeout():
    def joining(timeout):
        def work(s):
            def sleep():
                time.sleep(2.0)
                s.value = 1

            thread = threading.Thread(target=sleep)
            thread.start()
            thread.join(timeout)
            s.alive = thread.is_alive()
            thread.join()
            assert not thread.is_alive()

        return work

    def setup():
        return Box(value=0, alive=None)

    assert exhaust(setup, [joining(1.0), idle], lambda s: s.alive).verdict == "holds"
    assert exhaust(setup, [joining(3.0), idle], lambda s: not s.alive).verdict == "holds"
    # At the same instant it may come out either way.
    for expected in (True, False):
        assert exhaust(setup, [joining(2.0)], lambda s, expected=expected: s.alive is expected).verdict == "fails"


def test_a_join_that_returns_too_early():
    def work(checked):
        def run(cell):
            thread = threading.Thread(target=add, args=[cell])
            thread.start()
            thread.join(0)
            if checked and thread.is_alive():
                thread.join()
            assert cell.value == 1

        return run

    assert exhaust(Cell, [work(False)], max_schedules=300).verdict == "fails"
    assert exhaust(Cell, [work(True)], max_schedules=300).verdict in ("holds", "no_bug_found")


def test_a_lock_that_another_thread_releases():
    def setup():
        s = Box(done=threading.Lock(), value=0)
        s.done.acquire()
        return s

    def produce(s):
        s.value = 1
        s.done.release()

    def produce_too_late(s):
        s.done.release()
        s.value = 1

    def consume(s):
        with s.done:
            assert s.value == 1

    for order in (1, -1):
        assert exhaust(setup, [produce, consume][::order]).verdict == "holds"
        result = exhaust(setup, [produce_too_late, consume][::order])
        assert result.verdict == "fails", result.explanation
        assert result.replay().verdict == "fails"


def test_a_lock_that_is_released_twice():
    def setup():
        s = Box(lock=threading.Lock())
        s.lock.acquire()
        return s

    def release(s):
        s.lock.release()

    result = exhaust(setup, release, count=2)
    assert result.verdict == "fails"
    assert "release unlocked lock" in result.explanation
    assert exhaust(setup, [release, idle]).verdict == "holds"

    def release_one_of_mine(s):
        s.lock.acquire()

    # Whoever comes first: taken, released, taken, released.
    assert exhaust(setup, [release, release, release_one_of_mine]).verdict == "fails"


def test_a_lock_that_nobody_releases():
    def setup():
        s = Box(lock=threading.Lock())
        s.lock.acquire()
        return s

    def take(s):
        s.lock.acquire()

    def give(s):
        s.lock.release()

    assert exhaust(setup, [take]).findings[0].kind in ("deadlock", "starvation")
    assert exhaust(setup, [take, give]).verdict == "holds"
    assert exhaust(setup, [take, take, give]).verdict == "fails"


def test_locks_of_a_module_with_a_timeout():
    def holding(lock):
        def hold(cell):
            with lock:
                time.sleep(2.0)
                add(cell)

        return hold

    def waiting(lock, timeout):
        def wait(cell):
            time.sleep(1.0)
            if lock.acquire(timeout=timeout):
                add(cell)
                lock.release()

        return wait

    for lock in (MODULE_LOCK, MODULE_RLOCK):
        began = time.monotonic()
        assert exhaust(Cell, [holding(lock), waiting(lock, 3)], lambda c: c.value == 2).verdict == "holds"
        assert exhaust(Cell, [holding(lock), waiting(lock, 0.5)], lambda c: c.value == 1).verdict == "holds"
        assert time.monotonic() - began < 20, "nobody waits for real"
        assert lock.acquire(blocking=False), "it is free again"
        lock.release()


def test_a_lock_of_a_module_that_is_held_before():
    def take(_):
        assert MODULE_LOCK.acquire(timeout=5), "nobody gives it back"
        MODULE_LOCK.release()

    def give(_):
        MODULE_LOCK.release()

    with MODULE_LOCK:
        result = exhaust(Cell, [take, idle])
        assert result.verdict == "fails" and "nobody gives it back" in result.explanation
        assert MODULE_LOCK.locked()
        assert exhaust(Cell, [take, give]).verdict == "holds"
        assert MODULE_LOCK.locked()
    assert not MODULE_LOCK.locked()


def test_a_lock_of_a_module_that_is_kept_is_free_in_the_next_execution():
    def keep(cell):
        MODULE_LOCK.acquire()
        add(cell)

    assert exhaust(Cell, [keep, idle], lambda c: c.value == 1).verdict == "holds"
    assert exhaust(Cell, keep, count=2).findings[0].kind in ("deadlock", "starvation")
    assert not MODULE_LOCK.locked()


def test_conditions_and_events_of_a_module():
    def wait(s):
        with MODULE_CONDITION:
            while not s.value:
                MODULE_CONDITION.wait()

    def wait_once(s):
        with MODULE_CONDITION:
            MODULE_CONDITION.wait()

    def notify(s):
        with MODULE_CONDITION:
            s.value = 1
            MODULE_CONDITION.notify()

    for order in (1, -1):
        assert exhaust(Cell, [wait, notify][::order]).verdict == "holds"
        assert exhaust(Cell, [wait_once, notify][::order]).verdict == "fails"

    def set_(s):
        MODULE_EVENT.set()

    def await_(s):
        MODULE_EVENT.wait()
        MODULE_EVENT.clear()

    def setup():
        MODULE_EVENT.clear()
        return Cell()

    assert exhaust(setup, [await_, set_]).verdict == "holds"
    assert exhaust(setup, [await_, await_, set_]).verdict == "fails"


def test_thread_local_data_of_a_module():
    MODULE_LOCAL.value = "mine"

    def setup():
        assert MODULE_LOCAL.value == "mine"
        MODULE_LOCAL.value = "of main"
        return Cell()

    def work(cell):
        assert not hasattr(MODULE_LOCAL, "value")
        MODULE_LOCAL.value = 1
        add(cell)
        assert MODULE_LOCAL.value == 1

    assert exhaust(setup, [work, idle], lambda c: c.value == 1).verdict == "holds"
    assert exhaust(setup, work, lambda c: c.value == 2, count=2).verdict == "fails"
    assert exhaust(setup, work, count=2).verdict == "holds"
    assert MODULE_LOCAL.value == "mine"


def test_context_variables_are_each_threads_own():
    def work(_):
        assert MODULE_VARIABLE.get() == 0
        MODULE_VARIABLE.set(1)

    assert exhaust(Cell, work, count=2).verdict == "holds"
    assert exhaust(Cell, work, count=2).verdict == "holds"
    assert MODULE_VARIABLE.get() == 0


if sys.version_info >= (3, 14):
    # Until then a thread cannot be given one.
    def test_a_thread_runs_in_the_context_that_it_is_given():
        def work(cell):
            context = contextvars.copy_context()
            context.run(MODULE_VARIABLE.set, 5)
            thread = threading.Thread(target=lambda: setattr(cell, "value", MODULE_VARIABLE.get()), context=context)
            thread.start()
            thread.join()
            assert MODULE_VARIABLE.get() == 0

        assert exhaust(Cell, [work, idle], lambda c: c.value == 5).verdict == "holds"


def test_daemons_are_not_waited_for():
    def setup():
        s = Box(job=threading.Lock(), told=threading.Lock(), done=0)
        s.job.acquire()
        s.told.acquire()
        return s

    def serve(s):
        while True:
            s.job.acquire()
            s.done += 1
            s.told.release()

    def ticking(s):
        while True:
            time.sleep(1.0)

    def starting(target, daemon, wait):
        def work(s):
            threading.Thread(target=target, args=[s], daemon=daemon).start()
            s.job.release()
            if wait:
                s.told.acquire()

        return work

    assert exhaust(setup, [starting(serve, True, True)], lambda s: s.done == 1).verdict == "holds"
    assert exhaust(setup, [starting(serve, True, False)], lambda s: s.done == 1).verdict == "fails"
    assert exhaust(setup, [starting(serve, False, True)]).verdict == "fails", "the process would never end"
    assert exhaust(setup, [starting(ticking, True, False), idle]).verdict == "holds"


def test_a_daemon_is_seen_to_write_until_the_end():
    def work(cell):
        threading.Thread(target=add, args=[cell], daemon=True).start()

    for value in (0, 1):
        assert exhaust(Cell, [work, idle], lambda c, value=value: c.value == value).verdict == "fails"
    assert exhaust(Cell, [work, idle], lambda c: c.value in (0, 1)).verdict == "holds"


def test_who_runs_can_be_asked():
    def work(cell):
        thread = threading.Thread(target=time.sleep, args=[1.0], name="sleeper")
        thread.start()
        names = [thread.name for thread in threading.enumerate()]
        thread.join()
        assert "sleeper" in names
        assert "sleeper" not in [thread.name for thread in threading.enumerate()]

    assert exhaust(Cell, [work, idle]).verdict == "holds"


def test_a_module_is_imported_by_whoever_comes_first(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("value = 0\nvalue += 1\n")
    monkeypatch.syspath_prepend(tmp_path)

    def setup():
        sys.modules.pop("imported_late", None)
        return Cell()

    def worker(cell):
        import imported_late

        cell.value = imported_late.value

    result = drawloom.explore(setup, worker, lambda cell: cell.value == 1, count=2, strategy="random", executions=50)
    sys.modules.pop("imported_late", None)
    assert (result.verdict, result.uncontrolled) == ("no_bug_found", None), result.reason
