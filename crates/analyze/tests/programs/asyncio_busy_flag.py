# expect: clean
# The flag is a lock: tested and set without a checkpoint, and reset in a finally.
import asyncio


class Refresher:
    def __init__(self, source):
        self.source = source
        self.refreshing = False
        self.rows = []
        self.age = 0

    async def refresh(self):
        if self.refreshing:
            return
        self.refreshing = True
        try:
            if self.age > 10:
                self.rows = await self.source.rows()
                self.age = 0
        finally:
            self.refreshing = False


async def main(source):
    one = Refresher(source)
    await asyncio.gather(one.refresh(), one.refresh())


asyncio.run(main(None))
