"""More programs with one bug each and labels, as in `fresh_programs`: what a stranger would try first.

At the first run the class was right in 10 of 11, and both right fixes of `endpoint` were said not to help.
"""

import asyncio
import os
import queue
import sqlite3
import tempfile
import threading

from fresh_programs import Label


class Theatre:
    """A seat is looked up, and then booked."""

    def __init__(self):
        self.path = os.path.join(tempfile.mkdtemp(), "seats.db")
        with sqlite3.connect(self.path) as db:
            db.execute("CREATE TABLE bookings (seat TEXT, who TEXT)")
        db.close()

    def book(self, seat, who):
        db = sqlite3.connect(self.path, timeout=5)
        taken = db.execute("SELECT COUNT(*) FROM bookings WHERE seat = ?", (seat,)).fetchone()[0]
        if taken == 0:
            db.execute("INSERT INTO bookings VALUES (?, ?)", (seat, who))
            db.commit()
        db.close()

    def count(self, seat):
        db = sqlite3.connect(self.path)
        (count,) = db.execute("SELECT COUNT(*) FROM bookings WHERE seat = ?", (seat,)).fetchone()
        db.close()
        return count


class Bank:
    """A balance is read, changed by the program, and written."""

    def __init__(self):
        self.path = os.path.join(tempfile.mkdtemp(), "bank.db")
        db = sqlite3.connect(self.path)
        db.execute("CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INT)")
        db.execute("INSERT INTO accounts VALUES ('ann', 100)")
        db.commit()
        db.close()

    def deposit(self, amount):
        db = sqlite3.connect(self.path, timeout=5)
        (balance,) = db.execute("SELECT balance FROM accounts WHERE name = 'ann'").fetchone()
        db.execute("UPDATE accounts SET balance = ? WHERE name = 'ann'", (balance + amount,))
        db.commit()
        db.close()

    def balance(self):
        db = sqlite3.connect(self.path)
        (balance,) = db.execute("SELECT balance FROM accounts").fetchone()
        db.close()
        return balance


class Client:
    """Two requests that find no token fetch one each."""

    def __init__(self):
        self.token, self.refreshes = None, 0

    async def fetch_token(self):
        await asyncio.sleep(0.1)
        self.refreshes += 1
        return f"token-{self.refreshes}"

    async def request(self):
        if self.token is None:
            self.token = await self.fetch_token()
        return self.token


class Limiter:
    """It counts those who are inside when they have got in."""

    def __init__(self):
        self.active, self.most = 0, 0

    async def connect(self):
        await asyncio.sleep(0)

    async def use(self):
        if self.active < 1:
            await self.connect()
            self.active += 1
            self.most = max(self.most, self.active)
            await asyncio.sleep(0)
            self.active -= 1


class Locks:
    """What is not there yet is made twice."""

    def __init__(self):
        self.by_key, self.seen = {}, []

    def get(self, key):
        if key not in self.by_key:
            self.by_key[key] = object()
        return self.by_key[key]

    def work(self):
        self.seen.append(self.get("k"))


class Jobs:
    """It asks whether there is a job, and waits for one."""

    def __init__(self):
        self.queue = queue.Queue()
        self.queue.put("job")
        self.done = []

    def work(self):
        if not self.queue.empty():
            self.done.append(self.queue.get())


class Buffer:
    """It waits in an `if`."""

    def __init__(self):
        self.items, self.condition, self.taken = [], threading.Condition(), []

    def take(self):
        with self.condition:
            if not self.items:
                self.condition.wait()
            self.taken.append(self.items.pop())

    def put(self):
        for item in (1, 2):
            with self.condition:
                self.items.append(item)
                self.condition.notify_all()


class Endpoint:
    """Two settings are read one after the other, in one line."""

    def __init__(self):
        self.host, self.port, self.used = "old", 1, None

    def reload(self):
        self.host = "new"
        self.port = 2

    def connect(self):
        self.used = (self.host, self.port)


