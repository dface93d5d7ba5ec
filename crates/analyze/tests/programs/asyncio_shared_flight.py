# expect: clean
# The first one who asks leaves a task that all others await.
import asyncio


class Resolver:
    def __init__(self, lookup):
        self._lookup = lookup
        self._flights = {}

    async def resolve(self, host):
        flight = self._flights.get(host)
        if flight is None:
            flight = asyncio.ensure_future(self._lookup(host))
            self._flights[host] = flight
            flight.add_done_callback(lambda _: self._flights.pop(host, None))
        return await asyncio.shield(flight)


async def main(lookup):
    resolver = Resolver(lookup)
    await asyncio.gather(*(resolver.resolve("example.org") for _ in range(5)))


asyncio.run(main(None))
