# expect: atomicity-gap cancellation-leak
import trio

slots = trio.Semaphore(3)


async def job(work):
    await slots.acquire()
    await work()  # HERE
    slots.release()


async def main(works):
    with trio.move_on_after(10):
        async with trio.open_nursery() as nursery:
            for work in works:
                nursery.start_soon(job, work)
