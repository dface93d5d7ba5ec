"""limits: counters in memory, with a lock for each key."""

from __future__ import annotations

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from cases import Case, explore_all


class Counted:
    def __init__(self) -> None:
        self.storage = MemoryStorage()


class Limited:
    def __init__(self, strategy) -> None:
        self.limiter = strategy(MemoryStorage())
        self.passed: list[str] = []
        self.limit = RateLimitItemPerMinute(1)


def count(counted: Counted) -> None:
    counted.storage.incr("key", 60)


def hit(limited: Limited) -> None:
    if limited.limiter.hit(limited.limit, "user"):
        limited.passed.append("passed")


def counted_once() -> Counted:
    counted = Counted()
    counted.storage.incr("key", 60)
    return counted


explore_all("limits", [
    Case("a key that is new: both are counted", Counted, [count, count], lambda c: c.storage.get("key") == 2,
         expected="fails"),
    Case("a key that is known: both are counted", counted_once, [count, count], lambda c: c.storage.get("key") == 3),
    Case("one per minute in a fixed window: one gets through", lambda: Limited(FixedWindowRateLimiter), [hit, hit],
         lambda s: len(s.passed) == 1, expected="fails"),
    Case("one per minute in a moving window: one gets through", lambda: Limited(MovingWindowRateLimiter), [hit, hit],
         lambda s: len(s.passed) == 1, expected="fails"),
])
