# expect: lifetime-mismatch
# Who waits for the lease holds the old lock; who comes later makes a new one.
import trio


class Leases:
    def __init__(self, store):
        self._store = store
        self._locks = {}

    def _lock(self, name):
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = trio.Lock()
        return lock

    async def renew(self, name):
        lock = self._lock(name)
        await lock.acquire()
        try:
            row = await self._store.read(name)
            await self._store.write(name, row + 1)
        finally:
            lock.release()
            del self._locks[name]  # HERE


async def main(store, names):
    leases = Leases(store)
    async with trio.open_nursery() as nursery:
        for name in names:
            nursery.start_soon(leases.renew, name)
