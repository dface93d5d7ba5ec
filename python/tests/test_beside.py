"""Threads beside an exploration, which are no part of it: a server that a fixture has started, say."""

import concurrent.futures
import contextlib
import http.server
import queue
import random
import threading
import time
import urllib.request
import uuid

import drawloom
import pytest
from common import Box, exhaust


def primitives():
    """One of everything, as a program would use it."""
    with threading.Lock(), threading.RLock(), threading.Condition():
        pass
    event, local = threading.Event(), threading.local()
    started = threading.Thread(target=event.set)
    started.start()
    assert event.wait(60)
    started.join(60)
    assert not started.is_alive()
    local.value = threading.current_thread()
    assert local.value in threading.enumerate() and isinstance(threading.get_ident(), int)
    for kind in (queue.Queue, queue.SimpleQueue):
        box = kind()
        box.put(1)
        assert box.get(timeout=60) == 1
    with contextlib.suppress(queue.Empty):
        queue.Queue().get(timeout=0.001)
    with threading.Semaphore(1), concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(abs, [-1, -2])) == [1, 2]
        assert concurrent.futures.wait([pool.submit(int)], timeout=60).not_done == set()
    assert not threading.Event().wait(0.001)
    threading.Timer(0.001, int).start()
    time.sleep(0.001)
    assert uuid.uuid4() != uuid.uuid4() and random.Random().random() != random.Random().random()
    barrier = threading.Barrier(2)
    other = threading.Thread(target=barrier.wait)
    other.start()
    barrier.wait(60)
    other.join(60)


@contextlib.contextmanager
def beside(body):
    """Runs `body` again and again meanwhile; how often it has, and what it has raised."""
    stop, rounds, errors = [], [], []

    def run():
        while not stop and not errors:
            try:
                body()
            except BaseException as error:
                errors.append(error)
            rounds.append(None)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield rounds
        # Once at least in the midst of the exploration, or right after.
        stop.append(None)
    finally:
        stop.append(None)
        thread.join(120)
    assert not thread.is_alive() and errors == [] and rounds


def increment(box):
    with box.lock:
        value = box.n
        box.n = value + 1


def lose(box):
    value = box.n
    box.n = value + 1


def named(box):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    box.names = [*getattr(box, "names", []), thread.name]


def state():
    return Box(n=0, lock=threading.Lock())


def test_threads_beside_an_exploration_are_ordinary_ones():
    with beside(primitives) as rounds:
        while not rounds:
            time.sleep(0.001)
        for _ in range(3):
            assert exhaust(state, [increment] * 2, lambda box: box.n == 2).verdict == "holds"
            assert exhaust(state, [lose] * 2, lambda box: box.n == 2).verdict == "fails"
        assert drawloom.explore(state, [named, named], strategy="random", executions=20).verdict == "no_bug_found"


def test_what_is_beside_changes_nothing_of_what_is_explored():
    def seen():
        found = drawloom.explore(state, [named, lose, lose], lambda box: box.n == 2, strategy="pos", seed=3,
                                 name="the same")
        return found.executions, found.steps, found.findings[0].token

    alone = seen()
    with beside(primitives):
        assert seen() == alone


def test_a_server_of_a_fixture_goes_on_serving():
    class Handler(http.server.BaseHTTPRequestHandler):
        wbufsize = 1 << 16  # What is sent in pieces would arrive in as many, or not.

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"

    def ask():
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.read() == b"ok"

    def fetch(box):
        ask()
        increment(box)

    try:
        with beside(ask):
            assert exhaust(state, [lose] * 2, lambda box: box.n == 2).verdict == "fails"
        ask()
        result = drawloom.explore(state, [fetch] * 2, lambda box: box.n == 2, strategy="random", executions=30)
        assert result.verdict == "no_bug_found", result.reason
        assert "127.0.0.1" in (result.uncontrolled or ""), result.uncontrolled
        ask()
    finally:
        server.shutdown()
        serving.join(60)
        server.server_close()


@pytest.mark.parametrize("made", ["before", "meanwhile"])
def test_locks_that_both_sides_have(made):
    """Of a lock made before, others may have it meanwhile: the exploration takes that for what it is."""
    lock = threading.Lock() if made == "before" else None

    def use():
        with lock or threading.Lock():
            pass

    with beside(use):
        assert exhaust(state, [increment] * 2, lambda box: box.n == 2).verdict == "holds"
