"""Event loops beside threads."""

import asyncio
import queue
import threading
import time

import pytest
from common import Box, Cell, exhaust


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


BOUND = {"max_schedules": 500}


def add(cell):
    value = cell.value
    cell.value = value + 1


def not_refuted(result):
    assert result.verdict in ("holds", "no_bug_found"), result.explanation
    return True


def test_a_function_in_a_thread_races_with_the_loop():
    async def careless(cell):
        other = asyncio.create_task(asyncio.to_thread(add, cell))
        await asyncio.sleep(0)
        add(cell)
        await other

    async def careful(cell):
        await asyncio.to_thread(add, cell)
        add(cell)

    result = exhaust(Cell, [careless], lambda c: c.value == 2, **BOUND)
    assert result.verdict == "fails", result.reason
    assert result.replay().verdict == "fails"
    assert not_refuted(exhaust(Cell, [careful], lambda c: c.value == 2, **BOUND))


def test_two_workers_that_run_in_an_executor():
    def add_with(lock, cell):
        with lock:
            add(cell)

    def setup():
        return Box(value=0, lock=threading.Lock())

    async def careless(s):
        await asyncio.get_running_loop().run_in_executor(None, add, s)

    async def careful(s):
        await asyncio.get_running_loop().run_in_executor(None, add_with, s.lock, s)

    assert exhaust(setup, [careless, careless], lambda s: s.value == 2, **BOUND).verdict == "fails"
    assert not_refuted(exhaust(setup, [careful, careful], lambda s: s.value == 2, **BOUND))


def test_a_thread_calls_into_the_loop():
    def setup():
        return Box(loop=None, begun=threading.Event(), future=None, value=0)

    async def wait(s):
        s.loop, s.future = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
        s.begun.set()
        s.value = await s.future

    def call(s):
        s.begun.wait()
        s.loop.call_soon_threadsafe(s.future.set_result, 1)

    def call_without_waking(s):
        s.begun.wait()
        s.future.set_result(1)

    assert not_refuted(exhaust(setup, [wait, call], lambda s: s.value == 1, **BOUND))
    result = exhaust(setup, [wait, call_without_waking], lambda s: s.value == 1, **BOUND)
    assert result.verdict == "fails", "the loop is not woken"
    assert result.findings[0].kind in ("starvation", "deadlock")


def test_a_thread_has_a_coroutine_run():
    def setup():
        return Box(loop=None, begun=threading.Event(), done=None, value=0)

    async def serve(s):
        s.loop, s.done = asyncio.get_running_loop(), asyncio.Event()
        s.begun.set()
        await s.done.wait()

    async def increase(s):
        add(s)
        return s.value

    def ask(s):
        s.begun.wait()
        assert asyncio.run_coroutine_threadsafe(increase(s), s.loop).result() == 1
        s.loop.call_soon_threadsafe(s.done.set)

    def ask_for_too_much(s):
        s.begun.wait()
        # It waits for itself.
        s.loop.call_soon_threadsafe(lambda: asyncio.run_coroutine_threadsafe(increase(s), s.loop).result())

    assert not_refuted(exhaust(setup, [serve, ask], lambda s: s.value == 1, **BOUND))
    assert exhaust(setup, [serve, ask_for_too_much], **BOUND).verdict == "fails"


def test_a_loop_within_a_worker():
    def work(cell):
        async def main():
            await asyncio.sleep(1.0)
            add(cell)
            await asyncio.gather(asyncio.sleep(1.0), asyncio.sleep(2.0))

        began = time.monotonic()
        asyncio.run(main())
        assert time.monotonic() - began == 3.0

    assert exhaust(Cell, [work, work], lambda c: c.value == 2, **BOUND).verdict == "fails"
    assert not_refuted(exhaust(Cell, [work, lambda c: None], lambda c: c.value == 1, **BOUND))


