"""`threading` and `queue` under control."""

import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import drawloom
import pytest
from common import Box, Cell, exhaust


def test_a_condition_in_the_textbook_loop():
    def setup():
        return Box(condition=threading.Condition(), ready=False, got=None)

    def wait(s):
        with s.condition:
            while not s.ready:
                s.condition.wait()
            s.got = 1

    def notify(s):
        with s.condition:
            s.ready = True
            s.condition.notify()

    for workers in ([wait, notify], [notify, wait]):
        result = exhaust(setup, workers, lambda s: s.got == 1)
        assert result.verdict == "holds", result.explanation


def test_a_wake_up_that_is_lost():
    def setup():
        return Box(condition=threading.Condition())

    def wait(s):
        with s.condition:
            s.condition.wait()

    def notify(s):
        with s.condition:
            s.condition.notify()

    for workers in ([wait, notify], [notify, wait]):
        result = exhaust(setup, workers)
        assert result.verdict == "fails"
        assert result.findings[0].kind in ("starvation", "deadlock")


def test_events():
    def setup():
        return Box(event=threading.Event(), x=0)

    def wait(s):
        s.event.wait()
        assert s.x == 1

    def set_(s):
        s.x = 1
        s.event.set()

    def set_too_early(s):
        s.event.set()
        s.x = 1

    assert exhaust(setup, [wait, set_]).verdict == "holds"
    assert exhaust(setup, [set_, wait]).verdict == "holds"
    assert exhaust(setup, [wait, set_too_early]).verdict == "fails"
    assert exhaust(setup, [set_too_early, wait]).verdict == "fails"


def test_semaphores():
    def setup(permits):
        return lambda: Box(semaphore=threading.Semaphore(permits), inside=0, most=0)

    def enter(s):
        with s.semaphore:
            s.inside += 1
            s.most = max(s.most, s.inside)
            s.inside -= 1

    assert exhaust(setup(1), enter, lambda s: s.most == 1, count=2).verdict == "holds"
    assert exhaust(setup(2), enter, lambda s: s.most == 1, count=2, max_schedules=3000).verdict == "fails"


def test_barriers():
    def setup():
        return Box(barrier=threading.Barrier(2), a=0, b=0)

    def left(s):
        s.a = 1
        s.barrier.wait()
        assert s.b == 1

    def right(s):
        s.b = 1
        s.barrier.wait()
        assert s.a == 1

    result = exhaust(setup, [left, right], max_schedules=5000)
    assert result.verdict in ("holds", "no_bug_found"), result.explanation


def test_queues():
    def produce(q):
        q.put(1)

    def consume(q):
        assert q.get() == 1

    for kind in (queue.Queue, queue.LifoQueue, queue.PriorityQueue, lambda: queue.SimpleQueue()):
        for workers in ([produce, consume], [consume, produce]):
            result = exhaust(kind, workers)
            assert result.verdict == "holds", result.explanation


def test_a_queue_that_nobody_fills():
    result = exhaust(queue.Queue, [lambda q: q.get()])
    assert result.verdict == "fails"


def test_reentrant_locks():
    def setup():
        return Box(lock=threading.RLock(), x=0)

    def add(s):
        with s.lock:
            with s.lock:
                s.x += 1

    result = exhaust(setup, add, lambda s: s.x == 2, count=2)
    assert (result.verdict, result.executions) == ("holds", 2)


def test_a_lock_that_is_tried():
    def setup():
        return Box(lock=threading.Lock(), x=0)

    def try_(s):
        if s.lock.acquire(blocking=False):
            s.x += 1
            s.lock.release()

    result = exhaust(setup, try_, lambda s: s.x == 2, count=2)
    assert result.verdict == "fails"


def test_a_lock_that_is_taken_twice():
    def twice(s):
        s.lock.acquire()
        s.lock.acquire()

    result = exhaust(lambda: Box(lock=threading.Lock()), [twice])
    assert (result.verdict, result.findings[0].kind) == ("fails", "deadlock")


def test_time_is_virtual():
    def sleep(s):
        before = time.monotonic()
        time.sleep(3600)
        assert time.monotonic() - before >= 3600

    began = time.perf_counter()
    result = drawloom.explore(Cell, [sleep] * 2, strategy="random", executions=20)
    assert result.verdict == "no_bug_found", result.explanation
    assert time.perf_counter() - began < 60


def test_timers():
    def setup():
        return Box(fired=threading.Event())

    def start(s):
        timer = threading.Timer(5.0, s.fired.set)
        timer.start()
        s.fired.wait()

    result = drawloom.explore(setup, [start], lambda s: s.fired.is_set(), strategy="random", executions=20)
    assert result.verdict == "no_bug_found", result.explanation


def test_an_exception_in_a_worker_is_a_finding():
    def fail(cell):
        if cell.value == 1:
            raise ValueError("once was enough")
        cell.value = 1

    result = exhaust(Cell, fail, count=2)
    assert result.verdict == "fails"
    assert "ValueError: once was enough" in result.findings[0].message


