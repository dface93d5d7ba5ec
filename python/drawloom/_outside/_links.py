"""What is known of sockets: who is connected to whom, and what is on its way.

Whether something can be received is reckoned from what was sent, not asked of the system, which may take its time to
deliver it. So what happens depends on the order of steps alone.
"""

from __future__ import annotations

import socket
import weakref
from collections import deque
from typing import Any

from .. import _drawloom
from ._names import Numbers
from ._waits import waits

# The fact that somebody waits for several sockets at once: then all of them are one resource.
TOGETHER = "sockets"
# What senders wait for.
ROOM = "room"
# And those who accept connections, or receive datagrams.
ARRIVED = "arrived"
# And those who receive at an address that is not known before something is sent.
BOUND = "bound"


# By task.
Users = dict[int, tuple[str, int]]


class Place:
    """What sockets conflict on."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return TOGETHER if _drawloom.is_known(TOGETHER) else self._name

    def queue(self, what: object) -> str:
        """Where those wait that wait for the same."""
        return TOGETHER if _drawloom.is_known(TOGETHER) else f"{self._name} {what}"


class Link(Place):
    """A connection of two ends; of each, what it has not received yet, and whether it will send no more."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.unread, self.closed = [0, 0], [False, False]
        # Of each end: which tasks have used it, and where they did first.
        self.users: tuple[Users, Users] = ({}, {})


class Address(Place):
    """Where datagrams arrive, or connections."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.unread = 0
        self.backlog = 0
        self.pending: deque[Link] = deque()

    def has_something(self) -> bool:
        """Whether receiving, or accepting a connection, does not wait."""
        return bool(self.pending) or self.unread > 0


class End:
    """A socket, as an end of a link."""

    def __init__(self, link: Link, side: int) -> None:
        self.link, self.side = link, side
        self.socket: weakref.ref[Any] | None = None

    def is_other_end_of(self, end: End) -> bool:
        return self.link is end.link and self.side != end.side

    def use(self) -> None:
        """The running task uses this end."""
        users = self.link.users[self.side]
        if _drawloom.is_parallel() and _drawloom.task() not in users:
            users[_drawloom.task()] = _drawloom.here()

    def has_something(self) -> bool:
        """Whether receiving does not wait."""
        return self.link.unread[self.side] > 0 or self.link.closed[1 - self.side]

    def close(self) -> None:
        """It will send no more."""
        if not self.link.closed[self.side]:
            self.link.closed[self.side] = True
            waits.over(self.link.queue(1 - self.side))
            waits.over(self.link.queue(ROOM))


class Registry:
    """All of the running execution."""

    def __init__(self) -> None:
        self.epoch = 0
        self.ends: dict[int, End] = {}
        self.addresses: dict[Any, Address] = {}
        self.made = 0
        self._ports = Numbers()

    def now(self) -> Registry:
        if self.epoch != _drawloom.epoch():
            self.epoch, self.made = _drawloom.epoch(), 0
            self.ends, self.addresses = {}, {}
        return self

    def link(self, what: str) -> Link:
        self.now().made += 1
        return Link(f"{what} {self.made}")

    def join(self, fd: int, link: Link, side: int) -> None:
        self.now().ends[fd] = End(link, side)

    def _gone(self, fd: int, end: End) -> None:
        """Nobody has a socket any more, and its descriptor is the next one's."""
        if self.now().ends.get(fd) is end:
            del self.ends[fd]
        if _drawloom.is_parallel():
            end.close()

    def end(self, of: Any) -> End | None:
        """The end that a socket is, if both are known."""
        fd = of.fileno()
        end = self.now().ends.get(fd)
        if end is not None and end.socket is None:
            end.socket = weakref.ref(of, lambda _: self._gone(fd, end))
        return end if end is not None and end.socket is not None and end.socket() is of else None

    def address(self, of: Any) -> Address | None:
        """Where a socket that is bound receives."""
        return self.now().addresses.get(key_of(of.family, _own_name(of)))

    def bound(self, of: Any, name: Any = None, is_fixed: bool = True) -> Address:
        """The same, made known. A port that the system has chosen is called by a number that is the same each time."""
        name = _own_name(of) if name is None else name
        known, key = self.now().addresses, key_of(of.family, name)
        if key not in known:
            words = in_words(name) if is_fixed else f"{name[0]}, port {self._ports.next()} of the system"
            known[key] = Address(f"address {words}")
        return known[key]


def _own_name(of: Any) -> Any:
    try:
        return of.getsockname()
    except OSError:
        return None


_LOCAL = ("127.", "::1", "localhost", "0.0.0.0", "::")


def key_of(family: int, address: Any) -> Any:
    """What tells addresses of this machine apart; none, if it is elsewhere."""
    if isinstance(address, tuple):
        host, port = str(address[0]), address[1]
        return (family, port) if port and (not host or host.startswith(_LOCAL)) else None
    return (socket.AF_UNIX, address) if address else None


def in_words(address: Any) -> str:
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else str(address)


registry = Registry()


def known_at(fd: int) -> End | Address | None:
    """What a descriptor is, if who is at the other end is part of the exploration."""
    known = registry.now().ends.get(fd)
    if known is not None:
        return known
    twin = socket.socket(fileno=fd)
    try:
        return registry.address(twin)
    finally:
        twin.detach()


# Tasks that talk to a server whose protocol is known, by a driver that makes steps of what it asks.
talking: set[int] = set()


def is_controlled() -> bool:
    """Whether what the calling thread does to sockets is a step."""
    return _drawloom.is_controlled() and not (talking and _drawloom.task() in talking)
