# expect: toctou lost-wakeup
# The door may open while the log is written; then nobody wakes this visitor.
import asyncio


class Door:
    def __init__(self, log):
        self.log = log
        self.open = False
        self.visitors = []

    async def enter(self):
        if self.open:
            return
        await self.log.write("waiting")
        visitor = asyncio.get_running_loop().create_future()
        self.visitors.append(visitor)
        await visitor  # HERE

    def unlock(self):
        self.open = True
        for visitor in self.visitors:
            if not visitor.done():
                visitor.set_result(None)
        self.visitors.clear()


async def main(log, people):
    door = Door(log)
    async with asyncio.TaskGroup() as group:
        for _ in range(people):
            group.create_task(door.enter())
        asyncio.get_running_loop().call_later(1, door.unlock)
