# expect: toctou
import asyncio

_CONNECTIONS = {}


class Connection:
    def __init__(self, resource):
        self.resource = resource
        self.ready = asyncio.Event()
        self.closing = asyncio.Event()
        self.users = 0


async def manage(connection):
    await connection.resource.connect()
    connection.ready.set()
    await connection.closing.wait()
    await connection.resource.close()


async def connect_resource(resource):
    connection = _CONNECTIONS.get(id(resource))
    if connection is None:
        await resource.prepare()
        connection = Connection(resource)
        _CONNECTIONS[id(resource)] = connection  # HERE
        asyncio.create_task(manage(connection))
    connection.users += 1
    await connection.ready.wait()
    return connection


async def disconnect_resource(resource):
    connection = _CONNECTIONS.pop(id(resource), None)
    if connection is not None:
        connection.closing.set()
