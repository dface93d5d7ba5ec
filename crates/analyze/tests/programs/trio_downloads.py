# expect: toctou check-then-act
import trio


class Downloads:
    def __init__(self, most):
        self.most = most
        self.running = 0

    async def fetch(self, host, path):
        while self.running >= self.most:
            await trio.sleep(0.1)
        await host.resolve()
        self.running += 1  # HERE
        try:
            return await host.get(path)
        finally:
            self.running -= 1


async def main(host, paths):
    downloads = Downloads(3)
    async with trio.open_nursery() as nursery:
        for path in paths:
            nursery.start_soon(downloads.fetch, host, path)


trio.run(main, None, [])
