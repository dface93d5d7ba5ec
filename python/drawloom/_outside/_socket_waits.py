"""Waiting at sockets: for other threads in the engine, for peers that are none for real."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from typing import Any

from .. import _drawloom
from ._links import Place, in_words
from ._waits import NOT_YET, waits

STREAMS = (socket.SOCK_STREAM, getattr(socket, "SOCK_SEQPACKET", socket.SOCK_STREAM))

_native_poll = select.poll
# How long a peer may take that is not part of the exploration, in milliseconds.
patience = 20_000
# Others go on meanwhile: it may be they who answer, by what is not known to belong together.
others_go_on = False


# By peer: who has asked it something last, and by what.
_asked: dict[str, tuple[int, int, int]] = {}


def is_there(fd: int, event: int, milliseconds: int) -> bool:
    poll = _native_poll()
    poll.register(fd, event)
    return bool(poll.poll(milliseconds))


def waiting(sock: Any, place: Place, queue: object, attempt: Callable[[], Any], about: Any = None) -> Any:
    """What `attempt` comes to, as long as the socket's timeout lets it wait."""
    timeout = sock.gettimeout()
    result = waits.until(place.name, attempt, timeout, place.queue(queue), about=about)
    if result is NOT_YET:
        raise BlockingIOError(11, "Resource temporarily unavailable") if timeout == 0 else TimeoutError("timed out")
    return result


def outside(sock: Any, peer: Any = None, receives: bool = False) -> None:
    """A step on a peer that is not part of the exploration, and is waited for for real."""
    if not _drawloom.is_parallel():
        return
    try:
        name = in_words(sock.getpeername() if peer is None else peer)
    except OSError:
        name = "nobody"
    _drawloom.uncontrolled(f"the peer {name}, which is not part of the exploration")
    # An answer belongs to what was asked: in how many pieces it arrives is chance, and nobody else could notice.
    asked = (_drawloom.epoch(), _drawloom.task(), sock.fileno())
    if not receives or _asked.get(name) != asked:
        _drawloom.touch(f"peer {name}", True)
    _asked[name] = asked
    if receives and sock.gettimeout() is None and not _answers(sock.fileno()):
        _drawloom.give_up(f"{name}, which is not part of the exploration, has not answered for {patience / 1000:g} s")


def _answers(fd: int) -> bool:
    if not others_go_on:
        return is_there(fd, select.POLLIN, patience)
    for _ in range(patience):
        if is_there(fd, select.POLLIN, 0):
            return True
        # Its turn comes again when nobody else can go on.
        _drawloom.await_wake(0.001)
        if is_there(fd, select.POLLIN, 1):
            return True
    return False
