# expect: clean
import asyncio
from collections import Counter

scores = Counter()


async def bonus(player):
    await asyncio.sleep(0)
    return len(player)


async def award(player):
    points = await bonus(player)
    scores[player] += points


async def main():
    await asyncio.gather(award("ann"), award("bob"), award("ann"))


asyncio.run(main())
