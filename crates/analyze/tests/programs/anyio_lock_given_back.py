# expect: clean
import anyio

printer = anyio.Lock()
paper = {"left": 100}


async def print_page(device, page):
    await printer.acquire()
    try:
        await device.warm_up()
        await device.send(page)
        paper["left"] -= 1
    finally:
        printer.release()


async def main(device, pages):
    with anyio.move_on_after(5):
        async with anyio.create_task_group() as tg:
            for page in pages:
                tg.start_soon(print_page, device, page)
