"""Sockets between threads, and what waits at them."""

import select
import selectors
import socket
import socketserver
import threading
import time

import drawloom
import pytest
from common import exhaust


def two_ends():
    return socket.socketpair()


def closing(*sockets):
    for each in sockets:
        each.close()


def test_a_pair_of_sockets_is_received_from_when_somebody_has_sent():
    def receive(pair):
        assert pair[0].recv(10) == b"ab"

    def send(pair):
        pair[1].sendall(b"ab")

    result = exhaust(two_ends, [receive, send], lambda pair: closing(*pair))
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation


def test_a_file_is_sent(tmp_path):
    (tmp_path / "file").write_bytes(b"ab")

    def receive(pair):
        assert pair[0].recv(10) == b"ab"

    def send(pair):
        with open(tmp_path / "file", "rb") as file:
            pair[1].sendfile(file)

    result = exhaust(two_ends, [receive, send], lambda pair: closing(*pair))
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation


def test_who_waits_for_what_nobody_sends_starves():
    result = exhaust(two_ends, [lambda pair: pair[0].recv(10)])
    assert [finding.kind for finding in result.findings] == ["starvation"]


def test_both_wait_for_the_other_to_begin():
    def polite(n):
        def worker(pair):
            pair[n].recv(1)
            pair[n].send(b"x")

        return worker

    assert exhaust(two_ends, [polite(0), polite(1)]).verdict == "fails"


def test_what_arrives_together_depends_on_the_order():
    seen = set()

    def receive(pair):
        got = b""
        while len(got) < 2:
            part = pair[0].recv(10)
            seen.add(part)
            got += part

    def send(pair):
        pair[1].send(b"a")
        pair[1].send(b"b")

    result = exhaust(two_ends, [receive, send], lambda pair: closing(*pair))
    assert (result.verdict, seen) == ("holds", {b"a", b"b", b"ab"})


def test_a_closed_connection_has_an_end():
    def receive(pair):
        assert pair[0].recv(10) in (b"x",)
        assert pair[0].recv(10) == b""

    def send(pair):
        pair[1].send(b"x")
        pair[1].close()

    assert exhaust(two_ends, [receive, send], lambda pair: closing(*pair)).verdict == "holds"


def test_time_at_sockets_is_virtual():
    def receive(pair):
        pair[0].settimeout(3600)
        try:
            pair[0].recv(10)
        except TimeoutError:
            return
        raise AssertionError("nobody has sent anything")

    assert exhaust(two_ends, [receive, receive], lambda pair: closing(*pair)).verdict == "holds"


def server():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening


def test_a_server_and_its_clients():
    def serve(listening, clients=1):
        total = 0
        for _ in range(clients):
            connection, _ = listening.accept()
            with connection, connection.makefile("rwb") as file:
                total += int(file.readline())
                file.write(b"%d\n" % total)

    answers = []

    def ask(listening):
        with socket.create_connection(listening.getsockname()) as connection:
            connection.sendall(b"5\n")
            answers.append(int(connection.makefile("rb").readline()))

    result = exhaust(server, [serve, ask], closing)
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation
    answers.clear()
    result = drawloom.explore(server, [lambda s: serve(s, 2), ask, ask], closing, strategy="random", executions=50)
    assert result.verdict == "no_bug_found", result.explanation
    assert {tuple(sorted(answers[i : i + 2])) for i in range(0, len(answers), 2)} == {(5, 10)}


class Total:
    def __init__(self):
        self.listening, self.value = server(), 0

    def serve(self):
        connection, _ = self.listening.accept()
        with connection:
            amount = int(connection.recv(10))
            seen = self.value
            self.value = seen + amount
            connection.send(b"!")

    def ask(self):
        with socket.create_connection(self.listening.getsockname()) as connection:
            connection.send(b"5")
            connection.recv(1)


def test_a_race_behind_a_server_is_found():
    def total(state):
        state.listening.close()
        return state.value == 10

    result = drawloom.explore(Total, [Total.serve, Total.serve, Total.ask, Total.ask], total, strategy="random", executions=400,
                              shrink=False, fixes=0)
    assert result.verdict == "fails" and result.findings[0].kind == "invariant", result.explanation


def test_datagrams_arrive_one_by_one():
    def setup():
        bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        bound.bind(("127.0.0.1", 0))
        return bound

    seen = set()

    def receive(bound):
        seen.add(bound.recvfrom(10)[0] + bound.recvfrom(10)[0])

    def send(text):
        def worker(bound):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.sendto(text, bound.getsockname())

        return worker

    result = exhaust(setup, [receive, send(b"a"), send(b"b")], closing)
    assert (result.verdict, seen, result.coarse) == ("holds", {b"ab", b"ba"}, None), result.explanation


