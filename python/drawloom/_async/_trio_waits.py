"""For what tasks of trio wait."""

from __future__ import annotations

import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

from trio import _channel, _sync

from .._waiting import Others, Wait
from ._trio_parts import System
from ._waits import Method, Methods, line_of_user, waits_at_socket, waits_in

if TYPE_CHECKING:
    from ._host import Guest
    from ._trio import Loop

_METHODS: Methods = {
    inspect.unwrap(function).__code__: method for function, method in (
        (_sync.Lock.acquire, Method("lock", "lock")),
        (_sync.Semaphore.acquire, Method("acquire", "semaphore", None, ("release",))),
        (_sync.Event.wait, Method("wait", "condition", "Event", ("set",))),
        (_sync.Condition.wait, Method("wait", "condition", None, ("notify", "notify_all"))),
        (_channel.MemoryReceiveChannel.receive, Method("recv", "channel", "Queue")),
        (_channel.MemorySendChannel.send, Method("send", "channel", "Queue")),
    )
}


def has_taken(loop: Loop, task: Any, lot: Any) -> None:
    """A task has got a lock, whose parking lot this is; it may have been handed over to it."""
    guest = loop.tasks.get(task)
    if guest is not None:
        place = line_of_user(sys._getframe(1), loop.library) if guest is loop.current else loop.place_of(guest)
        loop.book.take(lot, guest.number, place)


def holders_of(loop: Loop, thing: Any) -> Others:
    """Who has a lock: it knows its owner, and the book where that was."""
    owner = loop.tasks.get(getattr(thing, "_owner", None))
    if owner is None:
        return []
    return [holder for holder in loop.book.holders(thing._lot) if holder[0] == owner.number][-1:]


def wait_of(loop: Loop, guest: Guest) -> Wait | None:
    """The wait of a task."""
    return waits_at_socket(loop, guest, _socket_of) or waits_in(loop, guest, _METHODS)


def _socket_of(frame: types.FrameType) -> tuple[str, int] | None:
    if frame.f_code is not System.waits.__code__:
        return None
    return "send" if frame.f_locals["writes"] else "recv", frame.f_locals["fd"]
