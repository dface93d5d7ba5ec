# expect: clean
import asyncio
import time


class Api:
    def __init__(self, session, limit):
        self._session = session
        self._limit = asyncio.Semaphore(limit)
        self._renewal = asyncio.Lock()
        self._token = None
        self._until = 0.0

    def _stale(self):
        return self._token is None or self._until < time.monotonic()

    async def _authorise(self):
        if not self._stale():
            return
        async with self._renewal:
            if self._stale():
                answer = await self._session.post("/token")
                body = await answer.json()
                self._token = body["token"]
                self._until = time.monotonic() + body["seconds"]

    async def get(self, path):
        async with self._limit:
            await self._authorise()
            return await self._session.get(path, headers={"token": self._token})


async def all_pages(session, paths):
    api = Api(session, 8)
    return await asyncio.gather(*(api.get(path) for path in paths))
