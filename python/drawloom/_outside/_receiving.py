"""Receiving from sockets."""

from __future__ import annotations

import _socket
import select
import socket
from collections.abc import Callable
from typing import Any

from .. import _drawloom
from ._links import ARRIVED, ROOM, Address, End, is_controlled, registry
from ._peers import Receiving
from ._socket_waits import STREAMS, is_there, outside, waiting
from ._waits import NOT_YET, waits

_native = _socket.socket
# What the system takes to deliver on one machine is far less.
_DELIVERY = 5000
_PEEK, _ALL = socket.MSG_PEEK, socket.MSG_WAITALL


def _receiving(name: str, size_at: int | None, flags_at: int) -> Callable[..., Any]:
    native = getattr(_native, name)

    def receive(self: Any, *arguments: Any) -> Any:
        if not is_controlled():
            return native(self, *arguments)
        flags = arguments[flags_at] if len(arguments) > flags_at else 0
        end, address = registry.end(self), registry.address(self) if self.type not in STREAMS else None
        place = end.link if end is not None else address
        if end is not None:
            end.use()
        if place is None:
            outside(self, receives=True)
            return native(self, *arguments)

        def attempt() -> Any:
            there = address.unread > 0 if address is not None and end is None else end is not None and end.has_something()
            if not there:
                return NOT_YET
            is_there(self.fileno(), select.POLLIN, _DELIVERY)
            stream = end is not None and self.type in STREAMS
            if stream and end is not None and end.link.unread[end.side]:
                received = native(self, *_all_of_it(arguments, end.link.unread[end.side], size_at, flags_at))
            else:
                received = native(self, *arguments)
            if not flags & _PEEK:
                _take(end, address, _length(received) if stream else 1)
            return received

        about = Receiving(end if end is not None else place)
        received = waiting(self, place, end.side if end is not None else ARRIVED, attempt, about)
        waits.over(place.queue(ROOM))
        return received

    receive.__name__ = receive.__qualname__ = name
    return receive


def _take(end: End | None, address: Address | None, amount: int) -> None:
    if end is not None:
        end.link.unread[end.side] = max(0, end.link.unread[end.side] - amount)
    elif address is not None:
        address.unread -= 1


def _length(received: Any) -> int:
    first = received[0] if isinstance(received, tuple) else received
    return first if isinstance(first, int) else len(first)


def _all_of_it(arguments: tuple[Any, ...], unread: int, size_at: int | None, flags_at: int) -> tuple[Any, ...]:
    """Arguments that receive all there will be at this moment, however long it takes to arrive."""
    given = list(arguments) + [0] * (flags_at + 1 - len(arguments))
    room = given[size_at] if size_at is not None else 0
    if size_at == 1:
        room = room or memoryview(given[0]).nbytes
    if size_at is not None:
        given[size_at] = min(room, unread)
    given[flags_at] |= _ALL
    return tuple(given)


# Where their arguments say how much, and how.
RECEIVING = {
    name: _receiving(name, size_at, flags_at)
    for name, size_at, flags_at in (("recv", 0, 1), ("recv_into", 1, 2), ("recvfrom", 0, 1), ("recvfrom_into", 1, 2), ("recvmsg", 0, 2))
}
