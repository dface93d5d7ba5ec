# expect: atomicity-gap lost-update
# The old total is read before the stream is, so what others add meanwhile is lost.
import trio

traffic = {"in": 0, "out": 0}


async def pump(stream):
    while True:
        seen = traffic["in"]
        chunk = await stream.receive_some(4096)
        if not chunk:
            return
        traffic["in"] = seen + len(chunk)  # HERE


async def serve(listeners):
    async with trio.open_nursery() as nursery:
        for stream in listeners:
            nursery.start_soon(pump, stream)


if __name__ == "__main__":
    trio.run(serve, [])
