# expect: toctou
import asyncio


class Pool:
    def __init__(self, size, dial):
        self._size = size
        self._dial = dial
        self._ready = False
        self._idle = asyncio.Queue()

    async def _fill(self):
        if self._ready:
            return
        first = await self._dial()
        self._idle.put_nowait(first)
        for _ in range(self._size - 1):
            self._idle.put_nowait(await self._dial())
        self._ready = True  # HERE

    async def get(self):
        await self._fill()
        return await self._idle.get()
