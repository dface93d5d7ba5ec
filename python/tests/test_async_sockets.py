"""Sockets of tasks: what is sent arrives when its turn has come, and who waits for it waits in the engine."""

import asyncio
import socket

import pytest
from common import Box, exhaust


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


def pair():
    one, other = socket.socketpair()
    for end in (one, other):
        end.setblocking(False)
    return Box(one=one, other=other, got=[])


def kinds(result):
    return [finding.kind for finding in result.findings]


def exact(result):
    """That it holds, and nothing was out of sight."""
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation
    return True


class OfAsyncio:
    backend = "asyncio"
    sleep = staticmethod(asyncio.sleep)

    @staticmethod
    async def send(sock, data):
        await asyncio.get_running_loop().sock_sendall(sock, data)
        await asyncio.sleep(0)  # where there is room, nobody waits

    @staticmethod
    async def receive(sock):
        return await asyncio.get_running_loop().sock_recv(sock, 100)


class OfTrio:
    backend = "trio"

    @staticmethod
    async def sleep(seconds):
        await trio.sleep(seconds)

    @staticmethod
    async def send(sock, data):
        await trio.SocketStream(trio.socket.from_stdlib_socket(sock)).send_all(data)

    @staticmethod
    async def receive(sock):
        return await trio.SocketStream(trio.socket.from_stdlib_socket(sock)).receive_some(100)


try:
    import trio
    import trio.testing

    libraries = pytest.mark.parametrize("of", [OfAsyncio, OfTrio], ids=["asyncio", "trio"])
except ImportError:
    libraries = pytest.mark.parametrize("of", [OfAsyncio], ids=["asyncio"])


@libraries
def test_what_is_sent_arrives(of):
    async def sends(s):
        await of.send(s.one, b"x")

    async def receives(s):
        s.got.append(await of.receive(s.other))

    assert exact(exhaust(pair, [sends, receives], lambda s: s.got == [b"x"], backend=of.backend))


@libraries
def test_two_that_wait_for_each_other_are_found(of):
    async def first(s):
        await of.receive(s.one)
        await of.send(s.one, b"x")

    async def second(s):
        await of.receive(s.other)
        await of.send(s.other, b"x")

    result = exhaust(pair, [first, second], backend=of.backend)
    assert (result.verdict, set(kinds(result))) == ("fails", {"deadlock"}), result.reason


@libraries
def test_an_order_that_a_message_does_not_give(of):
    """What is done after sending need not be done before it is received."""

    async def careless(s):
        await of.send(s.one, b"x")
        s.got.append("sent")

    async def careful(s):
        s.got.append("sent")
        await of.send(s.one, b"x")

    async def receives(s):
        await of.receive(s.other)
        assert s.got == ["sent"]

    result = exhaust(pair, [careless, receives], backend=of.backend)
    assert result.verdict == "fails" and "AssertionError" in result.findings[0].message, result.reason
    assert result.replay().verdict == "fails"
    assert exact(exhaust(pair, [careful, receives], backend=of.backend))


@libraries
def test_a_message_that_comes_in_parts_is_taken_for_whole(of):
    async def sends(s):
        await of.send(s.one, b"ab")
        await of.send(s.one, b"cd")

    async def receives(s):
        assert await of.receive(s.other) == b"abcd"

    assert exhaust(pair, [sends, receives], backend=of.backend).verdict == "fails"


@libraries
def test_a_peer_that_closes_is_seen_to(of):
    async def closes(s):
        await of.sleep(0)
        s.one.close()

    async def receives(s):
        assert await of.receive(s.other) == b""

    assert exact(exhaust(pair, [closes, receives], backend=of.backend))


def test_streams_of_asyncio():
    async def answers(reader, writer):
        writer.write(await reader.readline())
        writer.close()

    async def asks(s):
        server = await asyncio.start_server(answers, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"x\n")
        s.got.append(await reader.read())
        writer.close()
        server.close()

    result = exhaust(lambda: Box(got=[]), [asks], lambda s: s.got == [b"x\n"], max_schedules=200)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation


def test_a_reader_is_called_until_it_is_removed():
    async def sends(s):
        s.one.send(b"x")
        await asyncio.sleep(0)
        s.one.send(b"y")

    async def receives(s):
        loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def ready():
            s.got.append(s.other.recv(1))
            if len(s.got) == 2:
                loop.remove_reader(s.other)
                done.set_result(None)

        loop.add_reader(s.other, ready)
        await done

    assert exact(exhaust(pair, [sends, receives], lambda s: s.got == [b"x", b"y"]))


def test_datagrams_of_asyncio():
    class Receives(asyncio.DatagramProtocol):
        def __init__(self, got):
            self.got = got

        def datagram_received(self, data, _address):
            self.got.set_result(data)

    async def both(s):
        loop = asyncio.get_running_loop()
        got = loop.create_future()
        transport, _ = await loop.create_datagram_endpoint(lambda: Receives(got), local_addr=("127.0.0.1", 0))
        to = transport.get_extra_info("sockname")
        sender, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=to)
        sender.sendto(b"x")
        s.got.append(await got)
        transport.close()
        sender.close()

    result = exhaust(lambda: Box(got=[]), [both], lambda s: s.got == [b"x"], max_schedules=200)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation


def test_sockets_and_threads_beside_a_loop():
    async def sends(s):
        await asyncio.to_thread(s.one.sendall, b"x")

    async def receives(s):
        s.got.append(await OfAsyncio.receive(s.other))

    result = exhaust(pair, [sends, receives], lambda s: s.got == [b"x"], max_schedules=300)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation

    async def waits(s):
        await asyncio.to_thread(int)
        await OfAsyncio.receive(s.other)

    assert set(kinds(exhaust(pair, [waits]))) <= {"deadlock", "starvation"}


def test_a_peer_that_is_not_part_of_the_exploration_is_named():
    server = socket.create_server(("127.0.0.1", 0))

    async def asks(_state):
        await asyncio.open_connection(*server.getsockname())

    result = exhaust(lambda: None, [asks, asks])
    assert result.verdict == "inconclusive" and "not part of the exploration" in result.reason
    server.close()


def test_servers_of_trio():
    pytest.importorskip("trio")

    async def answers(stream):
        await stream.send_all(await stream.receive_some())

    async def asks(s):
        async with trio.open_nursery() as nursery:
            listeners = await nursery.start(trio.serve_tcp, answers, 0)
            async with await trio.testing.open_stream_to_socket_listener(listeners[0]) as stream:
                await stream.send_all(b"x")
                s.got.append(await stream.receive_some())
            nursery.cancel_scope.cancel()

    result = exhaust(lambda: Box(got=[]), [asks], lambda s: s.got == [b"x"], backend="trio", max_schedules=200)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation


def test_who_waits_for_a_socket_of_trio_is_told_that_it_closes():
    pytest.importorskip("trio")

    async def receives(s):
        s.stream = trio.SocketStream(trio.socket.from_stdlib_socket(s.other))
        with pytest.raises(trio.ClosedResourceError):
            await s.stream.receive_some()

    async def closes(s):
        await trio.testing.wait_all_tasks_blocked()
        await s.stream.aclose()

    assert exhaust(pair, [receives, closes], backend="trio").verdict == "holds"


def test_who_waits_for_a_socket_of_trio_is_cancelled():
    pytest.importorskip("trio")

    async def receives(s):
        with trio.move_on_after(1) as scope:
            await OfTrio.receive(s.other)
        assert scope.cancelled_caught

    assert exact(exhaust(pair, [receives], backend="trio"))
