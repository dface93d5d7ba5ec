"""aiolimiter: a leaky bucket for tasks."""

from __future__ import annotations

import asyncio

from aiolimiter import AsyncLimiter

from cases import Case, explore_all


class Limited:
    def __init__(self, rate: float) -> None:
        self.limiter = AsyncLimiter(rate, time_period=60)
        self.passed: list[float] = []


async def passes(state: Limited) -> None:
    async with state.limiter:
        state.passed.append(asyncio.get_running_loop().time())


async def gives_up(state: Limited) -> None:
    try:
        await asyncio.wait_for(state.limiter.acquire(), timeout=10)
    except asyncio.TimeoutError:
        return
    state.passed.append(asyncio.get_running_loop().time())


def a_minute_apart(state: Limited) -> bool:
    times = sorted(state.passed)
    return all(later - earlier >= 59.999 for earlier, later in zip(times, times[1:]))


explore_all("aiolimiter", [
    Case("one a minute: two are a minute apart", lambda: Limited(1), [passes, passes],
         lambda s: len(s.passed) == 2 and a_minute_apart(s)),
    Case("one a minute: three are a minute apart each", lambda: Limited(1), [passes, passes, passes],
         lambda s: len(s.passed) == 3 and a_minute_apart(s), expected="no_bug_found", options={"max_schedules": 500}),
    Case("two a minute: two pass at once", lambda: Limited(2), [passes, passes],
         lambda s: len(set(s.passed)) == 1),
    Case("one gives up: the others pass all the same", lambda: Limited(1), [passes, gives_up, passes],
         lambda s: len(s.passed) >= 2 and a_minute_apart(s), expected="no_bug_found", options={"max_schedules": 500}),
])
