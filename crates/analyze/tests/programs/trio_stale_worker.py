# expect: stale-reference
import trio

workers = {}


class Worker:
    def __init__(self):
        self.jobs = []
        self.closed = False

    def close(self):
        self.closed = True


async def submit(name, job):
    worker = workers[name]
    await trio.sleep(0.1)
    worker.jobs.append(job)  # HERE


async def retire(name):
    worker = workers.pop(name)
    worker.close()
    await trio.sleep(0)


async def main():
    workers["a"] = Worker()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(submit, "a", 1)
        nursery.start_soon(retire, "a")


trio.run(main)
