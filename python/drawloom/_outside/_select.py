"""Waiting for several sockets at once."""

from __future__ import annotations

import select
import socket
from typing import Any

from .. import _drawloom
from ._links import TOGETHER, registry
from ._waits import NOT_YET, waits

_native_select = select.select


def together(read: Any, write: Any, exceptional: Any, timeout: float | None = None) -> Any:
    """`select.select`."""
    if not _drawloom.is_parallel():
        return _native_select(read, write, exceptional, timeout)
    _drawloom.learn(TOGETHER)
    read, write, exceptional = list(read), list(write), list(exceptional)

    def attempt() -> Any:
        ready = [one for one in read if _is_readable(one)]
        writable = _native_select([], write, [], 0)[1]
        return (ready, writable, []) if ready or writable else NOT_YET

    ready = waits.until(TOGETHER, attempt, timeout)
    return ([], [], []) if ready is NOT_YET else ready


def _is_readable(one: Any) -> bool:
    fd = one if isinstance(one, int) else one.fileno()
    known = registry.now().ends.get(fd)
    if known is not None:
        return known.has_something()
    twin = socket.socket(fileno=fd)
    try:
        address = registry.address(twin)
    finally:
        twin.detach()
    if address is not None:
        return bool(address.pending) or address.unread > 0
    _drawloom.uncontrolled("a descriptor that is not part of the exploration")
    return bool(_native_select([fd], [], [], 0)[0])
