"""Programs whose tasks wait for ever, and what they wait for. Reports name their lines: append only."""

import asyncio
import os
import queue
import socket
import threading
from types import SimpleNamespace


class Bank:
    def __init__(self):
        self.a, self.b = asyncio.Lock(), asyncio.Lock()


async def forwards(bank):
    async with bank.a:
        await asyncio.sleep(0)
        async with bank.b:
            pass


async def backwards(bank):
    async with bank.b:
        async with bank.a:
            pass


def locks_in_two_orders():
    return Bank, [forwards, backwards]


def a_permit_that_is_kept():
    async def keeps(s):
        await s.permits.acquire()

    async def wants(s):
        async with s.permits:
            pass

    return lambda: SimpleNamespace(permits=asyncio.Semaphore(1)), [keeps, wants]


def an_event_that_nobody_sets():
    async def waits(s):
        await s.ready.wait()

    async def sets_another(s):
        s.done.set()

    return lambda: SimpleNamespace(ready=asyncio.Event(), done=asyncio.Event()), [waits, sets_another]


def a_queue_that_nobody_fills():
    async def takes_two(s):
        await s.jobs.get()
        await s.jobs.get()

    async def puts_one(s):
        await s.jobs.put(1)

    return lambda: SimpleNamespace(jobs=asyncio.Queue()), [takes_two, puts_one]


def queues_in_a_circle():
    async def one(s):
        item = await s.left.get()
        await s.right.put(item)

    async def other(s):
        item = await s.right.get()
        await s.left.put(item)

    return lambda: SimpleNamespace(left=asyncio.Queue(), right=asyncio.Queue()), [one, other]


def tasks_that_await_each_other():
    async def one(s):
        await s.other

    async def other(s):
        await s.one

    async def starts(s):
        s.one = asyncio.create_task(one(s))
        s.other = asyncio.create_task(other(s))
        await s.one

    return SimpleNamespace, [starts]


def a_condition_that_was_notified_before():
    async def waits(s):
        async with s.changed:
            await s.changed.wait()

    async def notifies(s):
        async with s.changed:
            s.changed.notify()

    return lambda: SimpleNamespace(changed=asyncio.Condition()), [waits, notifies]


def children_of_who_has_the_lock():
    async def child(s):
        async with s.lock:
            pass

    async def parent(s):
        async with s.lock:
            await asyncio.gather(child(s), child(s))

    return lambda: SimpleNamespace(lock=asyncio.Lock()), [parent]


def _pair():
    left, right = socket.socketpair()
    return SimpleNamespace(left=left, right=right)


def threads_that_receive_from_each_other():
    def client(s):
        s.left.recv(1)
        s.left.send(b"?")

    def server(s):
        s.right.recv(1)
        s.right.send(b"!")

    return _pair, [client, server]


def coroutines_that_receive_from_each_other():
    async def client(s):
        reader, writer = await asyncio.open_connection(sock=s.left)
        await reader.readexactly(1)
        writer.write(b"?")

    async def server(s):
        reader, writer = await asyncio.open_connection(sock=s.right)
        await reader.readexactly(1)
        writer.write(b"!")

    return _pair, [client, server]


def a_pipe_that_nobody_writes_to():
    def setup():
        reader, writer = os.pipe()
        return SimpleNamespace(reader=reader, writer=writer)

    def reads(s):
        os.read(s.reader, 1)

    def looks(s):
        os.fstat(s.writer)

    return setup, [reads, looks]


def a_queue_of_threads_in_a_task():
    async def get(s):
        s.seen = s.jobs.get()

    async def put(s):
        s.jobs.put(1)

    return lambda: SimpleNamespace(jobs=queue.Queue()), [get, put]


# What is no deadlock.


def a_queue_of_threads_that_no_task_fills():
    async def get(s):
        s.seen = s.jobs.get()

    async def other(s):
        s.others.put(1)

    return lambda: SimpleNamespace(jobs=queue.Queue(), others=queue.Queue()), [get, other]


