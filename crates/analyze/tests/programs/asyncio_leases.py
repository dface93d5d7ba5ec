# expect: atomicity-gap cancellation-leak
import asyncio


class Leases:
    def __init__(self, pool):
        self.pool = pool
        self.lock = asyncio.Lock()
        self.leased = 0

    async def use(self, job):
        await self.lock.acquire()
        connection = await self.pool.get()  # HERE
        try:
            return await job(connection)
        finally:
            self.lock.release()


async def main(pool, jobs):
    leases = Leases(pool)
    for job in jobs:
        try:
            await asyncio.wait_for(leases.use(job), 1)
        except asyncio.TimeoutError:
            pass
