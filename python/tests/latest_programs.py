"""More programs with one bug each and labels, as in `fresh_programs`: written after both other files, by somebody who
had read neither the explainer nor them.

At the first run 7 of the 8 reports were right and 1 partly, which is that of `profile`. Three of these programs had
been mended before: the workers of `bucket` and `profile` had not been coroutine functions, and `plugins` had a second
bug, which its report told.
"""

import asyncio
import threading
from collections import deque

from fresh_programs import Label


class Sessions:
    """An expired session is found by one method and removed by another."""

    def __init__(self):
        self.expiry = {"kim": 5}
        self.ended = []

    def touch(self, user, now):
        self.expiry[user] = now + 10

    def sweep(self, now):
        for user, expiry in list(self.expiry.items()):
            if expiry < now:
                self.end(user)

    def end(self, user):
        del self.expiry[user]
        self.ended.append(user)

    def keeps_whom_it_saw(self):
        return "kim" in self.expiry


class Histogram:
    """Its total and its buckets are counted one after the other."""

    def __init__(self):
        self.lock = threading.Lock()
        self.buckets = [0, 0]
        self.total = 0
        self.reported = []

    def observe(self, bucket):
        with self.lock:
            self.buckets[bucket] += 1
        with self.lock:
            self.total += 1

    def report(self):
        with self.lock:
            self.reported.append((sum(self.buckets), self.total))

    def adds_up(self):
        return all(counted == total for counted, total in self.reported)


class Plugin:
    """It is loaded once, and handed out before it is set up."""

    def __init__(self):
        self.commands = None

    def set_up(self):
        self.commands = ["help"]


class Plugins:
    def __init__(self):
        self.lock = threading.Lock()
        self.loaded = {}
        self.used = 0

    def load(self, name):
        with self.lock:
            if name in self.loaded:
                return self.loaded[name]
            plugin = self.loaded[name] = Plugin()
        plugin.set_up()
        return plugin

    def use(self, name):
        plugin = self.load(name)
        with self.lock:
            self.used += len(plugin.commands)


class Mailbox:
    """Whoever waits looks before it waits, and not again."""

    def __init__(self):
        self.changed = threading.Condition()
        self.letters = deque()
        self.read = []

    def is_empty(self):
        with self.changed:
            return not self.letters

    def receive(self):
        if self.is_empty():
            with self.changed:
                self.changed.wait()
        self.read.append(self.letters.popleft())

    def deliver(self):
        with self.changed:
            self.letters.append("hello")
            self.changed.notify()


class Folder:
    """Moving a file takes the lock of the source, then that of the target."""

    def __init__(self, *files):
        self.lock = threading.Lock()
        self.files = list(files)

    def move(self, file, target):
        with self.lock:
            if file in self.files:
                self.files.remove(file)
                target.put(file)

    def put(self, file):
        with self.lock:
            self.files.append(file)


class Drive:
    def __init__(self):
        self.inbox = Folder("bill")
        self.archive = Folder("letter")

    def store(self):
        self.inbox.move("bill", self.archive)

    def restore(self):
        self.archive.move("letter", self.inbox)

    def count(self):
        return len(self.inbox.files) + len(self.archive.files)


class Bucket:
    """Tokens are counted before the first `await`, and taken after it."""

    def __init__(self):
        self.tokens = 1
        self.sent = []

    async def throttle(self):
        if self.tokens < 1:
            return False
        await asyncio.sleep(0)
        self.tokens -= 1
        return True

    async def send(self, text):
        if await self.throttle():
            self.sent.append(text)

    async def first(self):
        await self.send("a")

    async def second(self):
        await self.send("b")


class Profile:
    """Two forms are saved at once, each with the whole profile."""

    def __init__(self):
        self.stored = {"name": "", "city": ""}
        self.saves = 0

    async def load(self):
        await asyncio.sleep(0)
        return dict(self.stored)

    async def save(self, profile):
        await asyncio.sleep(0)
        self.stored = profile
        self.saves += 1

    async def change(self, field, value):
        profile = await self.load()
        profile[field] = value
        await self.save(profile)

    async def rename(self):
        await self.change("name", "Ida")

    async def move(self):
        await self.change("city", "Bonn")


class Stream:
    """The reader is told of the end before the last chunk is there."""

    def __init__(self):
        self.chunks = []
        self.closed = False
        self.received = None

    def write(self):
        self.chunks.append("a")
        self.closed = True
        self.chunks.append("b")

    def read(self):
        if self.closed:
            self.received = "".join(self.chunks)

    def is_whole(self):
        return self.received in (None, "ab")


PROGRAMS = {
    "expiry": Label(
        Sessions,
        [lambda sessions: sessions.sweep(8), lambda sessions: sessions.touch("kim", 7)],
        Sessions.keeps_whom_it_saw,
        "toctou|atomicity-gap|stale-reference",
        ("expiry",),
        ("list(self.expiry.items())", "del self.expiry[user]|self.expiry[user] = now + 10"),
        observers=("ended",),
    ),
    "histogram": Label(
        Histogram,
        [lambda histogram: histogram.observe(0), Histogram.report],
        Histogram.adds_up,
        "atomicity-gap",
        ("buckets", "total"),
        ("self.buckets[bucket] += 1|self.total += 1", "(sum(self.buckets), self.total)"),
        observers=("reported",),
    ),
    "plugins": Label(
        Plugins,
        [lambda plugins: plugins.use("git"), lambda plugins: plugins.use("git")],
        lambda plugins: plugins.used == 2,
        "order-violation|atomicity-gap",
        ("commands", "loaded"),
        (
            "self.commands = [|plugin.set_up()|self.loaded[name] = Plugin()",
            "len(plugin.commands)|return self.loaded[name]",
        ),
    ),
    "letterbox": Label(
        Mailbox,
        [Mailbox.receive, Mailbox.deliver],
        lambda mailbox: mailbox.read == ["hello"],
        "lost-wakeup",
        ("changed", "letters"),
        ("self.changed.notify()", "self.changed.wait()"),
        observers=("read",),
    ),
    "drive": Label(
        Drive,
        [Drive.store, Drive.restore],
        lambda drive: drive.count() == 2,
        "deadlock",
        ("lock",),
        ("with self.lock:",),
    ),
    "bucket": Label(
        Bucket,
        [Bucket.first, Bucket.second],
        lambda bucket: len(bucket.sent) <= 1,
        "toctou|atomicity-gap",
        ("tokens",),
        ("if self.tokens < 1:", "self.tokens -= 1"),
        observers=("sent",),
        tasks=True,
    ),
    "profile": Label(
        Profile,
        [Profile.rename, Profile.move],
        lambda profile: profile.stored == {"name": "Ida", "city": "Bonn"},
        "atomicity-gap",
        ("stored",),
        ("return dict(self.stored)", "self.stored = profile"),
        observers=("saves",),
        tasks=True,
    ),
    "stream": Label(
        Stream,
        [Stream.write, Stream.read],
        Stream.is_whole,
        "order-violation|atomicity-gap",
        ("closed", "chunks"),
        ("self.closed = True|self.chunks.append(\"b\")", "if self.closed:|\"\".join(self.chunks)"),
        observers=("received",),
    ),
}
