# expect: clean
# One task alone has the table; others send it messages.
import trio


async def owner(receive):
    balances = {}
    async with receive:
        async for name, amount in receive:
            before = balances.get(name, 0)
            await trio.sleep(0)
            balances[name] = before + amount


async def teller(send, name):
    async with send:
        for amount in range(5):
            await send.send((name, amount))


async def main():
    send, receive = trio.open_memory_channel(0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(owner, receive)
        async with send:
            for name in "ab":
                nursery.start_soon(teller, send.clone(), name)


trio.run(main)
