# expect: stale-reference iteration
import asyncio


class Room:
    def __init__(self):
        self.members = {}

    async def join(self, name, writer):
        self.members[name] = writer

    async def leave(self, name):
        self.members.pop(name, None)

    async def say(self, text):
        for name, writer in self.members.items():  # HERE
            writer.write(text)
            await writer.drain()


room = Room()


async def handle(reader, writer):
    name = await reader.readline()
    await room.join(name, writer)
    await room.say(name)
    await room.leave(name)


async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    await server.serve_forever()


asyncio.run(main())
