"""Whether a socket of an event loop is ready, and where one is told that this may have changed."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable

from .. import _drawloom
from ._links import ARRIVED, BOUND, ROOM, Address, End, in_words, known_at
from ._socket_waits import STREAMS, is_there
from ._waits import waits


class Awaited:
    """A descriptor that a loop wants to receive from, or to send to."""

    def __init__(self, fd: int, writes: bool) -> None:
        self.fd, self.writes = fd, writes

    def is_ready(self) -> bool:
        """Looks, which is a step on the connection."""
        known = self._known()
        if known is None:
            return False
        _drawloom.touch((known.link if isinstance(known, End) else known).name, False)
        return is_there(self.fd, select.POLLOUT, 0) if self.writes else known.has_something()

    def state(self) -> tuple[int, ...]:
        """What changes when somebody sends or receives."""
        known = known_at(self.fd)
        if isinstance(known, End):
            return (*known.link.unread, *known.link.closed)
        return () if known is None else (len(known.pending), known.unread)

    def tell(self, act: Callable[[], None]) -> None:
        """Has `act` be called once, as soon as it may be ready."""
        known = self._known()
        if isinstance(known, End):
            waits.tell(known.link.queue(ROOM if self.writes else known.side), act)
        else:
            waits.tell(BOUND if known is None else known.queue(ROOM if self.writes else ARRIVED), act)

    def _known(self) -> End | Address | None:
        """The peer; none for a socket that nobody can send to yet."""
        known = known_at(self.fd)
        if known is None:
            twin = socket.socket(fileno=self.fd)
            try:
                name = _peer(twin)
            finally:
                twin.detach()
            if name is not None:
                _drawloom.give_up(f"{name}, which is not part of the exploration, at the other end of a socket of an event loop")
        return known


def _peer(sock: socket.socket) -> str | None:
    try:
        return in_words(sock.getpeername())
    except OSError:
        return "a peer" if sock.type in STREAMS else None
