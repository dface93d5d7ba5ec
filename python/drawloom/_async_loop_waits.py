"""For what tasks of asyncio wait."""

from __future__ import annotations

import asyncio
import types
from asyncio import locks, queues, selector_events, streams
from typing import TYPE_CHECKING, Any

from ._async_places import frames_of
from ._async_waits import Method, Methods, acquiring, joins, releasing, waits_in
from ._outside._links import End, known_at
from ._outside._peers import wait_at
from ._patching import Patch
from ._waiting import Wait

if TYPE_CHECKING:
    from ._async_host import Guest, Host

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


def _socket_of(host: Host, guest: Guest) -> tuple[str, Any] | None:
    """The socket that a task waits for: how, and what is known of it."""
    for frame in frames_of(host.coroutine_of(guest.task)):
        if frame.f_code in _AT_SOCKETS:
            word, name = _AT_SOCKETS[frame.f_code]
            owner = frame.f_locals[name]
            sock = owner if name == "sock" else getattr(owner._transport, "_sock", None)
            known = known_at(sock.fileno()) if sock is not None and sock.fileno() >= 0 else None
            return None if known is None else (word, known)
    return None


def _wait_at_socket(host: Host, guest: Guest) -> Wait | None:
    found = _socket_of(host, guest)
    if found is None:
        return None
    word, at = found
    wait = wait_at(at, guest.number, word, host.place_of(guest))
    if not isinstance(at, End):
        return wait
    # Who waits at the other end has it, even if it has done nothing there yet.
    others = [other for other in host.guests.values() if other.task is not None and not host.is_done(other.task)]
    for other in others:
        theirs = _socket_of(host, other)
        known = {number for number, _ in wait.likely}
        if theirs is not None and isinstance(theirs[1], End) and other.number not in known and theirs[1].is_other_end_of(at):
            wait.likely.append((other.number, host.place_of(other)))
    return wait


def wait_of(host: Host, guest: Guest) -> Wait | None:
    """The wait of a task."""
    gathered = getattr(guest.task._fut_waiter, "_children", None)
    if isinstance(gathered, list):
        return joins(host, guest, gathered)
    innermost = frames_of(host.coroutine_of(guest.task))[-1:]
    for frame in innermost:
        if frame.f_code in _GROUPS:
            return joins(host, guest, list(frame.f_locals["self"]._tasks))
    return _wait_at_socket(host, guest) or waits_in(host, guest, _METHODS)
