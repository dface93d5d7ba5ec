# expect: atomicity-gap cancellation-leak
import anyio


class Server:
    def __init__(self, most):
        self.most = most
        self.logged_in = 0

    async def serve(self, client):
        if self.logged_in >= self.most:
            await client.refuse()
            return
        self.logged_in += 1  # HERE
        name = await client.receive()
        await client.greet(name)
        self.logged_in -= 1


async def main(listener):
    server = Server(10)
    async with anyio.create_task_group() as group:
        while True:
            client = await listener.accept()
            group.start_soon(server.serve, client)
            with anyio.move_on_after(1):
                await listener.drain()
