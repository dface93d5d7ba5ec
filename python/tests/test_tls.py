"""TLS between threads and between tasks of an exploration: it goes over the connection as anything does."""

import asyncio
import os
import socket
import ssl
import threading

import pytest
from common import Box, exhaust

CERTIFICATE = os.path.join(os.path.dirname(__file__), "data", "localhost.pem")
server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server_side.load_cert_chain(CERTIFICATE)
client_side = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
client_side.load_verify_locations(CERTIFICATE)


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


def pair():
    one, other = socket.socketpair()
    return Box(one=one, other=other, got=[])


def client(s):
    return client_side.wrap_socket(s.one, server_hostname="localhost")


def server(s):
    return server_side.wrap_socket(s.other, server_side=True)


def test_what_is_sent_arrives():
    def asks(s):
        with client(s) as tls:
            tls.sendall(b"x")
            s.got.append(tls.recv(10))

    def answers(s):
        with server(s) as tls:
            tls.sendall(tls.recv(10) + b"y")

    result = exhaust(pair, [asks, answers], lambda s: s.got == [b"xy"], max_schedules=2000)
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation


def test_two_that_wait_for_each_other_are_found():
    def asks(s):
        with client(s) as tls:
            tls.recv(10)

    def answers(s):
        with server(s) as tls:
            tls.recv(10)

    result = exhaust(pair, [asks, answers], max_schedules=50)
    assert {finding.kind for finding in result.findings} == {"deadlock"}, result.reason


def test_an_order_that_a_message_does_not_give():
    def sends(s):
        with client(s) as tls:
            tls.sendall(b"x")
            s.got.append("sent")
            tls.recv(1)

    def receives(s):
        with server(s) as tls:
            tls.recv(1)
            assert s.got == ["sent"]

    result = exhaust(pair, [sends, receives], max_schedules=100)
    assert result.verdict == "fails" and "AssertionError" in result.findings[0].message, result.reason
    assert result.replay().verdict == "fails"


def test_timeouts_are_virtual():
    def asks(s):
        with client(s) as tls:
            tls.settimeout(3600)
            with pytest.raises(TimeoutError):
                tls.recv(1)
            s.done.set()

    def answers(s):
        with server(s):
            s.done.wait()

    def setup():
        s = pair()
        s.done = threading.Event()
        return s

    result = exhaust(setup, [asks, answers], max_schedules=50)
    assert result.verdict in ("holds", "no_bug_found"), result.explanation


def test_both_say_goodbye():
    def asks(s):
        client(s).unwrap().close()

    def answers(s):
        server(s).unwrap().close()

    result = exhaust(pair, [asks, answers], max_schedules=50)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation


def test_streams_of_asyncio():
    async def asks(s):
        reader, writer = await asyncio.open_connection(sock=s.one, ssl=client_side, server_hostname="localhost")
        writer.write(b"x\n")
        s.got.append(await reader.readline())
        writer.close()

    async def answers(s):
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, s.other, ssl=server_side)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        writer.write(await reader.readline())
        writer.close()

    result = exhaust(pair, [asks, answers], lambda s: s.got == [b"x\n"], max_schedules=50)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation


def test_streams_of_trio():
    trio = pytest.importorskip("trio")

    def over(sock, context, **options):
        return trio.SSLStream(trio.SocketStream(trio.socket.from_stdlib_socket(sock)), context, **options)

    async def asks(s):
        stream = over(s.one, client_side, server_hostname="localhost")
        await stream.send_all(b"x")
        s.got.append(await stream.receive_some(10))

    async def answers(s):
        stream = over(s.other, server_side, server_side=True)
        await stream.send_all(await stream.receive_some(10))

    result = exhaust(pair, [asks, answers], lambda s: s.got == [b"x"], backend="trio", max_schedules=50)
    assert result.verdict in ("holds", "no_bug_found") and result.uncontrolled is None, result.explanation
