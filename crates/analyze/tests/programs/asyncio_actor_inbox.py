# expect: clean
# Only the loop of the actor touches its state; others send to its inbox.
import asyncio


class Counter:
    def __init__(self):
        self._inbox = asyncio.Queue()
        self._total = 0
        self._task = None

    def start(self):
        self._task = asyncio.create_task(self._run())

    async def add(self, n):
        await self._inbox.put(n)

    async def _run(self):
        while True:
            n = await self._inbox.get()
            before = self._total
            await asyncio.sleep(0)
            self._total = before + n


async def main():
    counter = Counter()
    counter.start()
    await asyncio.gather(*(counter.add(n) for n in range(10)))


asyncio.run(main())
