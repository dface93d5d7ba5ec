"""Orders of markers: one of them, all of them, and those that cannot be had."""

import math
import queue
import threading

import pytest

from drawloom.markers import (
    AsyncTraceExecutor,
    MarkerDeadlock,
    MarkerRegistry,
    Schedule,
    ScheduleError,
    Step,
    TraceExecutor,
    all_marker_schedules,
    explore_marker_interleavings,
    frontrun,
    marker_schedule_strategy,
)

BOTH = {"t1": ["read", "write"], "t2": ["read", "write"]}


class Counter:
    def __init__(self):
        self.value = 0
        self.lock = threading.Lock()

    def increment(self, by=1):
        temp = self.value  # drawloom: read
        self.value = temp + by  # frontrun: write

    def locked(self):
        with self.lock:
            temp = self.value  # frontrun: read
            self.value = temp + 1  # frontrun: write

    async def get(self):
        return self.value

    async def increment_async(self):
        # frontrun: read
        temp = await self.get()
        # frontrun: write
        self.value = temp + 1


def order(text):
    return Schedule([Step(*step.split(".")) for step in text.split()])


LOST = order("t1.read t2.read t1.write t2.write")
SERIAL = order("t2.read t2.write t1.read t1.write")


@pytest.mark.parametrize(("schedule", "value"), [(LOST, 1), (SERIAL, 2)])
def test_the_order_decides(schedule, value):
    for _ in range(20):
        counter = Counter()
        TraceExecutor(schedule).run({"t1": counter.increment, "t2": counter.increment})
        assert counter.value == value


def test_threads_are_added_one_by_one():
    counter = Counter()
    executor = TraceExecutor(LOST)
    executor.run("t1", counter.increment)
    executor.run("t2", counter.increment, kwargs={"by": 10})
    executor.wait(timeout=5.0)
    assert (counter.value, executor.thread_errors) == (10, {})
    executor.reset()
    assert executor.threads == []


def test_arguments_are_passed_on():
    counter = Counter()
    frontrun(SERIAL, {"t1": counter.increment, "t2": counter.increment}, {"t1": (5,)}, {"t2": {"by": 7}})
    assert counter.value == 12


def test_a_marker_is_on_its_line_or_before_the_next():
    registry = MarkerRegistry()
    source = {name: line for line, name in registry.of_file(__file__).items() if name in ("alone", "beside")}

    def here():
        # drawloom: alone

        x = 1
        return x  # drawloom: beside

    first = here.__code__.co_firstlineno
    assert source == {"alone": first + 3, "beside": first + 4}
    text = "# drawloom: in_a_text"
    assert "in_a_text" not in registry.of_file(__file__).values() and text


def test_a_with_is_one_marker():
    lock, passed = threading.Lock(), []

    def body():
        for i in range(2):
            with lock:  # drawloom: enter
                passed.append(i)

    executor = TraceExecutor(order("a.enter a.enter"))
    executor.run({"a": body})
    assert passed == [0, 1]


def test_an_exception_is_raised_to_who_waits():
    def bad():
        raise ValueError("no")  # drawloom: raise

    executor = TraceExecutor(order("a.raise"))
    with pytest.raises(ValueError, match="no"):
        executor.run({"a": bad})
    assert isinstance(executor.task_errors["a"], ValueError)


@pytest.mark.parametrize(
    ("schedule", "what"),
    [("t1.read t1.other", "is at marker 'write'"), ("t1.read t1.write t1.read", "never came to marker 'read'"),
     ("t1.read t3.read", "not there: t3")],
)
def test_an_order_that_cannot_be_had_is_told_at_once(schedule, what):
    with pytest.raises(ScheduleError, match=what):
        TraceExecutor(order(schedule), deadlock_timeout=1000).run({"t1": Counter().increment})
    assert issubclass(ScheduleError, TimeoutError)


def test_locks_that_were_made_before_are_waited_for():
    counter = Counter()
    TraceExecutor(SERIAL, deadlock_timeout=30).run({"t1": counter.locked, "t2": counter.locked})
    assert counter.value == 2
    with pytest.raises(ScheduleError, match="not under control"):
        counter = Counter()
        TraceExecutor(LOST, deadlock_timeout=0.2).run({"t1": counter.locked, "t2": counter.locked})


def test_as_many_orders_as_the_multinomial_coefficient():
    for counts in [(2, 2), (1, 2, 3), (5, 5), (3,), (0, 2)]:
        threads = {f"t{i}": [f"m{j}" for j in range(n)] for i, n in enumerate(counts)}
        expected = math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
        schedules = all_marker_schedules(threads)
        assert len(schedules) == len({str(schedule) for schedule in schedules}) == expected


