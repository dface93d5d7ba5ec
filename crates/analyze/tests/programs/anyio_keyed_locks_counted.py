# expect: clean
import anyio


class Gate:
    def __init__(self):
        self.lock = anyio.Lock()
        self.users = 0


gates = {}
pages = {}


async def page(url, fetch):
    gate = gates.setdefault(url, Gate())
    gate.users += 1
    try:
        async with gate.lock:
            if url not in pages:
                pages[url] = await fetch(url)
            return pages[url]
    finally:
        gate.users -= 1
        if gate.users == 0:
            del gates[url]


async def main(urls, fetch):
    async with anyio.create_task_group() as group:
        for url in urls:
            group.start_soon(page, url, fetch)


anyio.run(main, [], None)
