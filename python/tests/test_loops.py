"""Event loops beside threads."""

import asyncio
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
