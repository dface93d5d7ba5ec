"""What C code does, under an exploration with the library preloaded: run by `test_preload.py`, in a process of its own.

`ctypes` calls the C library directly, so that nothing of it is seen at the level of Python.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile

import drawloom

libc = ctypes.CDLL(None, use_errno=True)
c_open, c_close, c_read, c_write = libc.open, libc.close, libc.read, libc.write
c_pread, c_pwrite, c_flock, c_rename = libc.pread, libc.pwrite, libc.flock, libc.rename
c_poll, c_sleep, c_accept, c_connect, c_access = libc.poll, libc.sleep, libc.accept, libc.connect, libc.access
BUFFER, LARGE = ctypes.c_char * 8, ctypes.c_char * 300_000
FOLDER = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
COUNTER, LOCK, DRAFT = (os.path.join(FOLDER, name).encode() for name in ("counter", "lock", "draft"))
DATABASE = os.path.join(FOLDER, "database")


def exhaust(setup, workers, invariant=None, **options):
    options = {"strategy": "exhaustive", "shrink": False, "fixes": 0, **options}
    result = drawloom.explore(setup, workers, invariant, **options)
    kinds = [finding.kind for finding in result.findings]
    return result, {
        "verdict": result.verdict, "executions": result.executions, "failing": result.failing, "coarse": result.coarse,
        "uncontrolled": result.uncontrolled, "kinds": kinds, "reason": result.reason,
        "text": result.explanation,
    }


def counting_from_zero():
    for name, text in ((COUNTER, b"0"), (LOCK, b"")):
        with open(name, "wb") as file:
            file.write(text)


def increment(_):
    fd = c_open(COUNTER, os.O_RDWR)
    buffer = BUFFER()
    count = c_pread(fd, buffer, 8, 0)
    text = str(int(buffer.raw[:count]) + 1).encode()
    c_pwrite(fd, text, len(text), 0)
    c_close(fd)


def increment_under_lock(state):
    lock = c_open(LOCK, os.O_RDWR)
    c_flock(lock, fcntl.LOCK_EX)
    increment(state)
    # Closing it gives the lock back.
    c_close(lock)


def increment_in_python(_):
    with open(COUNTER, "rb") as file:
        value = int(file.read())
    with open(COUNTER, "r+b") as file:
        file.write(str(value + 1).encode())


def counted_two(_):
    with open(COUNTER, "rb") as file:
        return file.read() == b"2"


def publish(_):
    fd = c_open(DRAFT, os.O_CREAT | os.O_WRONLY, 0o600)
    c_write(fd, b"7", 1)
    c_close(fd)
    c_rename(DRAFT, COUNTER)


def look_for_draft(seen):
    if c_access(DRAFT, os.R_OK) == 0 and c_open(DRAFT, os.O_RDONLY) < 0:
        raise RuntimeError("it was there, and is gone")


def without_draft():
    counting_from_zero()
    if os.path.exists(DRAFT):
        os.unlink(DRAFT)


class Pipes:
    """Two of them, one for each direction."""

    def __init__(self):
        self.there, self.back = os.pipe(), os.pipe()

    def __del__(self):
        for fd in (*self.there, *self.back):
            os.close(fd)


def ask(pipes):
    c_write(pipes.there[1], b"?", 1)
    assert c_read(pipes.back[0], BUFFER(), 8) == 1


def answer(pipes):
    assert c_read(pipes.there[0], BUFFER(), 8) == 1
    c_write(pipes.back[1], b"!", 1)


def wait_for_question(pipes):
    c_read(pipes.there[0], BUFFER(), 8)
    c_write(pipes.back[1], b"!", 1)


def wait_for_answer(pipes):
    c_read(pipes.back[0], BUFFER(), 8)
    c_write(pipes.there[1], b"?", 1)


class PollFd(ctypes.Structure):
    _fields_ = [("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short)]


def poll_for_an_hour(pipes):
    asked = PollFd(pipes.there[0], select.POLLIN, 0)
    if c_poll(ctypes.byref(asked), 1, 3_600_000) == 0:
        raise TimeoutError("nothing within an hour")


def sleep_for_two_hours_and_write(pipes):
    c_sleep(7200)
    c_write(pipes.there[1], b"?", 1)


def write_at_once(pipes):
    c_write(pipes.there[1], b"?", 1)


class Pair:
    """Two sockets that are connected."""

    def __init__(self):
        self.ends = socket.socketpair()
        self.one, self.other = (end.fileno() for end in self.ends)


def send_much(pair):
    data = b"x" * 1_000_000
    assert c_write(pair.one, data, len(data)) == len(data)


def receive_much(pair):
    received, room = 0, LARGE()
    while received < 1_000_000:
        received += c_read(pair.other, room, len(room))


class Server:
    """A socket that listens, at a port that the system chooses."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(2)
        self.fd = self.socket.fileno()
        self.address = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(self.socket.getsockname()[1]), b"\x7f\0\0\1")
        self.client = socket.socket()
        self.client_fd = self.client.fileno()


