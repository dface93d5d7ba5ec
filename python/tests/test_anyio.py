"""anyio on asyncio and on trio: its tasks, locks, groups, streams and scopes are explored as they are."""

import importlib

import pytest
from common import Box, exhaust, one_interval

anyio = pytest.importorskip("anyio")
try:
    importlib.import_module("anyio._backends._trio")
    without_trio = ()
except ImportError:
    without_trio = pytest.mark.skip(reason="without trio")
# They would be imported in the midst of the first exploration.
importlib.import_module("anyio._backends._asyncio")
backends = pytest.mark.parametrize("backend", ["asyncio", pytest.param("trio", marks=without_trio)])


async def increments(box):
    seen = box.value
    await anyio.sleep(0)
    box.value = seen + 1


async def increments_locked(box):
    async with box.lock:
        await increments(box)


async def increments_in_a_group(box):
    async with anyio.create_task_group() as group:
        group.start_soon(increments, box)
        group.start_soon(increments, box)


async def sends(box):
    await box.stream[0].send(1)


async def receives(box):
    box.got = await box.stream[1].receive()


async def waits(box):
    await box.event.wait()
    assert box.value == 1


async def sets_too_early(box):
    box.event.set()
    await anyio.sleep(0)
    box.value = 1


async def moves_on(box):
    with anyio.move_on_after(1) as scope:
        await anyio.sleep(box.longer)
    box.got.append(scope.cancelled_caught)


async def fails_after(box):
    try:
        with anyio.fail_after(1):
            await anyio.sleep(box.longer)
        box.got.append(False)
    except TimeoutError:
        box.got.append(True)


async def cancels_its_group(box):
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 10)
        await anyio.sleep(0)
        group.cancel_scope.cancel()
    box.got.append(True)


async def moves_on_though_it_cleans_up(box):
    with anyio.move_on_after(1) as scope:
        try:
            await anyio.sleep(2)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1)
    box.got.append(scope.cancelled_caught)


async def holds_for_ever(box):
    async with box.lock:
        await anyio.Event().wait()


def two(box):
    return box.value == 2


@backends
@pytest.mark.parametrize(
    ("setup", "workers", "invariant", "verdict"),
    [
        (lambda: Box(value=0), [increments, increments], two, "fails"),
        (lambda: Box(value=0, lock=anyio.Lock()), [increments_locked, increments_locked], two, "holds"),
        (lambda: Box(value=0), [increments_in_a_group], two, "fails"),
        (lambda: Box(got=0, stream=anyio.create_memory_object_stream(1)), [sends, receives], lambda b: b.got == 1, "holds"),
        (lambda: Box(value=0, event=anyio.Event()), [waits, sets_too_early], None, "fails"),
        (lambda: Box(value=0, lock=anyio.Lock()), [holds_for_ever, increments_locked], None, "fails"),
        (lambda: Box(got=[], longer=2), [moves_on], lambda b: b.got == [True], "holds"),
        (lambda: Box(got=[], longer=0.5), [moves_on], lambda b: b.got == [False], "holds"),
        (lambda: Box(got=[], longer=2), [fails_after], lambda b: b.got == [True], "holds"),
        (lambda: Box(got=[], longer=2, value=0), [moves_on, increments], lambda b: b.value and all(b.got), "holds"),
        (lambda: Box(got=[]), [cancels_its_group], lambda b: b.got == [True], "holds"),
        (lambda: Box(got=[]), [moves_on_though_it_cleans_up], lambda b: b.got == [True], "holds"),
    ],
    ids=["counter", "lock", "group", "stream", "event", "lock that is never given back",
         "deadline", "in time", "deadline that raises", "deadline beside others", "group that is cancelled", "shield"],
)
def test_programs_of_anyio(backend, setup, workers, invariant, verdict):
    result = exhaust(setup, workers, invariant, backend=backend)
    assert (result.verdict, result.exhausted) == (verdict, True), result.explanation


def add(box):
    seen = box.value
    box.value = seen + 1


async def adds_in_a_thread(box):
    await anyio.to_thread.run_sync(add, box)


async def adds_from_a_thread(box):
    def function():
        anyio.from_thread.run(anyio.sleep, 1)
        anyio.from_thread.run_sync(add, box)

    await anyio.to_thread.run_sync(function)


@one_interval
@backends
def test_threads(backend):
    def setup():
        return Box(value=0)

    def explored(worker):
        return exhaust(setup, [worker, worker], lambda box: box.value == 2, backend=backend, max_schedules=300)

    assert explored(adds_in_a_thread).verdict == "fails"
    result = explored(adds_from_a_thread)
    assert result.verdict in ("holds", "no_bug_found"), result.explanation


async def asks_a_server(box):
    async def answers(stream):
        async with stream:
            await stream.send(await stream.receive())

    async with anyio.create_task_group() as group:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        group.start_soon(listener.serve, answers)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(b"x")
            box.got = await stream.receive()
        group.cancel_scope.cancel()


@one_interval
@backends
def test_sockets(backend):
    result = exhaust(lambda: Box(got=None), [asks_a_server], lambda box: box.got == b"x", backend=backend, max_schedules=40)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation


@one_interval
def test_asyncio_within_a_run_of_trio():
    trio = pytest.importorskip("trio")

    async def main():
        result = exhaust(lambda: Box(value=0), [increments, increments], lambda box: box.value == 2, backend="asyncio")
        assert trio.lowlevel.in_trio_run()
        await anyio.sleep(0)
        return result

    assert trio.run(main).verdict == "fails"
