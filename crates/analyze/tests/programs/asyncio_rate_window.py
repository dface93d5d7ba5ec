# expect: toctou
import asyncio
import time
from collections import deque


class RateLimiter:
    def __init__(self, limit, window):
        self.limit = limit
        self.window = window
        self.calls = deque()
        self.started = asyncio.Event()

    async def acquire(self):
        now = time.monotonic()
        while self.calls and now - self.calls[0] > self.window:
            self.calls.popleft()
        if len(self.calls) >= self.limit:
            await asyncio.sleep(self.window - (now - self.calls[0]))
        self.calls.append(time.monotonic())  # HERE


async def main(jobs):
    limiter = RateLimiter(5, 1.0)

    async def one(job):
        await limiter.acquire()
        return await job()

    await asyncio.gather(*(one(job) for job in jobs))
