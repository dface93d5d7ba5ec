"""aiocache: a cache in memory, and locks that do not lock everybody out."""

from __future__ import annotations

import asyncio

from aiocache import Cache, cached, cached_stampede
from aiocache.lock import OptimisticLock, OptimisticLockError, RedLock

from cases import Case, explore_all


class Shared:
    def __init__(self) -> None:
        RedLock._EVENTS.clear()
        self.cache = Cache(Cache.MEMORY, timeout=0)
        self.calls = self.inside = self.most = 0

    async def _answer(self) -> int:
        self.calls += 1
        await asyncio.sleep(0)
        return 42


async def ask(shared: Shared) -> None:
    assert await shared.answer() == 42


async def enter(shared: Shared) -> None:
    async with RedLock(shared.cache, "key", lease=60):
        shared.inside += 1
        shared.most = max(shared.most, shared.inside)
        await asyncio.sleep(0)
        shared.inside -= 1


async def add(shared: Shared) -> None:
    await shared.cache.increment("key")


async def read_and_write(shared: Shared) -> None:
    seen = await shared.cache.get("key", 0)
    await shared.cache.set("key", seen + 1)


async def read_and_write_if_unchanged(shared: Shared) -> None:
    while True:
        try:
            async with OptimisticLock(shared.cache, "key") as lock:
                seen = await shared.cache.get("key", 0)
                await lock.cas(seen + 1)
            return
        except OptimisticLockError:
            pass


def counted() -> Shared:
    shared = Shared()
    shared.cache._cache["key"] = 0
    return shared


def counted_with_timeout() -> Shared:
    """As it comes: each operation is a task of its own, which is waited for with a timeout."""
    shared = counted()
    shared.cache.timeout = 5
    return shared


def with_stampede() -> Shared:
    shared = Shared()
    shared.answer = cached_stampede(lease=60, cache=Cache.MEMORY, timeout=0, key="answer")(shared._answer)
    shared.answer.cache._cache.clear()
    return shared


def without() -> Shared:
    shared = Shared()
    shared.answer = cached(cache=Cache.MEMORY, timeout=0, key="answer")(shared._answer)
    shared.answer.cache._cache.clear()
    return shared


explore_all("aiocache", [
    Case("increment: both are counted", counted, [add, add], lambda s: s.cache._cache["key"] == 2),
    Case("get and set: both are counted", counted_with_timeout, [read_and_write] * 2, lambda s: s.cache._cache["key"] == 2,
         expected="fails"),
    Case("OptimisticLock: both are counted", counted, [read_and_write_if_unchanged] * 2,
         lambda s: s.cache._cache["key"] == 2),
    Case("@cached: one call for two who ask", without, [ask, ask], lambda s: s.calls == 1, expected="fails"),
    Case("@cached_stampede: one call for two who ask", with_stampede, [ask, ask], lambda s: s.calls == 1),
    Case("RedLock: two are never inside at once", Shared, [enter, enter], lambda s: s.most == 1),
    Case("RedLock: three are never inside at once", Shared, [enter] * 3, lambda s: s.most == 1, expected="fails"),
])