def test_a_lock_of_threads_that_is_held_across_an_await():
    def setup():
        return Box(lock=threading.Lock(), value=0)

    async def hold(s):
        with s.lock:
            await asyncio.sleep(0)
            add(s)

    result = exhaust(setup, [hold, hold], **BOUND)
    assert result.verdict == "fails" and result.findings[0].kind in ("starvation", "deadlock"), result.explanation


def waits_by(wait, end):
    """A task that waits as threads do, and another one that would end that."""

    async def waits(s):
        s.seen = wait(s)

    async def ends(s):
        end(s)

    return waits, ends


WAITS = {
    "queue": waits_by(lambda s: s.queue.get(), lambda s: s.queue.put(1)),
    "full queue": waits_by(lambda s: [s.queue.put(n) for n in range(2)], lambda s: s.queue.get()),
    "simple queue": waits_by(lambda s: s.simple.get(), lambda s: s.simple.put(1)),
    "event": waits_by(lambda s: s.event.wait(), lambda s: s.event.set()),
    "semaphore": waits_by(lambda s: s.semaphore.acquire(), lambda s: s.semaphore.release()),
}


def waiting():
    return Box(queue=queue.Queue(1), simple=queue.SimpleQueue(), event=threading.Event(), semaphore=threading.Semaphore(0), seen=None)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", WAITS)
def test_a_task_that_waits_as_threads_do_stops_its_loop(kind, order):
    """Whoever is to end the wait is a task of the same loop, and does not run meanwhile."""
    result = exhaust(waiting, list(WAITS[kind])[::order], **BOUND)
    assert result.verdict == "fails", result.reason
    assert {finding.kind for finding in result.findings} == {"starvation"}
    assert "it stops the event loop" in result.explanation
    assert "could still go on" not in result.explanation
    again = result.replay()
    assert (again.verdict, again.findings[0].kind) == ("fails", "starvation")


@pytest.mark.parametrize("order", [1, -1])
def test_a_task_that_need_not_wait_stops_nobody(order):
    async def first(s):
        s.queue.put(1)
        await asyncio.sleep(0)
        s.event.set()
        s.told.set_result(None)

    async def second(s):
        await s.told
        s.seen = s.queue.get() if s.event.wait() else None

    def told():
        state = waiting()
        state.told = asyncio.get_running_loop().create_future()
        return state

    async def tries(s):
        try:
            s.queue.get(block=False)
        except queue.Empty:
            assert not s.event.wait(0)

    result = exhaust(told, [first, second][::order], lambda s: s.seen == 1, **BOUND)
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation
    assert exhaust(waiting, [tries, tries], **BOUND).verdict == "holds"


@pytest.mark.parametrize("order", [1, -1])
def test_a_thread_ends_the_wait_of_a_task(order):
    async def waits(s):
        s.seen = s.queue.get()

    def puts(s):
        s.queue.put(1)

    async def starts(s):
        thread = threading.Thread(target=puts, args=(s,))
        thread.start()
        s.seen = s.queue.get()
        thread.join()

    async def waits_a_while(s):
        with pytest.raises(queue.Empty):
            s.queue.get(timeout=1)

    def with_thread():
        state = waiting()
        state.thread = threading.Thread(target=puts, args=(state,))
        state.thread.start()
        return state

    assert not_refuted(exhaust(waiting, [waits, puts][::order], lambda s: s.seen == 1, **BOUND))
    assert not_refuted(exhaust(waiting, [starts], lambda s: s.seen == 1, **BOUND))
    assert not_refuted(exhaust(waiting, [waits_a_while], **BOUND))
    assert not_refuted(exhaust(with_thread, [waits], lambda s: s.seen == 1, **BOUND))


@pytest.mark.parametrize("blocking", [True, False])
def test_a_loop_that_sleeps_for_real_is_late(blocking):
    async def tick(s):
        began = time.monotonic()
        await asyncio.sleep(1.0)
        s.late = time.monotonic() - began

    async def work(s):
        if blocking:
            time.sleep(5.0)
        else:
            await asyncio.sleep(5.0)

    result = exhaust(lambda: Box(late=None), [tick, work], lambda s: s.late == 1.0)
    assert (result.verdict == "fails") is blocking
