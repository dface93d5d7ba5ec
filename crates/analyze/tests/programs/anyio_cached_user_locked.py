# expect: clean
import anyio

cache: dict[int, str] = {}
lock = anyio.Lock()


async def load_user(db, user_id):
    async with lock:
        if user_id not in cache:
            cache[user_id] = await db.fetch(user_id)
        return cache[user_id]


async def main(db):
    async with anyio.create_task_group() as tg:
        for _ in range(2):
            tg.start_soon(load_user, db, 1)
