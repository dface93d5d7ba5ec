# expect: lifetime-mismatch
from contextlib import asynccontextmanager

import anyio

_room_locks: dict[str, anyio.Lock] = {}


@asynccontextmanager
async def room(name):
    lock = _room_locks.get(name)
    if lock is None:
        lock = _room_locks[name] = anyio.Lock()
    async with lock:
        try:
            yield name
        finally:
            _room_locks.pop(name, None)  # HERE


async def visit(name):
    async with room(name):
        await anyio.sleep(1)


async def main():
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(visit, "kitchen")


anyio.run(main)
