# expect: toctou lost-wakeup
import asyncio


class Channel:
    def __init__(self, transport):
        self.transport = transport
        self.connected = False
        self.changed = asyncio.Event()
        self.reader = asyncio.create_task(self.read())

    async def read(self):
        async for message in self.transport:
            if message == "connected":
                self.connected = True
                self.changed.set()

    async def wait_for_connection(self):
        if not self.connected:
            await self.transport.poke()
            self.changed.clear()  # HERE
            await self.changed.wait()
