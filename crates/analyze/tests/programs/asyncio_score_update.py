# expect: atomicity-gap lost-update
import asyncio

scores = {}


async def bonus(player):
    await asyncio.sleep(0)
    return len(player)


async def award(player):
    scores[player] = scores.get(player, 0) + await bonus(player)  # HERE


async def main():
    await asyncio.gather(award("ann"), award("bob"), award("ann"))


asyncio.run(main())
