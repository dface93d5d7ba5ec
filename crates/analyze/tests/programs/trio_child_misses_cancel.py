# expect: toctou
# A child that is still on its way is not in the table when all children are cancelled.
import trio


class Supervisor:
    def __init__(self, nursery):
        self._nursery = nursery
        self._children = {}
        self._closing = False

    async def start_child(self, name, run):
        if self._closing:
            raise RuntimeError("closing")
        scope = await self._nursery.start(run)
        self._children[name] = scope  # HERE

    def close(self):
        self._closing = True
        for scope in list(self._children.values()):
            scope.cancel()


async def main():
    async with trio.open_nursery() as nursery:
        supervisor = Supervisor(nursery)
        nursery.start_soon(supervisor.start_child, "a", trio.sleep_forever)
        await trio.sleep(1)
        supervisor.close()


trio.run(main)
