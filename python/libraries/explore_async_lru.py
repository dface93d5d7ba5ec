"""async_lru: one call for all who ask for the same, also if some of them do not wait for it."""

from __future__ import annotations

import asyncio

from async_lru import alru_cache

from cases import Case, explore_all


class Cached:
    def __init__(self, **options) -> None:
        self.calls = 0

        @alru_cache(**options)
        async def square(n: int) -> int:
            self.calls += 1
            await asyncio.sleep(0)
            return n * n

        self.square = square


async def ask(cached: Cached) -> None:
    assert await cached.square(3) == 9


async def ask_impatiently(cached: Cached) -> None:
    task = asyncio.ensure_future(cached.square(3))
    await asyncio.sleep(0)
    task.cancel()
    try:
        assert await task == 9
    except asyncio.CancelledError:
        pass


async def forget(cached: Cached) -> None:
    cached.square.cache_invalidate(3)


async def ask_for_another(cached: Cached) -> None:
    assert await cached.square(4) == 16


def counts_add_up(cached: Cached) -> bool:
    info = cached.square.cache_info()
    return info.hits + info.misses == 2


# Each call is a task of its own, with callbacks: there are too many orders for all of them.
FEW = {"max_schedules": 500}

explore_all("async-lru", [
    Case("two ask for the same: one call, and both are answered", Cached, [ask, ask],
         lambda c: c.calls == 1 and counts_add_up(c)),
    Case("one of them is cancelled: the other one is answered", Cached, [ask, ask_impatiently], None,
         expected="no_bug_found", options=FEW),
    Case("an entry is evicted while it is computed: every caller gets an answer", Cached, [ask, forget, ask], None,
         expected="no_bug_found", options=FEW),
    Case("room for one: both are answered", lambda: Cached(maxsize=1), [ask, ask_for_another], None,
         expected="no_bug_found", options=FEW),
])
