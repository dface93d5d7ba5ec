"""anyio on asyncio: its tasks, locks, groups and streams run on the explored event loop as they are."""

import importlib

import pytest
from common import Box, exhaust

anyio = pytest.importorskip("anyio")
# It would be imported in the midst of the first exploration.
importlib.import_module("anyio._backends._asyncio")


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


async def holds_for_ever(box):
    async with box.lock:
        await anyio.Event().wait()


def two(box):
    return box.value == 2


@pytest.mark.parametrize(
    ("setup", "workers", "invariant", "verdict"),
    [
        (lambda: Box(value=0), [increments, increments], two, "fails"),
        (lambda: Box(value=0, lock=anyio.Lock()), [increments_locked, increments_locked], two, "holds"),
        (lambda: Box(value=0), [increments_in_a_group], two, "fails"),
        (lambda: Box(got=0, stream=anyio.create_memory_object_stream(1)), [sends, receives], lambda b: b.got == 1, "holds"),
        (lambda: Box(value=0, event=anyio.Event()), [waits, sets_too_early], None, "fails"),
        (lambda: Box(value=0, lock=anyio.Lock()), [holds_for_ever, increments_locked], None, "fails"),
    ],
    ids=["counter", "lock", "group", "stream", "event", "lock that is never given back"],
)
def test_programs_of_anyio(setup, workers, invariant, verdict):
    result = exhaust(setup, workers, invariant)
    assert (result.verdict, result.exhausted) == (verdict, True), result.explanation
