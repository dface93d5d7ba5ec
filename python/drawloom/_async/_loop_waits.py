"""For what tasks of asyncio wait."""

from __future__ import annotations

import asyncio
import types
from asyncio import locks, queues, selector_events, streams
from typing import TYPE_CHECKING, Any

from .._patching import Patch
from .._waiting import Wait
from ._places import frames_of
from ._waits import Method, Methods, acquiring, joins, releasing, waits_at_socket, waits_in

if TYPE_CHECKING:
    from ._host import Guest, Host

_LOCKS: tuple[Any, ...] = (locks.Lock, locks.Semaphore)
_METHODS: Methods = {
    locks.Lock.acquire.__code__: Method("lock", "lock"),
    locks.Semaphore.acquire.__code__: Method("acquire", "semaphore", None, ("release",)),
    locks.Event.wait.__code__: Method("wait", "condition", "Event", ("set",)),
    locks.Condition.wait.__code__: Method("wait", "condition", None, ("notify", "notify_all")),
    queues.Queue.get.__code__: Method("recv", "queue", "Queue", ("put", "put_nowait")),
    queues.Queue.put.__code__: Method("send", "queue", "Queue", ("get", "get_nowait")),
    queues.Queue.join.__code__: Method("wait", "queue", "Queue", ("task_done",), True),
}
# They came with 3.11.
if hasattr(locks, "Barrier"):
    _METHODS[locks.Barrier.wait.__code__] = Method("wait", "condition", "Barrier", ("wait",), True)
# Methods at whose end others have ended.
_GROUPS: set[types.CodeType] = {asyncio.TaskGroup.__aexit__.__code__} if hasattr(asyncio, "TaskGroup") else set()

OF_LOCKS: list[Patch] = [
    *((kind, "acquire", acquiring(kind.acquire)) for kind in _LOCKS),
    *((kind, "release", releasing(kind.release)) for kind in _LOCKS),
]


# Methods that wait for a socket: how, and whose it is.
_sockets: Any = selector_events.BaseSelectorEventLoop
_AT_SOCKETS: dict[types.CodeType, tuple[str, str]] = {
    **{getattr(_sockets, name).__code__: ("recv", "sock") for name in ("sock_recv", "sock_recv_into", "sock_accept")},
    _sockets.sock_sendall.__code__: ("send", "sock"),
    streams.StreamReader._wait_for_data.__code__: ("recv", "self"),  # type: ignore[attr-defined]
}


def _socket_of(frame: types.FrameType) -> tuple[str, int] | None:
    """What such a method waits for: how, and at which descriptor."""
    if frame.f_code not in _AT_SOCKETS:
        return None
    word, name = _AT_SOCKETS[frame.f_code]
    owner = frame.f_locals[name]
    sock = owner if name == "sock" else getattr(owner._transport, "_sock", None)
    return None if sock is None else (word, sock.fileno())


def wait_of(host: Host, guest: Guest) -> Wait | None:
    """The wait of a task."""
    return waits_at_socket(host, guest, _socket_of) or waits_in_library(host, guest)


def waits_in_library(host: Host, guest: Guest) -> Wait | None:
    """The wait of a task for others, or for what asyncio itself has."""
    gathered = getattr(guest.task._fut_waiter, "_children", None)
    if isinstance(gathered, list):
        return joins(host, guest, gathered)
    innermost = frames_of(host.coroutine_of(guest.task))[-1:]
    for frame in innermost:
        if frame.f_code in _GROUPS:
            return joins(host, guest, list(frame.f_locals["self"]._tasks))
    return waits_in(host, guest, _METHODS)
