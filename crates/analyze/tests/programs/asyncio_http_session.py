# expect: toctou check-then-act
import asyncio

_session = None


class Session:
    closed = False

    @classmethod
    async def open(cls):
        await asyncio.sleep(0.01)
        return cls()


async def get_session():
    global _session
    if _session is None or _session.closed:
        _session = await Session.open()  # HERE
    return _session


async def health_check(url):
    session = await get_session()
    return session, url


async def main():
    await asyncio.gather(*(health_check(f"http://host/{i}") for i in range(5)))


asyncio.run(main())