class Wallet:
    """Two payments load the same balance."""

    def __init__(self):
        self.store = {"ann": 50}

    async def load(self, who):
        await asyncio.sleep(0)
        return self.store[who]

    async def save(self, who, value):
        await asyncio.sleep(0)
        self.store[who] = value

    async def pay(self, amount):
        balance = await self.load("ann")
        if balance >= amount:
            await self.save("ann", balance - amount)


class Metrics:
    """The lock is given back between reading and writing."""

    def __init__(self):
        self.lock, self.sums = threading.Lock(), {}

    def add(self, key, value):
        with self.lock:
            total = self.sums.get(key, 0)
        with self.lock:
            self.sums[key] = total + value


async def pay_30(wallet):
    await wallet.pay(30)


async def pay_20(wallet):
    await wallet.pay(20)


PROGRAMS = {
    "theatre": Label(
        Theatre,
        [lambda theatre: theatre.book("A1", "ann"), lambda theatre: theatre.book("A1", "bob")],
        lambda theatre: theatre.count("A1") == 1,
        "toctou",
        ("db", "seats"),
        ("SELECT COUNT(*) FROM bookings", "INSERT INTO bookings"),
        mentions=("BEGIN IMMEDIATE", "SELECT … WHERE"),
    ),
    "bank": Label(
        Bank,
        [lambda bank: bank.deposit(10), lambda bank: bank.deposit(20)],
        lambda bank: bank.balance() == 130,
        "atomicity-gap",
        ("db", "bank"),
        ("SELECT balance FROM accounts", "UPDATE accounts SET balance"),
        mentions=("Lost update: ", "SET balance = balance + …"),
    ),
    "client": Label(
        Client,
        [Client.request, Client.request],
        lambda client: client.refreshes == 1,
        "toctou|atomicity-gap",
        ("token",),
        ("if self.token is None:", "self.token = await self.fetch_token()"),
        observers=("refreshes",),
        tasks=True,
        mentions=("async with token_lock:",),
    ),
    "limiter": Label(
        Limiter,
        [Limiter.use, Limiter.use],
        lambda limiter: limiter.most <= 1,
        "toctou|atomicity-gap",
        ("active",),
        ("if self.active < 1:", "self.active += 1"),
        observers=("most",),
        tasks=True,
        mentions=("async with active_lock:",),
    ),
    "locks": Label(
        Locks,
        [Locks.work, Locks.work],
        lambda locks: locks.seen[0] is locks.seen[1],
        "toctou",
        ("by_key",),
        ("if key not in self.by_key:", "self.by_key[key] = object()"),
        observers=("seen",),
    ),
    "jobs": Label(
        Jobs,
        [Jobs.work, Jobs.work],
        lambda jobs: len(jobs.done) == 1,
        "toctou|starvation",
        ("queue",),
        ("if not self.queue.empty():", "self.queue.get()"),
        mentions=("get_nowait()",),
    ),
    "buffer": Label(
        Buffer,
        [Buffer.take, Buffer.take, Buffer.put],
        lambda buffer: len(buffer.taken) == 2,
        "toctou|atomicity-gap|order-violation",
        ("items",),
        ("if not self.items:", "self.items.pop()"),
        mentions=("while not self.items:",),
    ),
    "endpoint": Label(
        Endpoint,
        [Endpoint.reload, Endpoint.connect],
        lambda endpoint: endpoint.used in (("old", 1), ("new", 2)),
        "atomicity-gap",
        ("host", "port"),
        ("self.used = (self.host, self.port)", "self.host = \"new\"|self.port = 2"),
        mentions=("over all of it [simple] (verified",),
    ),
    "wallet": Label(
        Wallet,
        [pay_30, pay_20],
        lambda wallet: wallet.store["ann"] == 0,
        "toctou|atomicity-gap",
        ("ann", "store"),
        ("return self.store[who]", "self.store[who] = value"),
        tasks=True,
    ),
    "metrics": Label(
        Metrics,
        [lambda metrics: metrics.add("a", 1), lambda metrics: metrics.add("a", 2)],
        lambda metrics: metrics.sums["a"] == 3,
        "atomicity-gap",
        ("sums",),
        ("total = self.sums.get(key, 0)", "self.sums[key] = total + value"),
    ),
}
