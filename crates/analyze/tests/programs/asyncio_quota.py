# expect: atomicity-gap lost-update
import asyncio


class Quota:
    def __init__(self, store):
        self.store = store
        self.used = {}

    async def charge(self, user, amount):
        before = self.used.get(user, 0)
        await self.store.record(user, amount)
        self.used[user] = before + amount  # HERE


async def main(store):
    quota = Quota(store)
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(quota.charge("ann", 1))
