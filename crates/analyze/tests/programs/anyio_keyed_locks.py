# expect: lifetime-mismatch
from collections import defaultdict

import anyio

gates = defaultdict(anyio.Lock)
pages = {}


async def page(url, fetch):
    gate = gates[url]
    async with gate:
        if url not in pages:
            pages[url] = await fetch(url)
    gates.pop(url, None)  # HERE
    return pages[url]


async def main(urls, fetch):
    async with anyio.create_task_group() as group:
        for url in urls:
            group.start_soon(page, url, fetch)


anyio.run(main, [], None)
