# expect: clean
import asyncio

_session = None
_session_lock = asyncio.Lock()


class Session:
    closed = False

    @classmethod
    async def open(cls):
        await asyncio.sleep(0.01)
        return cls()


async def get_session():
    global _session
    if _session is not None and not _session.closed:
        return _session
    async with _session_lock:
        if _session is None or _session.closed:
            _session = await Session.open()
        return _session


async def health_check(url):
    session = await get_session()
    return session, url


async def main():
    await asyncio.gather(*(health_check(f"http://host/{i}") for i in range(5)))


asyncio.run(main())
