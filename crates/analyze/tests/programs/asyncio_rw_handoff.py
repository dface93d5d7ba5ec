# expect: toctou
# The waiter raises the state only when it runs; a newcomer can come in before.
import asyncio
from collections import deque


class Gate:
    def __init__(self):
        self._holder = None
        self._waiters = deque()

    async def enter(self):
        me = asyncio.current_task()
        if self._holder is not None:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        self._holder = me  # HERE

    def leave(self):
        self._holder = None
        if self._waiters:
            self._waiters.popleft().set_result(None)


async def job(gate):
    await gate.enter()
    await asyncio.sleep(0)
    gate.leave()


async def main():
    gate = Gate()
    await asyncio.gather(job(gate), job(gate), job(gate))


asyncio.run(main())
