# expect: clean
import asyncio

balance = 100


async def price(item):
    await asyncio.sleep(0.01)
    return len(item)


async def buy(item):
    global balance
    cost = await price(item)
    balance = balance - cost


async def main():
    async with asyncio.TaskGroup() as group:
        for item in ("pen", "paper"):
            group.create_task(buy(item))
    print(balance)


asyncio.run(main())
