# expect: clean
# A connection object for each client; its state is the client's own.
import asyncio


class Session:
    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.user = None
        self.count = 0

    async def login(self):
        if self.user is None:
            line = await self.reader.readline()
            self.user = line.decode().strip()

    async def serve(self):
        await self.login()
        while True:
            line = await self.reader.readline()
            if not line:
                break
            seen = self.count
            self.writer.write(line)
            await self.writer.drain()
            self.count = seen + 1


async def handle(reader, writer):
    await Session(reader, writer).serve()


async def main():
    server = await asyncio.start_server(handle, "localhost", 8000)
    async with server:
        await server.serve_forever()


asyncio.run(main())