def by_select(sockets):
    return [each.fileno() for each in select.select(sockets, [], [])[0]]


def by_poll(sockets):
    poll = select.poll()
    for each in sockets:
        poll.register(each, select.POLLIN)
    return [fd for fd, events in poll.poll() if events == select.POLLIN]


def by_epoll(sockets):
    with select.epoll() as epoll:
        for each in sockets:
            epoll.register(each, select.EPOLLIN)
        return [fd for fd, events in epoll.poll() if events == select.EPOLLIN]


def by_selector(kind):
    def ready(sockets):
        with getattr(selectors, kind)() as selector:
            for each in sockets:
                selector.register(each, selectors.EVENT_READ)
            return [key.fd for key, events in selector.select() if events == selectors.EVENT_READ]

    return ready


WAYS = [by_select, by_poll, by_epoll, by_selector("PollSelector"), by_selector("EpollSelector")]


@pytest.mark.parametrize("way", WAYS, ids=["select", "poll", "epoll", "PollSelector", "EpollSelector"])
def test_several_sockets_are_waited_for_at_once(way):
    def setup():
        return [*socket.socketpair(), *socket.socketpair()]

    first = set()

    def receive(sockets):
        ready = way([sockets[0], sockets[2]])
        first.add((len(ready), ready[0] == sockets[0].fileno()))

    def send(n):
        return lambda sockets: sockets[n].send(b"x")

    result = exhaust(setup, [receive, send(1), send(3)], lambda sockets: closing(*sockets))
    assert (result.verdict, first) == ("holds", {(1, True), (1, False), (2, True)}), result.explanation


def test_polling_is_given_up_in_virtual_time():
    waited = []

    def receive(pair):
        poll = select.poll()
        poll.register(pair[0], select.POLLIN | select.POLLOUT)
        assert poll.poll(0) == [(pair[0].fileno(), select.POLLOUT)]
        poll.modify(pair[0], select.POLLIN)
        begun = time.monotonic()
        assert poll.poll(60_000) == []
        waited.append(time.monotonic() - begun)
        poll.unregister(pair[0])
        with pytest.raises(KeyError):
            poll.unregister(pair[0])

    result = exhaust(two_ends, [receive, lambda pair: None], lambda pair: closing(*pair))
    assert result.verdict == "holds", result.explanation
    assert set(waited) == {60.0}


def test_who_wants_to_be_told_once_is_told_once():
    def receive(pair):
        with select.epoll() as epoll:
            epoll.register(pair[0], select.EPOLLIN | select.EPOLLONESHOT)
            assert epoll.poll(60) == [(pair[0].fileno(), select.EPOLLIN)]
            assert epoll.poll(0) == []
            epoll.modify(pair[0], select.EPOLLIN | select.EPOLLONESHOT)
            assert epoll.poll(0) == [(pair[0].fileno(), select.EPOLLIN)]
            with pytest.raises(FileExistsError):
                epoll.register(pair[0])

    result = exhaust(two_ends, [receive, lambda pair: pair[1].send(b"x")], lambda pair: closing(*pair))
    assert result.verdict == "holds", result.explanation


def test_edges_are_not_modelled():
    def receive(pair):
        with select.epoll() as epoll:
            epoll.register(pair[0], select.EPOLLIN | select.EPOLLET)

    result = exhaust(two_ends, [receive, receive])
    assert result.verdict == "inconclusive" and "epoll" in result.reason


def test_a_peer_outside_is_said_to_be_there():
    listening = server()

    def answer():
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.send(b"x")

    threading.Thread(target=answer, daemon=True).start()

    def ask(_):
        with socket.create_connection(listening.getsockname()) as connection:
            assert connection.recv(1) == b"x"

    result = exhaust(lambda: None, [ask, ask])
    assert result.verdict == "no_bug_found" and "127.0.0.1" in result.uncontrolled


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline().upper())


def test_the_servers_of_the_standard_library():
    def setup():
        return socketserver.TCPServer(("127.0.0.1", 0), Handler)

    def ask(server):
        with socket.create_connection(server.server_address) as connection:
            connection.sendall(b"x\n")
            assert connection.makefile("rb").readline() == b"X\n"

    def serve(server):
        server.handle_request()

    result = drawloom.explore(setup, [serve, ask], lambda s: s.server_close(), strategy="random", executions=50)
    assert result.verdict == "no_bug_found", result.explanation