def an_event_of_threads_in_a_task():
    async def waits(s):
        s.ready.wait()

    async def sets(s):
        ready = s.ready
        ready.set()

    return lambda: SimpleNamespace(ready=threading.Event()), [waits, sets]


def locks_that_are_given_back():
    async def one(s):
        async with s.a:
            await asyncio.sleep(0)
        async with s.b:
            await asyncio.sleep(0)

    async def other(s):
        async with s.b:
            await asyncio.sleep(0)
        async with s.a:
            await asyncio.sleep(0)

    return Bank, [one, other]


def a_lock_that_another_task_gives_back():
    """Who took it waits for ever, but has it no more; who has it now waits for nobody who waits for it."""

    async def takes(s):
        await s.lock.acquire()
        s.taken.set()
        await s.never.wait()

    async def gives_back(s):
        await s.taken.wait()
        s.lock.release()
        await s.lock.acquire()
        await s.never.wait()

    async def wants(s):
        await s.taken.wait()
        await asyncio.sleep(1)
        async with s.lock:
            pass

    made = lambda: SimpleNamespace(lock=asyncio.Lock(), taken=asyncio.Event(), never=asyncio.Event())  # noqa: E731
    return made, [takes, gives_back, wants]


def a_lock_whose_holder_has_ended():
    async def keeps(s):
        await s.lock.acquire()
        s.done.set()

    async def wants(s):
        await s.done.wait()
        async with s.lock:
            pass

    return lambda: SimpleNamespace(lock=asyncio.Lock(), done=asyncio.Event()), [keeps, wants]


def a_circle_that_a_timeout_breaks():
    async def one(s):
        async with s.a:
            await asyncio.sleep(0)
            try:
                await asyncio.wait_for(s.b.acquire(), 1)
            except asyncio.TimeoutError:
                return
            s.b.release()

    return Bank, [one, backwards]


def a_waiter_that_is_cancelled():
    """The second lock is never got: who wanted it was cancelled, and gives back the first."""

    async def one(s):
        async with s.a:
            await asyncio.sleep(0)
            async with s.b:
                pass

    async def cancels(s):
        task = asyncio.create_task(one(s))
        async with s.b:
            await asyncio.sleep(1)
            task.cancel()
            async with s.a:
                pass
        await asyncio.wait([task])

    return Bank, [cancels]


def permits_that_are_signals():
    async def consumes(s):
        await s.items.acquire()
        await s.items.acquire()

    async def produces(s):
        s.items.release()

    return lambda: SimpleNamespace(items=asyncio.Semaphore(0)), [consumes, produces]


def a_socket_whose_other_end_nobody_uses():
    def client(s):
        s.left.recv(1)

    def idle(s):
        s.seen = 1

    return _pair, [client, idle]


def a_socket_whose_peer_has_ended():
    def client(s):
        s.left.recv(1)
        s.left.recv(1)

    def server(s):
        s.right.send(b"!")

    return _pair, [client, server]


def a_server_that_waits_for_something_else():
    def client(s):
        s.left.recv(1)
        s.left.recv(1)

    def server(s):
        s.right.send(b"!")
        s.never.wait()

    def setup():
        pair = _pair()
        pair.never = threading.Event()
        return pair

    return setup, [client, server]


def locks_in_a_loop_beside_a_thread():
    def beside(s):
        s.seen = 1

    async def other(s):
        async with s.b:
            await asyncio.sleep(0)
            async with s.a:
                pass

    return Bank, [forwards, other, beside]


def an_event_in_a_loop_beside_a_thread():
    async def waits(s):
        await s.ready.wait()

    def beside(s):
        s.seen = 1

    return lambda: SimpleNamespace(ready=asyncio.Event()), [waits, beside]


def a_lock_whose_holder_waits_for_ever():
    async def wants(s):
        await s.taken.wait()
        async with s.lock:
            pass

    async def keeps(s):
        async with s.lock:
            s.taken.set()
            await s.never.wait()

    made = lambda: SimpleNamespace(lock=asyncio.Lock(), taken=asyncio.Event(), never=asyncio.Event())  # noqa: E731
    return made, [wants, keeps]
