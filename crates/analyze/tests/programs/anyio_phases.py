# expect: clean
# The first group is over before the second one begins.
import anyio

results = {}


async def fill(key):
    if key not in results:
        await anyio.sleep(0.1)
        results[key] = len(key)


async def show(key):
    await anyio.sleep(0.1)
    print(results[key])


async def main():
    for key in ("a", "bb"):
        await fill(key)
    async with anyio.create_task_group() as group:
        for key in list(results):
            group.start_soon(show, key)


anyio.run(main)
