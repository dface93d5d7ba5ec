# expect: missing-guard
import trio


class Ledger:
    def __init__(self):
        self.lock = trio.Lock()
        self.entries = []

    async def settle(self, bank):
        async with self.lock:
            total = sum(self.entries)
            await bank.transfer(total)
            self.entries.clear()

    async def record(self, amount):
        self.entries.append(amount)  # HERE


async def main(bank):
    ledger = Ledger()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.settle, bank)
        for amount in range(5):
            nursery.start_soon(ledger.record, amount)
