# expect: clean
import asyncio


class Dispatcher:
    def __init__(self, most):
        self.most = most
        self.running = 0
        self.jobs = asyncio.Queue()

    async def submit(self, job):
        if self.running >= self.most:
            raise RuntimeError("busy")
        self.running += 1
        try:
            return await job()
        finally:
            self.running -= 1


async def main(jobs):
    dispatcher = Dispatcher(4)
    async with asyncio.timeout(10):
        await asyncio.gather(*(dispatcher.submit(job) for job in jobs))
