"""Orders of markers: one of them, all of them, and those that cannot be had."""

import asyncio
import math
import queue
import random
import signal
import socket
import threading
import time
import uuid
from concurrent import futures

import marker_oracle
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
    [("t1.read t1.other", "is at marker 'write'"), ("t1.read t1.write t1.read", "ended without reaching marker 'read'"),
     ("t1.read t3.read", "unknown threads: t3")],
)
def test_an_order_that_cannot_be_had_is_told_at_once(schedule, what):
    with pytest.raises(ScheduleError, match=what):
        TraceExecutor(order(schedule), deadlock_timeout=1000).run({"t1": Counter().increment})
    assert issubclass(ScheduleError, TimeoutError)


def test_locks_that_were_made_before_are_waited_for():
    counter = Counter()
    TraceExecutor(SERIAL, deadlock_timeout=30).run({"t1": counter.locked, "t2": counter.locked})
    assert counter.value == 2
    with pytest.raises(ScheduleError, match="an order does not control locks"):
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
    assert "t1 reaches the markers" in result.reason


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


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_all_orders_are_those_of_a_simulator(seed):
    for program in range(seed, seed + 10):
        marker_oracle.check(program)


def test_who_begins_matters_where_locks_are_shared():
    class State:
        def __init__(self):
            self.a, self.b = threading.Lock(), threading.Lock()

        def at_once(self):
            with self.a, self.b:
                pass

        def slowly(self):
            with self.b:
                pass  # drawloom: one
                with self.a:
                    pass  # drawloom: two

    result = explore_marker_interleavings(State, {"t1": State.at_once, "t2": State.slowly}, lambda s: True)
    # Whoever is first goes through; but it is not known before that it is.
    assert result.verdict == "fails" and "deadlock: t1 waits for a lock" in result.explanation


def test_locks_that_were_made_before_are_known_at_once():
    assert threading.active_count() == 1, "somebody else might release them"
    counter = Counter()
    with pytest.raises(ScheduleError, match="t1 is at marker 'write'.*t2 waits for a lock at .*test_markers.py"):
        TraceExecutor(LOST, deadlock_timeout=1000).run({"t1": counter.locked, "t2": counter.locked})
    forks = Forks()
    with pytest.raises(MarkerDeadlock, match="deadlock: t1 waits for a lock .*; t2 waits for a lock"):
        TraceExecutor(order("t1.one t2.two"), deadlock_timeout=1000).run({"t1": forks.one, "t2": forks.two})
    assert not forks.a.locked() and forks.b.acquire(blocking=False)


def test_a_counterexample_with_locks_is_followed():
    result = explore_marker_interleavings(Forks, {"t1": Forks.one, "t2": Forks.two}, lambda f: True, stop_on_first=False)
    # Whoever passes its marker first, it has one lock by then, and the other thread may have the other.
    assert (result.num_explored, len(result.failures), result.exhausted) == (2, 2, True)
    for _, schedule in result.failures:
        forks = Forks()
        with pytest.raises(MarkerDeadlock):
            TraceExecutor(schedule, deadlock_timeout=1000).run({"t1": forks.one, "t2": forks.two})


def test_who_waits_for_a_lock_may_be_overtaken():
    class State:
        def __init__(self):
            self.lock = threading.Lock()

        def holds(self):
            with self.lock:
                pass  # drawloom: held

        def asks(self):
            pass  # drawloom: asks
            with self.lock:
                pass  # drawloom: held

    state, threads = State(), {"a": State.holds, "b": State.asks, "c": State.asks}
    overtaken = order("b.asks c.asks a.held c.held b.held")
    TraceExecutor(overtaken).run({name: (lambda body=body: body(state)) for name, body in threads.items()})
    result = explore_marker_interleavings(State, threads, lambda s: True)
    assert (result.verdict, result.exhausted) == ("holds", True)


def test_a_socket_that_was_made_before_is_waited_for():
    receiver, sender = socket.socketpair()
    got = []

    def receive():
        got.append(receiver.recv(1))
        got.append("received")  # drawloom: received

    def send():
        sender.send(b"x")  # drawloom: send

    with receiver, sender:
        TraceExecutor(order("send.send receive.received")).run({"receive": receive, "send": send})
    assert got == [b"x", "received"]


def test_time_passes_for_who_sleeps():
    slept = []

    def sleep():
        end = time.monotonic() + 3600
        while time.monotonic() < end:
            time.sleep(60)
        slept.append("thread")  # drawloom: awake

    async def sleep_async():
        await asyncio.sleep(3600)
        slept.append("coroutine")  # drawloom: awake

    TraceExecutor(order("b.awake a.awake")).run({"a": sleep, "b": sleep_async})
    assert slept == ["coroutine", "thread"]


