# expect: clean
import asyncio


class Lobby:
    def __init__(self):
        self.rooms: dict[str, dict] = {}
        self.changed = asyncio.Condition()

    async def join(self, name, user):
        await user.greet(name)
        room = self.rooms.setdefault(name, {})
        room[user.id] = user

    async def leave(self, name, user):
        room = self.rooms[name]
        room.pop(user.id, None)
        if not room:
            del self.rooms[name]


async def main(users):
    lobby = Lobby()
    async with asyncio.TaskGroup() as tg:
        for user in users:
            tg.create_task(lobby.join("all", user))
            tg.create_task(lobby.leave("all", user))
