# expect: clean
# The lock goes when the last of those who use it has left.
import trio


class Leases:
    def __init__(self, store):
        self._store = store
        self._locks = {}
        self._users = {}

    async def renew(self, name):
        lock = self._locks.setdefault(name, trio.Lock())
        self._users[name] = self._users.get(name, 0) + 1
        try:
            async with lock:
                row = await self._store.read(name)
                await self._store.write(name, row + 1)
        finally:
            self._users[name] -= 1
            if self._users[name] == 0:
                del self._users[name]
                del self._locks[name]


async def main(store, names):
    leases = Leases(store)
    async with trio.open_nursery() as nursery:
        for name in names:
            nursery.start_soon(leases.renew, name)
