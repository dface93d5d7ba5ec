# expect: missing-guard
import asyncio


class Queue:
    def __init__(self):
        self.guard = asyncio.Lock()
        self.jobs = []
        self.flusher = None

    def start(self):
        self.flusher = asyncio.create_task(self.flush_forever())

    async def flush_forever(self):
        while True:
            async with self.guard:
                for job in self.jobs:
                    await job.send()
                self.jobs.clear()
            await asyncio.sleep(1)

    async def put(self, job):
        async with self.guard:
            self.jobs.append(job)

    async def reset(self):
        self.jobs.clear()  # HERE
