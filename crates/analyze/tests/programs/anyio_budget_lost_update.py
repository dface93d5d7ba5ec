# expect: atomicity-gap lost-update
import anyio


class Budget:
    def __init__(self, amount):
        self.amount = amount

    async def spend(self, ledger, cost):
        left = self.amount
        await ledger.send(cost)
        self.amount = left - cost  # HERE


async def main():
    budget = Budget(100)
    send, receive = anyio.create_memory_object_stream(10)
    async with anyio.create_task_group() as group:
        group.start_soon(budget.spend, send, 10)
        group.start_soon(budget.spend, send, 20)


anyio.run(main)
