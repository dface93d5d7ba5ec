"""Realistic programs with one bug each that the classifier was not made with, and what is right to say of them.

Of a label: the classes that are right, the shared things that may be blamed, those that only tell of the harm, and
pieces of the source lines that the reader must be shown. Alternatives have `|` between them.
"""

import asyncio
import threading
from dataclasses import dataclass, field


@dataclass
class Label:
    setup: object
    workers: list
    invariant: object
    classes: str
    blames: tuple
    lines: tuple
    observers: tuple = ()
    tasks: bool = False
    mentions: tuple = field(default=())


class Inventory:
    """Tickets are counted by one method and sold by another."""

    def __init__(self):
        self.tickets = {"gala": 1}
        self.sold = []

    def available(self, show):
        return self.tickets[show] > 0

    def sell(self, show, customer):
        self.tickets[show] = self.tickets[show] - 1
        self.sold.append(customer)

    def order(self, customer):
        if self.available("gala"):
            self.sell("gala", customer)


class Thumbnails:
    """Two misses render one picture twice."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ready = {}
        self.renders = 0

    def render(self, name):
        with self.lock:
            self.renders += 1
        return f"<{name}>"

    def get(self, name):
        picture = self.ready.get(name)
        if picture is None:
            picture = self.render(name)
            self.ready[name] = picture
        return picture


class Wallet:
    def __init__(self, amount):
        self.amount = amount
        self.lock = threading.Lock()


class Exchange:
    """Two trades in opposite directions."""

    def __init__(self):
        self.euros, self.crowns = Wallet(100), Wallet(100)
        self.trades = 0

    def trade(self, source, target, amount):
        with source.lock:
            with target.lock:
                source.amount -= amount
                target.amount += amount
                self.trades += 1

    def buy(self):
        self.trade(self.euros, self.crowns, 10)

    def sell(self):
        self.trade(self.crowns, self.euros, 20)


class Catalogue:
    """It is there before it is filled."""

    def __init__(self):
        self.words = None
        self.lookups = 0

    def fill(self):
        self.words = {}
        for word in ("sea", "sand"):
            self.words[word] = len(word)

    def length(self, word):
        if self.words is None:
            self.fill()
        self.lookups += 1
        return self.words[word]


class Mailbox:
    """The letter comes between the look and the wait."""

    def __init__(self):
        self.letters = []
        self.arrived = threading.Condition()
        self.read = 0

    def deliver(self):
        self.letters.append("hello")
        with self.arrived:
            self.arrived.notify()

    def is_empty(self):
        return not self.letters

    def take(self):
        if self.is_empty():
            with self.arrived:
                self.arrived.wait()
        self.read += 1
        return self.letters.pop()


class Throttle:
    """The quota is looked at, something is awaited, and then it is used."""

    def __init__(self):
        self.quota = 1
        self.calls = []

    async def authorise(self, user):
        await asyncio.sleep(0)
        return bool(user)

    async def call(self, user="ann"):
        if self.quota > 0:
            if await self.authorise(user):
                self.quota -= 1
                self.calls.append(user)


class Pool:
    """The last connection is given to two."""

    def __init__(self):
        self.idle = ["c1"]
        self.lock = threading.Lock()
        self.borrowed = []

    def has_idle(self):
        with self.lock:
            return len(self.idle) > 0

    def take(self):
        with self.lock:
            return self.idle.pop()

    def use(self):
        if self.has_idle():
            connection = self.take()
            self.borrowed.append(connection)
            with self.lock:
                self.idle.append(connection)


class Tickets:
    """Two get the same number."""

    def __init__(self):
        self.next = 1
        self.issued = []

    def number(self):
        number = self.next
        self.next = number + 1
        return number

    def issue(self):
        number = self.number()
        self.issued.append(number)


class Recent:
    """What is in the map may be gone from the order."""

    def __init__(self):
        self.values = {"a": 1, "b": 2}
        self.order = ["a", "b"]
        self.hits = 0

    def get(self):
        if "a" in self.values:
            self.hits += 1
            self.order.remove("a")
            self.order.append("a")
            return self.values["a"]

    def evict(self):
        oldest = self.order.pop(0)
        del self.values[oldest]


class Feed:
    """A batch that is copied, written and cleared; what comes meanwhile is cleared with it."""

    def __init__(self):
        self.pending = ["one"]
        self.written = []

    def add(self):
        self.pending.append("two")

    def flush(self):
        batch = list(self.pending)
        self.written.extend(batch)
        self.pending.clear()


class Sessions:
    """Two requests of one user log in twice."""

    def __init__(self):
        self.tokens = {}
        self.logins = 0

    async def log_in(self, user):
        self.logins += 1
        await asyncio.sleep(0.01)
        return f"{user}-{self.logins}"

    async def token(self):
        if "ann" not in self.tokens:
            self.tokens["ann"] = await self.log_in("ann")
        return self.tokens["ann"]


class Stock:
    """The lock is given back between the look and the change."""

    def __init__(self):
        self.count = 1
        self.lock = asyncio.Lock()
        self.sold = 0

    async def peek(self):
        async with self.lock:
            await asyncio.sleep(0)
            return self.count

    async def buy(self):
        if await self.peek() > 0:
            async with self.lock:
                self.count -= 1
            self.sold += 1


PROGRAMS = {
    "inventory": Label(
        Inventory,
        [lambda shop: shop.order("ann"), lambda shop: shop.order("bob")],
        lambda shop: len(shop.sold) <= 1,
        "toctou|atomicity-gap",
        ("tickets", "gala"),
        ("return self.tickets[show] > 0", "self.tickets[show] = self.tickets[show] - 1"),
        observers=("sold",),
    ),
    "thumbnails": Label(
        Thumbnails,
        [lambda cache: cache.get("cat"), lambda cache: cache.get("cat")],
        lambda cache: cache.renders == 1,
        "toctou|atomicity-gap",
        ("ready", "cat"),
        ("picture = self.ready.get(name)", "self.ready[name] = picture"),
        observers=("renders",),
    ),
    "exchange": Label(
        Exchange,
        [Exchange.buy, Exchange.sell],
        lambda exchange: exchange.euros.amount + exchange.crowns.amount == 200,
        "deadlock",
        ("lock", "euros", "crowns"),
        ("with source.lock:", "with target.lock:"),
        observers=("trades",),
    ),
    "catalogue": Label(
        Catalogue,
        [lambda catalogue: catalogue.length("sand"), lambda catalogue: catalogue.length("sand")],
        None,
        "order-violation|atomicity-gap|toctou",
        ("words", "sand"),
        ("self.words = {}", "return self.words[word]"),
        observers=("lookups",),
    ),
    "mailbox": Label(
        Mailbox,
        [Mailbox.take, Mailbox.deliver],
        None,
        "lost-wakeup",
        ("arrived", "letters"),
        ("return not self.letters", "self.arrived.notify()"),
        observers=("read",),
    ),
    "throttle": Label(
        Throttle,
        [Throttle.call, Throttle.call],
        lambda throttle: len(throttle.calls) <= 1,
        "toctou|atomicity-gap",
        ("quota",),
        ("if self.quota > 0:", "self.quota -= 1"),
        observers=("calls",),
        tasks=True,
    ),
    # Written after the changes that the first ones led to.
    "pool": Label(
        Pool,
        [Pool.use, Pool.use],
        None,
        "toctou|atomicity-gap",
        ("idle",),
        ("return len(self.idle) > 0", "return self.idle.pop()"),
        observers=("borrowed",),
    ),
    "tickets": Label(
        Tickets,
        [Tickets.issue, Tickets.issue],
        lambda tickets: len(set(tickets.issued)) == 2,
        "atomicity-gap",
        ("next",),
        ("number = self.next", "self.next = number + 1"),
        observers=("issued",),
    ),
    "recent": Label(
        Recent,
        [Recent.get, Recent.evict],
        None,
        "toctou|atomicity-gap|stale-reference",
        ("values", "order", "a"),
        ('if "a" in self.values:', "self.order.remove|self.order.pop"),
        observers=("hits",),
    ),
    "feed": Label(
        Feed,
        [Feed.add, Feed.flush],
        lambda feed: len(feed.written) + len(feed.pending) == 2,
        "atomicity-gap|toctou",
        ("pending",),
        ("batch = list(self.pending)", "self.pending.clear()"),
        observers=("written",),
    ),
    "sessions": Label(
        Sessions,
        [Sessions.token, Sessions.token],
        lambda sessions: sessions.logins == 1,
        "toctou|atomicity-gap",
        ("tokens", "ann", "Sessions"),
        ('if "ann" not in self.tokens:',),
        observers=(),
        tasks=True,
    ),
    "stock": Label(
        Stock,
        [Stock.buy, Stock.buy],
        lambda stock: stock.sold <= 1,
        "toctou|atomicity-gap",
        ("count",),
        ("return self.count", "self.count -= 1"),
        observers=("sold",),
        tasks=True,
    ),
}
