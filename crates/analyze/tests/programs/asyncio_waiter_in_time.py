# expect: clean
import asyncio


class Door:
    def __init__(self, log):
        self.log = log
        self.open = False
        self.visitors = []

    async def enter(self):
        await self.log.write("at the door")
        if self.open:
            return
        visitor = asyncio.get_running_loop().create_future()
        self.visitors.append(visitor)
        await visitor

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
