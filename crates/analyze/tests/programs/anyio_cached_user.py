# expect: toctou
import anyio

cache: dict[int, str] = {}


async def load_user(db, user_id):
    try:
        return cache[user_id]
    except KeyError:
        user = await db.fetch(user_id)
        cache[user_id] = user  # HERE
        return user


async def main(db):
    async with anyio.create_task_group() as tg:
        for _ in range(2):
            tg.start_soon(load_user, db, 1)
