# expect: clean
import asyncio


class Client:
    def __init__(self, backend):
        self.backend = backend
        self.token = None
        self.gate = asyncio.Lock()

    async def login(self):
        if self.token is None:
            async with self.gate:
                if self.token is None:
                    self.token = await self.backend.authenticate()
        return self.token


async def main(backend):
    client = Client(backend)
    await asyncio.gather(*(client.login() for _ in range(3)))


if __name__ == "__main__":
    asyncio.run(main(None))
