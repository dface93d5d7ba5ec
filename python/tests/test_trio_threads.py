"""Threads beside a run of trio: the run is a thread among others then."""

import threading

import drawloom
import pytest
from common import Box, Cell, exhaust

trio = pytest.importorskip("trio")


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


def explored(setup, workers, invariant=None, **options):
    return exhaust(setup, workers, invariant, backend="trio", **{"max_schedules": 1000, **options})


def add(cell):
    value = cell.value
    cell.value = value + 1


def test_a_function_in_a_thread_races_with_the_run():
    async def careless(cell):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, add, cell)
            for _ in range(3):
                await trio.sleep(0)
            add(cell)

    async def careful(cell):
        await trio.to_thread.run_sync(add, cell)
        add(cell)

    result = explored(Cell, [careless], lambda c: c.value == 2)
    assert (result.verdict, result.coarse) == ("fails", None), result.reason
    assert result.replay().verdict == "fails"
    assert explored(Cell, [careful], lambda c: c.value == 2).verdict == "holds"


def test_functions_in_threads_race_with_each_other():
    def setup():
        return Box(value=0, lock=threading.Lock(), limiter=trio.CapacityLimiter(1))

    def add_locked(s):
        with s.lock:
            add(s)

    async def careless(s):
        await trio.to_thread.run_sync(add, s)

    async def locked(s):
        await trio.to_thread.run_sync(add_locked, s)

    async def limited(s):
        await trio.to_thread.run_sync(add, s, limiter=s.limiter)

    result = explored(setup, [careless, careless], lambda s: s.value == 2)
    assert result.verdict == "fails", result.reason
    for worker in (locked, limited):
        result = explored(setup, [worker, worker], lambda s: s.value == 2)
        assert result.verdict in ("holds", "no_bug_found"), result.explanation


def test_a_thread_calls_into_the_run():
    async def later(cell):
        await trio.sleep(1)
        add(cell)

    async def calls(cell):
        def function():
            trio.from_thread.run(later, cell)
            trio.from_thread.run_sync(add, cell)

        await trio.to_thread.run_sync(function)
        add(cell)

    result = explored(Cell, [calls], lambda c: c.value == 3)
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation

    async def fails(_cell):
        def function():
            trio.from_thread.run_sync(int, "x")

        await trio.to_thread.run_sync(function)

    result = explored(Cell, [fails])
    assert result.verdict == "fails" and "invalid literal" in result.findings[0].message, result.reason


def test_a_thread_that_nobody_lets_go_on_is_found():
    async def waits(event):
        await trio.to_thread.run_sync(event.wait)

    async def sets(event):
        event.set()

    result = explored(threading.Event, [waits])
    assert [finding.kind for finding in result.findings] == ["starvation"], result.reason
    assert explored(threading.Event, [waits, sets]).verdict == "holds"


def test_plain_workers_are_threads_beside_the_run():
    def setup():
        return Box(begun=threading.Event(), token=None, value=0)

    async def waits(s):
        s.token = trio.lowlevel.current_trio_token()
        s.event = trio.Event()
        s.begun.set()
        await s.event.wait()
        assert s.value == 1

    def careful(s):
        s.begun.wait()
        s.value = 1
        trio.from_thread.run_sync(s.event.set, trio_token=s.token)

    def careless(s):
        s.begun.wait()
        s.token.run_sync_soon(s.event.set)
        s.value = 1

    assert explored(setup, [waits, careful]).verdict == "holds"
    result = explored(setup, [waits, careless])
    assert result.verdict == "fails" and "AssertionError" in result.findings[0].message


def test_what_is_cancelled_leaves_its_thread_behind():
    def setup():
        return Box(event=threading.Event(), value=0)

    def waits(s):
        s.event.wait()
        s.value = 1

    async def gives_up(s):
        with trio.move_on_after(1):
            await trio.to_thread.run_sync(waits, s, abandon_on_cancel=True)
        assert s.value == 0

    assert explored(setup, [gives_up]).verdict == "holds"


def test_those_that_can_go_on_do_so_in_either_order():
    async def first(s):
        await trio.to_thread.run_sync(int)
        async with trio.open_nursery() as nursery:
            for name in "ab":
                nursery.start_soon(note, s, name)

    async def note(s, name):
        s.order += name

    result = explored(lambda: Box(order=""), [first], lambda s: s.order == "ab", keep_going=True)
    assert result.verdict == "fails" and 0 < result.failing < result.executions


def test_a_run_that_nobody_wakes_is_found():
    """Without threads that is known of tasks; here, of the thread that the run is."""

    def runs(_cell):
        trio.run(trio.sleep_forever)

    result = drawloom.explore(Cell, [runs], strategy="exhaustive")
    assert [finding.kind for finding in result.findings] == ["starvation"], result.reason
