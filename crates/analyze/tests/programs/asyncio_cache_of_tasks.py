# expect: clean
# What is stored is the task, at once; everybody awaits the same one.
import asyncio

_pages = {}


async def load(url):
    await asyncio.sleep(0.1)
    return url.upper()


async def page(url):
    task = _pages.get(url)
    if task is None:
        task = _pages[url] = asyncio.create_task(load(url))
    return await task


async def main(urls):
    return await asyncio.gather(*map(page, urls))


if __name__ == "__main__":
    asyncio.run(main(["a", "b", "a"]))
