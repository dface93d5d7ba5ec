"""More programs with one bug each and labels, as in `fresh_programs`: written when the explainer did well on those, by
somebody who had not seen it."""

import asyncio
import queue
import threading

from fresh_programs import Label


class Directory:
    """A nickname is free for two."""

    def __init__(self):
        self.lock = threading.Lock()
        self.owners = {}
        self.welcomed = []

    def is_free(self, nick):
        with self.lock:
            return nick not in self.owners

    def claim(self, nick, user):
        with self.lock:
            self.owners[nick] = user

    def join(self, nick, user):
        if self.is_free(nick):
            self.claim(nick, user)
            self.welcomed.append(user)

    def each_owns_a_name(self):
        return all(user in self.owners.values() for user in self.welcomed)


class Card:
    """Its property locks when it is read and when it is written, and `+=` does both."""

    def __init__(self):
        self._lock = threading.Lock()
        self._points = 0

    @property
    def points(self):
        with self._lock:
            return self._points

    @points.setter
    def points(self, points):
        with self._lock:
            self._points = points


class Loyalty:
    def __init__(self):
        self.card = Card()
        self.purchases = []

    def buy(self, cents):
        self.purchases.append(cents)
        self.card.points += cents // 100

    def level(self):
        return "gold" if self.card.points >= 5 else "silver"


class Leaderboard:
    """A lower score comes to the top after it was compared with the one before last."""

    def __init__(self):
        self.lock = threading.Lock()
        self.scores = {}
        self.best = 0
        self.champion = None

    def record(self, player, score):
        with self.lock:
            self.scores[player] = score

    def submit(self, player, score):
        self.record(player, score)
        if score > self.best:
            self.best = score
            self.champion = player

    def is_fair(self):
        return self.scores[self.champion] == max(self.scores.values())


class Printer:
    """A page that comes between the last look and `clear` is not told of."""

    def __init__(self):
        self.pages = []
        self.ready = threading.Event()
        self.printed = []

    def submit(self, page):
        self.pages.append(page)
        self.ready.set()

    def send(self):
        self.submit("cover")
        self.submit("text")

    def drain(self):
        while self.pages:
            self.printed.append(self.pages.pop(0))

    def run(self):
        while len(self.printed) < 2:
            self.ready.wait()
            self.drain()
            self.ready.clear()


class Broker:
    """Who waits for a message has the lock that sending one takes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.outgoing = queue.Queue()
        self.counts = {"published": 0, "delivered": 0}

    def publish(self, text="hello"):
        with self.lock:
            self.counts["published"] += 1
            self.outgoing.put(text)

    def deliver(self):
        with self.lock:
            text = self.outgoing.get()
            self.counts["delivered"] += 1
        return text

    def backlog(self):
        return self.counts["published"] - self.counts["delivered"]


class Console:
    """Two log in at once, and one has the other's permissions."""

    def __init__(self):
        self.roles = {"root": ["read", "write"], "guest": ["read"]}
        self.user = None
        self.permissions = []

    async def load(self, user):
        await asyncio.sleep(0)
        return self.roles[user]

    async def log_in(self, user):
        self.user = user
        self.permissions = await self.load(user)

    async def root(self):
        await self.log_in("root")

    async def guest(self):
        await self.log_in("guest")

    def is_consistent(self):
        return self.permissions == self.roles[self.user]


class Courier:
    """A parcel that takes too long has left the depot and does not arrive."""

    def __init__(self):
        self.van = asyncio.Lock()
        self.depot = 2
        self.delivered = 0
        self.complaints = []

    async def drive(self, minutes):
        async with self.van:
            await asyncio.sleep(minutes)

    async def deliver(self, minutes):
        self.depot -= 1
        await self.drive(minutes)
        self.delivered += 1

    async def freight(self):
        await self.deliver(30)

    async def express(self):
        try:
            await asyncio.wait_for(self.deliver(5), 10)
        except asyncio.TimeoutError:
            self.complaints.append("late")

    def parcels(self):
        return self.depot + self.delivered


PROGRAMS = {
    "directory": Label(
        Directory,
        [lambda directory: directory.join("fox", "ann"), lambda directory: directory.join("fox", "bob")],
        Directory.each_owns_a_name,
        "toctou|atomicity-gap",
        ("owners", "fox"),
        ("return nick not in self.owners|if self.is_free(nick)", "self.owners[nick] = user"),
        observers=("welcomed",),
    ),
    "loyalty": Label(
        Loyalty,
        [lambda shop: shop.buy(300), lambda shop: shop.buy(200)],
        lambda shop: shop.level() == "gold",
        "atomicity-gap",
        ("_points", "points"),
        ("return self._points|self.card.points +=", "self._points = points|self.card.points +="),
        observers=("purchases",),
    ),
    "leaderboard": Label(
        Leaderboard,
        [lambda board: board.submit("ann", 10), lambda board: board.submit("bob", 20)],
        Leaderboard.is_fair,
        "toctou|atomicity-gap",
        ("best", "champion"),
        ("if score > self.best:|self.best = score", "self.champion = player"),
        observers=("scores",),
    ),
    "printer": Label(
        Printer,
        [Printer.run, Printer.send],
        lambda printer: printer.printed == ["cover", "text"],
        "lost-wakeup",
        ("ready", "pages"),
        ("self.ready.clear()", "self.ready.set()|self.ready.wait()"),
        observers=("printed",),
    ),
    "broker": Label(
        Broker,
        [Broker.deliver, Broker.publish],
        lambda broker: broker.backlog() == 0,
        "deadlock",
        ("lock", "outgoing"),
        ("with self.lock:", "text = self.outgoing.get()"),
        observers=("counts", "published", "delivered"),
    ),
    "console": Label(
        Console,
        [Console.root, Console.guest],
        Console.is_consistent,
        "atomicity-gap|order-violation",
        ("user", "permissions"),
        ("self.user = user", "self.permissions = await self.load(user)"),
        tasks=True,
    ),
    "courier": Label(
        Courier,
        [Courier.express, Courier.freight],
        lambda courier: courier.parcels() == 2,
        "atomicity-gap|order-violation|none",
        ("depot", "delivered"),
        ("self.depot -= 1",),
        observers=("complaints",),
        tasks=True,
        mentions=("dropped|cancelled|timed out|timeout|Timeout",),
    ),
}
