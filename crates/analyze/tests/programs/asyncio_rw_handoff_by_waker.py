# expect: clean
import asyncio
from collections import deque


class Gate:
    def __init__(self):
        self._taken = False
        self._waiters = deque()

    async def enter(self):
        if not self._taken:
            self._taken = True
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def leave(self):
        if self._waiters:
            self._waiters.popleft().set_result(None)
        else:
            self._taken = False


async def job(gate):
    await gate.enter()
    await asyncio.sleep(0)
    gate.leave()


async def main():
    gate = Gate()
    await asyncio.gather(job(gate), job(gate), job(gate))


asyncio.run(main())
