# expect: atomicity-gap cancellation-leak
import trio

_cache = {}
_lock = trio.Lock()


async def fetch(key, load):
    await _lock.acquire()
    try:
        value = _cache[key]
    except KeyError:
        value = await load(key)  # HERE
        _cache[key] = value
    _lock.release()
    return value


async def main(load):
    async with trio.open_nursery() as nursery:
        for key in "aab":
            nursery.start_soon(fetch, key, load)


trio.run(main, None)
