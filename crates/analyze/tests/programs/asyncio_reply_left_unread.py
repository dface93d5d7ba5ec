# expect: atomicity-gap cancellation-leak
import asyncio


class Wire:
    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer


class Client:
    def __init__(self, pool):
        self.pool = pool
        self.free = asyncio.Semaphore(4)

    async def ask(self, question):
        await self.free.acquire()
        wire = self.pool.pop()
        wire.writer.write(question)
        await wire.writer.drain()
        answer = await wire.reader.readline()
        self.pool.append(wire)
        self.free.release()  # HERE
        return answer


async def main(pool):
    client = Client(pool)
    await asyncio.gather(*(client.ask(b"?\n") for _ in range(9)))


asyncio.run(main([]))
