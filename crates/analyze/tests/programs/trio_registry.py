# expect: atomicity-gap
# Two tables that belong together, and a checkpoint between the removals.
import trio


class Sessions:
    def __init__(self):
        self.names = {}
        self.sockets = {}

    async def open(self, key, socket, name):
        self.names[key] = name
        self.sockets[key] = socket

    async def close(self, key):
        self.names.pop(key)
        await trio.sleep(0)
        self.sockets.pop(key)  # HERE

    async def describe(self, key):
        if key in self.sockets:
            return self.names[key], self.sockets[key]
        return None


async def serve(sessions, key):
    await sessions.open(key, object(), "x")
    await sessions.describe(key)
    await sessions.close(key)


async def main():
    sessions = Sessions()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, sessions, 1)
        nursery.start_soon(serve, sessions, 1)


trio.run(main)