def test_system_exit_in_a_worker_is_a_finding():
    def leave(_):
        raise SystemExit(3)

    assert exhaust(Cell, [leave, leave]).verdict == "fails"


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock])
def test_locks_made_before_are_under_control_too(make):
    lock, other = make(), make()

    def use(cell):
        with lock:
            cell.value += 1

    result = exhaust(Cell, use, lambda c: c.value == 3, count=3)
    assert (result.verdict, result.executions) == ("holds", 6)

    def ab(_):
        with lock:
            other.acquire()
            other.release()

    def ba(_):
        with other, lock:
            pass

    result = exhaust(Cell, [ab, ba])
    assert (result.verdict, result.executions, result.findings[0].kind) == ("fails", 3, "deadlock")
    assert lock.acquire(blocking=False) and other.acquire(blocking=False)


# From 3.14 on all of them can be asked.
@pytest.mark.parametrize("kind", ["Lock", "RLock", "Condition"] if sys.version_info >= (3, 14) else ["Lock"])
def test_a_lock_is_seen_to_be_locked(kind):
    def hold(s):
        with s.lock:
            pass

    def look(s):
        assert not s.lock.locked()

    result = exhaust(lambda: Box(lock=getattr(threading, kind)()), [hold, look], keep_going=True)
    assert result.verdict == "fails" and 0 < result.failing < result.executions, result.reason


def with_condition():
    lock = threading.Lock()
    return Box(lock=lock, condition=threading.Condition(lock), value=0)


def release_elsewhere(lock):
    other = threading.Thread(target=lock.release)
    other.start()
    other.join()


def test_a_condition_whose_lock_is_handed_over():
    def wait(s):
        with s.lock:
            assert s.condition.wait_for(lambda: s.value, 1.0)

    def wait_for_ever(s):
        with s.condition:
            while not s.value:
                s.condition.wait()

    def set_it(s):
        s.lock.acquire()
        s.value = 1
        s.condition.notify()
        release_elsewhere(s.lock)

    def set_it_and_forget(s):
        s.lock.acquire()
        s.value = 1
        release_elsewhere(s.lock)

    for worker in (wait, wait_for_ever):
        result = exhaust(with_condition, [worker, set_it])
        assert (result.verdict, result.coarse) == ("holds", None), result.explanation
    result = exhaust(with_condition, [wait_for_ever, set_it_and_forget])
    assert result.verdict == "fails" and {finding.kind for finding in result.findings} <= {"deadlock", "starvation"}
    assert exhaust(with_condition, [wait_for_ever, wait_for_ever, set_it], max_schedules=500).verdict == "fails"


def test_a_condition_of_a_plain_lock_asks_whether_anybody_has_it():
    """As the standard library does; who notifies without having it may be too early."""

    def wait(s):
        with s.lock:
            s.condition.wait(1.0)

    def notify(s):
        try:
            s.condition.notify()
        except RuntimeError:
            s.value += 1

    result = exhaust(with_condition, [wait, notify], lambda s: s.value == 0, keep_going=True)
    assert result.verdict == "fails" and 0 < result.failing < result.executions, result.reason


def test_primitives_are_the_standard_librarys_outside():
    before = threading.Lock
    made = []
    exhaust(lambda: made.append(threading.Lock()), [lambda _: None, lambda _: None])
    assert threading.Lock is before
    lock = made[0]
    assert lock.acquire(timeout=1)
    assert not lock.acquire(blocking=False)
    lock.release()
    other = threading.Thread(target=lambda: None)
    other.start()
    other.join()


def test_unknown_options_are_errors():
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_attempts'"):
        drawloom.explore(Cell, [lambda c: None], max_attempts=3)
    with pytest.raises(ValueError):
        drawloom.explore(Cell, [lambda c: None], strategy="dpor")


def test_what_is_local_to_a_thread():
    def setup():
        return Box(local=threading.local(), seen=[])

    def use(s):
        assert not hasattr(s.local, "x")
        s.local.x = threading.get_ident()
        assert s.local.x == threading.get_ident()

    assert drawloom.explore(setup, [use, use], strategy="random", executions=30).verdict == "no_bug_found"
    made_before = threading.local()

    def use_earlier(_):
        made_before.x = 1

    assert exhaust(Cell, use_earlier, count=2).verdict == "holds"
    assert not hasattr(made_before, "x")


def test_a_wait_of_no_time_does_not_wait():
    def take(s):
        s.taken = s.semaphore.acquire(timeout=0)

    def give(s):
        s.semaphore.release()

    seen = set()
    for workers in ([take, give], [give, take]):
        seen.clear()
        exhaust(lambda: Box(semaphore=threading.Semaphore(0), taken=None), workers, lambda s: seen.add(s.taken))
        assert seen == {True, False}


def test_threads_of_a_pool_run_side_by_side():
    def use(cell):
        def add():
            cell.value += 1

        with ThreadPoolExecutor(2) as pool:
            pool.submit(add)
            pool.submit(add)

    result = drawloom.explore(Cell, [use], lambda cell: cell.value == 2, shrink=False, fixes=0)
    assert (result.verdict, result.coarse) == ("fails", None)
