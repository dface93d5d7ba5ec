# expect: clean
import asyncio


class Client:
    def __init__(self, dial):
        self.dial = dial
        self.idle = []
        self.free = asyncio.Semaphore(4)

    async def ask(self, question):
        async with self.free:
            wire = self.idle.pop() if self.idle else await self.dial()
            try:
                wire.writer.write(question)
                await wire.writer.drain()
                answer = await wire.reader.readline()
            except BaseException:
                wire.writer.close()
                raise
            self.idle.append(wire)
            return answer


async def main(dial):
    client = Client(dial)
    await asyncio.gather(*(client.ask(b"?\n") for _ in range(9)))


asyncio.run(main(None))
