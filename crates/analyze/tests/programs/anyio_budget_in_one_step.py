# expect: clean
import anyio


class Budget:
    def __init__(self, amount):
        self.amount = amount

    async def spend(self, ledger, cost):
        if self.amount < cost:
            raise ValueError("too much")
        self.amount -= cost
        try:
            await ledger.send(cost)
        except BaseException:
            self.amount += cost
            raise


async def main():
    budget = Budget(100)
    send, receive = anyio.create_memory_object_stream(10)
    async with anyio.create_task_group() as group:
        group.start_soon(budget.spend, send, 10)
        group.start_soon(budget.spend, send, 20)


anyio.run(main)
