# expect: clean
import asyncio


class Quota:
    def __init__(self, store):
        self.store = store
        self.used = {}

    async def charge(self, user, amount):
        await self.store.record(user, amount)
        self.used[user] = self.used.get(user, 0) + amount


async def main(store):
    quota = Quota(store)
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(quota.charge("ann", 1))
