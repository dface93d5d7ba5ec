# expect: clean
import anyio


class Batch:
    def __init__(self, sink):
        self.sink = sink
        self.items = []

    async def add(self, item):
        self.items.append(item)

    async def flush(self):
        items, self.items = self.items, []
        await self.sink.send(items)


async def main(sink, source):
    batch = Batch(sink)

    async def ticker():
        while True:
            await anyio.sleep(1)
            await batch.flush()

    async with anyio.create_task_group() as group:
        group.start_soon(ticker)
        async for item in source:
            await batch.add(item)
