# expect: toctou
import asyncio

import aiohttp

_session = None


async def session():
    global _session
    if _session is None:
        created = aiohttp.ClientSession()
        await created.__aenter__()
        _session = created  # HERE
    return _session


async def fetch(url):
    s = await session()
    async with s.get(url) as answer:
        return await answer.text()


async def main(urls):
    return await asyncio.gather(*map(fetch, urls))


if __name__ == "__main__":
    asyncio.run(main(["http://localhost"]))
