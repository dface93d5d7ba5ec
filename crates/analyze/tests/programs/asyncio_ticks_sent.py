# expect: stale-reference iteration
import asyncio


class Exchange:
    def __init__(self):
        self.followers = {}
        self.ticks = asyncio.Queue()

    async def follow(self, who, socket):
        self.followers[who] = socket
        try:
            await socket.wait_closed()
        finally:
            self.followers.pop(who, None)

    async def publish(self):
        while True:
            tick = await self.ticks.get()
            for who, socket in self.followers.items():  # HERE
                await socket.send(f"{who}: {tick}")


async def main(port):
    exchange = Exchange()

    async def handle(reader, writer):
        await exchange.follow(reader, writer)

    server = await asyncio.start_server(handle, port=port)
    publisher = asyncio.create_task(exchange.publish())
    async with server:
        await server.serve_forever()
    publisher.cancel()
