"""pyrate-limiter: a bucket in memory."""

from __future__ import annotations

from pyrate_limiter import Duration, InMemoryBucket, Limiter, Rate
from pyrate_limiter.limiter import SingleBucketFactory

from cases import Case, explore_all


class Limited:
    def __init__(self) -> None:
        bucket = InMemoryBucket([Rate(1, Duration.MINUTE)])
        self.limiter = Limiter(SingleBucketFactory(bucket, schedule_leak=False))
        self.bucket = bucket
        self.passed: list[str] = []


def acquire(state: Limited) -> None:
    if state.limiter.try_acquire("user", blocking=False):
        state.passed.append("passed")


def leak(state: Limited) -> None:
    state.bucket.leak(state.bucket.now())


explore_all("pyrate-limiter", [
    # It looks for items by `bisect_left(…, key=attrgetter(…))`, of which it is not known what it touches: too many orders for all.
    Case("one per minute: one gets through", Limited, [acquire, acquire], lambda s: len(s.passed) == 1,
         expected="no_bug_found"),
    Case("one per minute while the bucket leaks", Limited, [acquire, leak, acquire], lambda s: len(s.passed) == 1,
         expected="no_bug_found"),
])
