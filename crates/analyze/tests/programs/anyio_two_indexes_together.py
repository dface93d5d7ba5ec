# expect: clean
import anyio

devices = {}
names = {}


async def attach(serial, name, device):
    devices[serial] = device
    names[serial] = name
    try:
        await device.run()
    finally:
        del devices[serial]
        del names[serial]
        await device.aclose()


async def describe(serial):
    await anyio.sleep(0)
    if serial in names:
        return names[serial], devices[serial].model
    return None


async def main(found, asked):
    async with anyio.create_task_group() as group:
        for serial, device in found.items():
            group.start_soon(attach, serial, str(serial), device)
        for serial in asked:
            group.start_soon(describe, serial)
