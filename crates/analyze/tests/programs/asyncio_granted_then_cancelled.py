# expect: atomicity-gap cancellation-leak
# A waiter that has been handed the place and is cancelled before it runs keeps it for ever.
import asyncio
from collections import deque


class Turnstile:
    def __init__(self):
        self._taken = False
        self._line = deque()

    async def enter(self):
        if not self._taken:
            self._taken = True
            return
        ticket = asyncio.get_running_loop().create_future()
        self._line.append(ticket)
        try:
            await ticket  # HERE
        except asyncio.CancelledError:
            if ticket in self._line:
                self._line.remove(ticket)
            raise

    def leave(self):
        if self._line:
            self._line.popleft().set_result(True)
        else:
            self._taken = False