def test_a_wait_with_a_limit_ends_when_nobody_else_is_next():
    box, got = queue.Queue(), []

    def get():
        try:
            box.get(timeout=3600)
        except queue.Empty:
            got.append("nothing")  # drawloom: nothing

    def put():
        box.put(1)  # drawloom: put

    TraceExecutor(order("get.nothing put.put")).run({"get": get, "put": put})
    assert (got, box.qsize()) == (["nothing"], 1)


def test_threads_of_threads_are_no_part_of_the_order():
    came = []

    def parent():
        child = threading.Thread(target=lambda: came.append("child"))  # drawloom: start
        child.start()
        child.join()
        came.append("parent")  # drawloom: joined

    def other():
        came.append("other")  # drawloom: other

    TraceExecutor(order("p.start o.other p.joined")).run({"p": parent, "o": other})
    assert came == ["child", "other", "parent"]


def test_who_never_comes_to_an_end_is_told():
    def spin(*_):
        while True:
            pass

    with pytest.raises(ScheduleError, match="did not end within 0.2 seconds"):
        TraceExecutor(order("")).run({"a": spin}, timeout=0.2)
    result = explore_marker_interleavings(Counter, {"a": spin}, lambda c: True, timeout=0.2)
    assert result.verdict == "inconclusive" and "did not end" in result.reason
    box = queue.SimpleQueue()

    def get():
        box.get()

    with pytest.raises(ScheduleError, match=r"not under control: `box.get\(\)`"):
        TraceExecutor(order(""), deadlock_timeout=0.2).run({"a": get})


def test_a_run_is_one_of_the_real_world():
    seen = []

    def look():
        seen.append((random.random(), uuid.uuid4(), time.time()))

    for _ in range(2):
        TraceExecutor(order("")).run({"a": look})
    assert len(set(seen[0][:2]) & set(seen[1][:2])) == 0 and abs(seen[1][2] - time.time()) < 60


def test_orders_that_lead_elsewhere_each_time_are_no_proof():
    runs = []

    def changing(_):
        runs.append(None)
        for _ in runs:
            pass  # drawloom: again

    result = explore_marker_interleavings(Counter, {"a": changing, "b": Counter.increment}, lambda c: True)
    assert result.verdict == "inconclusive" and "does not always lead to the same markers" in result.reason


def test_a_run_within_a_run_is_refused_and_does_no_harm():
    counter = Counter()

    def nested():
        with pytest.raises(RuntimeError, match="from within"):
            TraceExecutor(order("")).run({"a": counter.increment})

    for _ in range(3):
        TraceExecutor(order("")).run({"a": nested, "b": nested})
    TraceExecutor(LOST).run({"t1": counter.increment, "t2": counter.increment})
    assert counter.value == 1


def test_what_setup_and_invariant_raise_is_raised():
    def broken(*_):
        raise KeyError("broken")

    for setup, invariant in ((broken, lambda c: True), (Counter, broken)):
        with pytest.raises(KeyError, match="broken"):
            explore_marker_interleavings(setup, {"a": Counter.increment}, invariant)


def test_threads_that_are_no_part_of_the_run_are_waited_for():
    box, answers = queue.Queue(), queue.Queue()
    got = []

    def serve():
        while (number := box.get()) is not None:
            answers.put(number + 1)

    def ask(number):
        box.put(number)
        got.append(answers.get())
        got.append(pool.submit(abs, -number).result(timeout=30))
        got.append("done")  # drawloom: done

    server = threading.Thread(target=serve)
    server.start()
    with futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        TraceExecutor(order("b.done a.done")).run({"a": lambda: ask(1), "b": lambda: ask(5)})
    box.put(None)
    server.join()
    assert sorted(map(str, got)) == ["1", "2", "5", "6", "done", "done"]


@pytest.mark.parametrize("explored", [False, True])
def test_ctrl_c_ends_a_run(explored):
    def spin(*_):
        signal.raise_signal(signal.SIGINT)
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        if explored:
            explore_marker_interleavings(Counter, {"a": spin, "b": Counter.increment}, lambda c: True, timeout=None)
        else:
            TraceExecutor(order("")).run({"a": spin})
    counter = Counter()
    TraceExecutor(LOST).run({"t1": counter.increment, "t2": counter.increment})
    assert counter.value == 1
