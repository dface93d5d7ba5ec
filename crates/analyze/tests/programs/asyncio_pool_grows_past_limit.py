# expect: toctou
import asyncio


class ConnectionPool:
    def __init__(self, connect, maxsize):
        self._connect = connect
        self._maxsize = maxsize
        self._size = 0
        self._free = []

    async def acquire(self):
        if self._free:
            return self._free.pop()
        if self._size >= self._maxsize:
            raise RuntimeError("pool exhausted")
        conn = await self._connect()
        self._size += 1  # HERE
        return conn

    def release(self, conn):
        self._free.append(conn)


async def main(connect):
    pool = ConnectionPool(connect, 2)
    await asyncio.gather(*[pool.acquire() for _ in range(5)])
