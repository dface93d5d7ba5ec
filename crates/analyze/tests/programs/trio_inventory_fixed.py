# expect: clean
import trio

by_name = {}
by_id = {}


async def audit(log):
    while True:
        await trio.sleep(1)
        for name in list(by_name):
            item = by_name[name]
            if item.id not in by_id:
                raise AssertionError("half an item")


async def drop(name, disk):
    item = by_name.pop(name)
    by_id.pop(item.id)
    await disk.delete(item.path)


async def add(item):
    by_name[item.name] = item
    by_id[item.id] = item


async def main(disk, log, names):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(audit, log)
        for name in names:
            nursery.start_soon(drop, name, disk)
