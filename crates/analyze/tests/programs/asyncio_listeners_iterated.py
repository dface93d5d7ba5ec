# expect: stale-reference iteration
import asyncio


class Hub:
    def __init__(self):
        self.listeners = {}

    def join(self, name, send):
        self.listeners[name] = send

    def leave(self, name):
        self.listeners.pop(name, None)

    async def tell(self, text):
        for name, send in self.listeners.items():  # HERE
            await send(f"{name}: {text}")


hub = Hub()


async def serve(reader, writer):
    name = await reader.readline()
    hub.join(name, writer.write)
    try:
        async for line in reader:
            await hub.tell(line)
    finally:
        hub.leave(name)


async def main():
    server = await asyncio.start_server(serve, port=7000)
    await server.serve_forever()


asyncio.run(main())
