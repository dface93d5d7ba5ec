# expect: clean
import asyncio


class Supervisor:
    def __init__(self, factory):
        self.factory = factory
        self.worker = None
        self.lock = asyncio.Lock()

    async def ensure_worker(self):
        async with self.lock:
            if self.worker is not None and not self.worker.done():
                return self.worker
            config = await self.factory.load()
            self.worker = asyncio.create_task(self.factory.run(config))
            return self.worker

    async def stop(self):
        async with self.lock:
            if self.worker is not None:
                self.worker.cancel()
                self.worker = None
