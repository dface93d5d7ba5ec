# expect: toctou
# A token is fetched again although another task is already fetching it; the older one wins.
import asyncio


class Client:
    def __init__(self, backend):
        self.backend = backend
        self.token = None

    async def login(self):
        if self.token is None:
            fresh = await self.backend.authenticate()
            self.token = fresh  # HERE
        return self.token


async def main(backend):
    client = Client(backend)
    await asyncio.gather(*(client.login() for _ in range(3)))


if __name__ == "__main__":
    asyncio.run(main(None))
