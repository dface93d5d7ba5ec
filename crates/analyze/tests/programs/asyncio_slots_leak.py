# expect: atomicity-gap cancellation-leak
import asyncio


class Limiter:
    def __init__(self, most):
        self.most = most
        self.running = 0
        self.free = asyncio.Event()

    async def call(self, work):
        while self.running >= self.most:
            self.free.clear()
            await self.free.wait()
        self.running += 1
        result = await work()  # HERE
        self.running -= 1
        self.free.set()
        return result


async def main(jobs):
    limiter = Limiter(2)
    await asyncio.gather(*[limiter.call(job) for job in jobs])


asyncio.run(main([]))
