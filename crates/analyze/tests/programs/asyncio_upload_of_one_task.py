# expect: clean
# Each upload belongs to the task that makes it; the loop starts one task for each file.
import asyncio


class Upload:
    def __init__(self, client, name):
        self.client = client
        self.name = name
        self.session = None
        self.sent = 0

    async def start(self):
        if self.session is None:
            self.session = await self.client.open(self.name)

    async def send(self, part):
        before = self.sent
        done = await self.client.put(self.session, part)
        self.sent = before + done

    async def run(self, parts):
        await self.start()
        for part in parts:
            await self.send(part)
        return self.sent


async def upload(client, name, parts):
    one = Upload(client, name)
    return await one.run(parts)


async def main(client, files):
    async with asyncio.TaskGroup() as group:
        for name, parts in files:
            group.create_task(upload(client, name, parts))
