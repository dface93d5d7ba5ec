# expect: toctou
import trio


class Budget:
    def __init__(self, amount):
        self.amount = amount

    async def spend(self, price, shop):
        if self.amount < price:
            raise ValueError("too expensive")
        await shop.confirm(price)
        self.amount -= price  # HERE


async def main(shop):
    budget = Budget(100)
    async with trio.open_nursery() as nursery:
        for price in (60, 70):
            nursery.start_soon(budget.spend, price, shop)


trio.run(main, None)
