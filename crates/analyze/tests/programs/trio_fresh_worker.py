# expect: clean
import trio

workers = {}


class Worker:
    def __init__(self):
        self.jobs = []
        self.closed = False

    def close(self):
        self.closed = True


async def submit(name, job):
    await trio.sleep(0.1)
    worker = workers.get(name)
    if worker is not None:
        worker.jobs.append(job)


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
