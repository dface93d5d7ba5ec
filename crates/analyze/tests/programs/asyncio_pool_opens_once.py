# expect: clean
import asyncio


class Pool:
    def __init__(self, size, dial):
        self._size = size
        self._dial = dial
        self._ready = False
        self._opening = asyncio.Lock()
        self._idle = asyncio.Queue()

    async def _fill(self):
        if self._ready:
            return
        async with self._opening:
            if self._ready:
                return
            for _ in range(self._size):
                self._idle.put_nowait(await self._dial())
            self._ready = True

    async def get(self):
        await self._fill()
        return await self._idle.get()