def test_all_orders_are_tried():
    threads = {name: (Counter.increment, markers) for name, markers in BOTH.items()}
    result = explore_marker_interleavings(Counter, threads, lambda c: c.value == 2, stop_on_first=False)
    # Serial orders are right, all others are not.
    assert (result.verdict, result.num_explored, len(result.failures), result.exhausted) == ("fails", 6, 4, True)
    assert result.property_holds is False
    assert "t1  read   test_markers.py:" in result.explanation and "temp = self.value" in result.explanation
    counter = Counter()
    TraceExecutor(result.counterexample).run({"t1": counter.increment, "t2": counter.increment})
    assert counter.value == 1
    three = explore_marker_interleavings(
        Counter, {f"t{i}": Counter.increment for i in range(3)}, lambda c: c.value == 3, stop_on_first=False
    )
    assert (three.num_explored, len(three.failures)) == (90, 84)


def test_locks_leave_fewer_orders():
    threads = {"t1": (Counter.locked, ["read", "write"]), "t2": (Counter.locked, ["read", "write"])}
    result = explore_marker_interleavings(Counter, threads, lambda c: c.value == 2)
    assert (result.verdict, result.num_explored, result.property_holds) == ("holds", 2, True)


def test_markers_that_were_not_expected_are_no_proof():
    threads = {"t1": (Counter.increment, ["read"]), "t2": (Counter.increment, ["read", "write"])}
    result = explore_marker_interleavings(Counter, threads, lambda c: True)
    assert (result.verdict, result.property_holds) == ("inconclusive", None)
    assert "t1 comes to the markers" in result.reason


def test_a_bound_is_no_proof():
    threads = {"t1": Counter.increment, "t2": Counter.increment}
    result = explore_marker_interleavings(Counter, threads, lambda c: True, max_orders=3)
    assert (result.verdict, result.num_explored, result.property_holds) == ("no_bug_found", 3, None)


class Forks:
    def __init__(self):
        self.a, self.b = threading.Lock(), threading.RLock()

    def one(self):
        with self.a:
            pass  # drawloom: one
            with self.b:
                pass

    def two(self):
        with self.b:
            pass  # drawloom: two
            with self.a:
                pass


def test_a_deadlock_is_known_and_not_waited_for():
    result = explore_marker_interleavings(
        Forks, {"t1": Forks.one, "t2": Forks.two}, lambda f: True, deadlock_timeout=1000, timeout=None
    )
    assert result.verdict == "fails" and "deadlock: t1 waits for a lock" in result.explanation
    assert issubclass(MarkerDeadlock, ScheduleError)


class Hand:
    def __init__(self):
        self.queue, self.got = queue.Queue(), []

    def put(self):
        self.queue.put(1)  # drawloom: put

    def get(self):
        self.got.append(self.queue.get())  # drawloom: get


def test_who_waits_for_a_queue_lets_others_run():
    result = explore_marker_interleavings(
        Hand, {"put": Hand.put, "get": Hand.get}, lambda h: h.got == [1], deadlock_timeout=1000, timeout=None
    )
    assert (result.verdict, result.num_explored) == ("holds", 2)


def test_a_thread_that_raises_fails():
    def bad(counter):
        temp = counter.value  # drawloom: look
        assert temp == 0, "not the first"

    result = explore_marker_interleavings(Counter, {"a": Counter.increment, "b": bad}, lambda c: True)
    assert result.verdict == "fails" and "b raised AssertionError: not the first" in result.explanation


def test_coroutines_pass_markers():
    counter = Counter()
    AsyncTraceExecutor(LOST).run({"t1": counter.increment_async, "t2": counter.increment_async})
    assert counter.value == 1
    threads = {"t1": Counter.increment_async, "t2": Counter.increment_async}
    result = explore_marker_interleavings(Counter, threads, lambda c: c.value == 2, stop_on_first=False)
    assert (result.num_explored, len(result.failures)) == (6, 4)


def test_hypothesis_finds_and_shrinks_an_order():
    hypothesis = pytest.importorskip("hypothesis")

    def value_after(schedule):
        counter = Counter()
        TraceExecutor(schedule).run({"t1": counter.increment, "t2": counter.increment})
        return counter.value

    found = hypothesis.find(
        marker_schedule_strategy(BOTH),
        lambda schedule: value_after(schedule) == 1,
        settings=hypothesis.settings(database=None, deadline=None, derandomize=True, max_examples=50),
    )
    assert found == LOST