def serve(server):
    fd = c_accept(server.fd, None, None)
    assert c_read(fd, BUFFER(), 8) == 1
    c_write(fd, b"!", 1)
    c_close(fd)


def be_served(server):
    assert c_connect(server.client_fd, server.address, len(server.address)) == 0
    c_write(server.client_fd, b"?", 1)
    assert c_read(server.client_fd, BUFFER(), 8) == 1


def never_connect(server):
    pass


class Echo:
    """A process that takes its time, and answers what it is asked."""

    def __init__(self):
        command = ["sh", "-c", "sleep 0.4; exec cat"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.to, self.back = self.process.stdin.fileno(), self.process.stdout.fileno()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait() == 0


def hear_echo(echo):
    c_write(echo.to, b"x", 1)
    assert c_read(echo.back, BUFFER(), 8) == 1


def nothing(_):
    pass


def empty_table():
    for suffix in ("", "-journal"):
        if os.path.exists(DATABASE + suffix):
            os.unlink(DATABASE + suffix)
    connection = _sqlite3.connect(DATABASE)
    connection.execute("create table counter (value integer)")
    connection.execute("insert into counter values (0)")
    connection.commit()
    connection.close()


def connected():
    # Not by way of `sqlite3`, whose statements are known at the level of Python.
    connection = _sqlite3.connect(DATABASE, isolation_level=None, timeout=5)
    connection.execute("pragma synchronous = off")
    return connection


def count_in_database(_):
    connection = connected()
    value = connection.execute("select value from counter").fetchone()[0]
    connection.execute("update counter set value = ?", (value + 1,))
    connection.close()


def count_in_transaction(_):
    connection = connected()
    connection.execute("begin immediate")
    value = connection.execute("select value from counter").fetchone()[0]
    connection.execute("update counter set value = ?", (value + 1,))
    connection.execute("commit")
    connection.close()


def database_says_two(_):
    connection = connected()
    value = connection.execute("select value from counter").fetchone()[0]
    connection.close()
    return value == 2


def replayed(result, told):
    again = result.replay()
    return {**told, "again": [finding.schedule for finding in again.findings] == [f.schedule for f in result.findings[:1]]}


def main():
    told = {}
    told["files"] = exhaust(counting_from_zero, [increment] * 2, counted_two, keep_going=True)[1]
    told["found"] = replayed(*exhaust(counting_from_zero, [increment] * 2, counted_two))
    told["locked"] = exhaust(counting_from_zero, [increment_under_lock] * 2, counted_two)[1]
    told["mixed"] = exhaust(counting_from_zero, [increment, increment_in_python], counted_two)[1]
    told["renamed"] = exhaust(without_draft, [publish, look_for_draft])[1]
    told["conversation"] = exhaust(Pipes, [ask, answer])[1]
    told["crossed"] = exhaust(Pipes, [wait_for_question, wait_for_answer])[1]
    told["late"] = exhaust(Pipes, [poll_for_an_hour, sleep_for_two_hours_and_write])[1]
    told["in time"] = exhaust(Pipes, [poll_for_an_hour, write_at_once])[1]
    told["much"] = exhaust(Pair, [send_much, receive_much], strategy="random", executions=5)[1]
    told["served"] = exhaust(Server, [serve, be_served])[1]
    told["unserved"] = exhaust(Server, [serve, never_connect])[1]
    told["outside"] = exhaust(Echo, [hear_echo, nothing], Echo.end, strategy="sequential")[1]
    told["database"] = exhaust(empty_table, [count_in_database] * 2, database_says_two, strategy="random", executions=30)[1]
    told["transaction"] = exhaust(
        empty_table, [count_in_transaction] * 2, database_says_two, strategy="random", executions=30
    )[1]
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
