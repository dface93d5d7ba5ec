# expect: clean
import trio


class Bus:
    def __init__(self):
        self._channels = {}

    async def subscribe(self, topic, send):
        self._channels[topic] = send

    async def publish(self, message):
        for topic, send in tuple(self._channels.items()):
            await send.send((topic, message))


async def main(sends):
    bus = Bus()
    async with trio.open_nursery() as nursery:
        for n, send in enumerate(sends):
            nursery.start_soon(bus.subscribe, n, send)
        nursery.start_soon(bus.publish, "hello")
