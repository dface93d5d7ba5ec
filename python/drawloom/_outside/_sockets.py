"""Sockets: each call is a step on the connection or the address that it is about; what would wait does so in the engine."""

from __future__ import annotations

import _socket
import importlib
import select
import socket
import sys
from collections.abc import Callable
from typing import Any

from .. import _drawloom
from .._patching import Patch
from . import _select
from ._links import ARRIVED, BOUND, ROOM, Address, End, in_words, is_controlled, key_of, registry
from ._peers import Receiving, Sending
from ._receiving import RECEIVING
from ._selector import Selector
from ._socket_files import makefile
from ._socket_waits import STREAMS, is_there, outside, waiting
from ._waits import NOT_YET, waits

_native = _socket.socket
_native_pair, _real_close = socket.socketpair, socket.socket._real_close  # type: ignore[attr-defined]


def pair(*arguments: Any, **options: Any) -> Any:
    """`socket.socketpair`."""
    one, other = _native_pair(*arguments, **options)
    if is_controlled():
        link = registry.link("socket pair")
        for side, end in enumerate((one, other)):
            registry.join(end.fileno(), link, side)
            registry.end(end)
    return one, other


def bind(self: Any, address: Any) -> None:
    if _drawloom.is_parallel():
        _drawloom.touch(registry.bound(self, address).name if _is_fixed(address) else "addresses", True)
    _native.bind(self, address)
    if is_controlled():
        registry.bound(self, is_fixed=_is_fixed(address))


def _is_fixed(address: Any) -> bool:
    return not isinstance(address, tuple) or bool(address[1])


def listen(self: Any, *backlog: int) -> None:
    address = registry.address(self) if is_controlled() else None
    if address is not None:
        _drawloom.touch(address.name, True)
        address.backlog = max(1, *backlog) if backlog else 128
    _native.listen(self, *backlog)


def connect(self: Any, address: Any) -> None:
    code = _connect(self, address, _native.connect)
    assert code is None


def connect_ex(self: Any, address: Any) -> Any:
    return _connect(self, address, _native.connect_ex)


def _connect(self: Any, address: Any, native: Callable[..., Any]) -> Any:
    if not is_controlled():
        return native(self, address)
    known = _address(self, address)
    if self.type not in STREAMS:
        done = native(self, address)
        registry.bound(self, is_fixed=not isinstance(address, tuple))
        return done
    if known is None:
        if _drawloom.is_parallel():
            _drawloom.touch(f"address {in_words(address)}", False)
        return native(self, address)

    def attempt() -> Any:
        if known.backlog and len(known.pending) > known.backlog:
            return NOT_YET
        try:
            result = native(self, address)
        except BlockingIOError:
            result = None
        if known.backlog and not result:
            link = registry.link("connection")
            registry.join(self.fileno(), link, 0)
            registry.end(self)
            known.pending.append(link)
            return result, True
        return result, False

    result, connected = waiting(self, known, ROOM, attempt) if _drawloom.is_parallel() else attempt()
    if connected:
        waits.over(known.queue(ARRIVED))
    return result


def _address(sock: Any, address: Any) -> Address | None:
    return registry.now().addresses.get(key_of(sock.family, address))


def accept(self: Any) -> Any:
    """`socket.socket._accept`."""
    address = registry.address(self) if is_controlled() else None
    if address is None:
        if is_controlled():
            outside(self, "somebody", receives=True)
        return _native._accept(self)  # type: ignore[attr-defined]

    def attempt() -> Any:
        if not address.pending:
            return NOT_YET
        fd, peer = _native._accept(self)  # type: ignore[attr-defined]
        registry.join(fd, address.pending.popleft(), 1)
        return fd, peer

    accepted = waiting(self, address, ARRIVED, attempt, Receiving(address))
    waits.over(address.queue(ROOM))
    return accepted


def send(self: Any, data: Any, flags: int = 0) -> int:
    end = registry.end(self) if is_controlled() else None
    if end is None:
        if self.type not in STREAMS and is_controlled():
            return _datagram(self, self.getpeername(), lambda: _native.send(self, data, flags))
        if is_controlled():
            outside(self)
        return _native.send(self, data, flags)
    return sending(self, end, lambda: _native.send(self, data, flags))


def sending(sock: Any, end: End, native: Callable[[], int]) -> int:
    link, other = end.link, 1 - end.side
    end.use()

    def attempt() -> Any:
        if not is_there(sock.fileno(), select.POLLOUT, 0):
            return NOT_YET
        sent = native()
        link.unread[other] += sent if sock.type in STREAMS else 1
        return sent

    sent: int = waiting(sock, link, ROOM, attempt, Sending(end))
    waits.over(link.queue(other))
    return sent


def sendall(self: Any, data: Any, flags: int = 0) -> None:
    if not is_controlled():
        return _native.sendall(self, data, flags)
    left = memoryview(data).cast("B")
    while left:
        left = left[send(self, left, flags) :]


def sendmsg(self: Any, buffers: Any, *more: Any) -> int:
    end = registry.end(self) if is_controlled() else None
    if end is not None:
        return sending(self, end, lambda: _native.sendmsg(self, buffers, *more))
    if is_controlled():
        outside(self, more[-1] if len(more) == 3 else None)
    return _native.sendmsg(self, buffers, *more)


def sendto(self: Any, data: Any, *more: Any) -> int:
    if not is_controlled() or registry.end(self) is not None:
        return _native.sendto(self, data, *more)
    sent = _datagram(self, more[-1], lambda: _native.sendto(self, data, *more))
    if registry.address(self) is None:
        registry.bound(self, is_fixed=not isinstance(self.getsockname(), tuple))
        waits.over(BOUND)
    return sent


def _datagram(sock: Any, to: Any, native: Callable[[], int]) -> int:
    known = _address(sock, to)
    if known is None:
        outside(sock, to)
        return native()
    _drawloom.touch(known.name, True)
    sent = native()
    known.unread += 1
    waits.over(known.queue(ARRIVED))
    return sent


def shutdown(self: Any, how: int) -> None:
    end = registry.end(self) if is_controlled() else None
    if end is not None:
        _drawloom.touch(end.link.name, True)
    _native.shutdown(self, how)
    if end is not None and how != socket.SHUT_RD:
        end.close()


def real_close(self: Any, *more: Any) -> None:
    """`socket.socket._real_close`."""
    end = registry.end(self) if is_controlled() and self.fileno() >= 0 else None
    address = registry.address(self) if is_controlled() and end is None and self.fileno() >= 0 else None
    place = end.link if end is not None else address
    if place is not None:
        _drawloom.touch(place.name, True)
        registry.now().ends.pop(self.fileno(), None)
    _real_close(self, *more)
    if end is not None:
        end.close()
    elif address is not None:
        _forget(address)


def _forget(address: Address) -> None:
    addresses = registry.now().addresses
    for key in [key for key, known in addresses.items() if known is address]:
        del addresses[key]
    for link in address.pending:
        End(link, 1).close()


def patches() -> list[Patch]:
    """What takes the place of what."""
    kind = socket.socket
    replaced: list[Patch] = [
        (kind, function.__name__, function) for function in (bind, listen, connect, connect_ex, send, sendall, sendmsg, sendto, shutdown)
    ]
    replaced += [(kind, "_accept", accept), (kind, "_real_close", real_close), (socket, "socketpair", pair)]
    # A file is sent by reading it.
    replaced += [(kind, "makefile", makefile), (kind, "sendfile", kind._sendfile_use_send)]  # type: ignore[attr-defined]
    replaced += [(kind, name, function) for name, function in RECEIVING.items()]
    return replaced + _select.patches()


def patches_of_others() -> list[Patch]:
    """Those of modules that need not be there."""
    server, trio = sys.modules.get("socketserver"), sys.modules.get("trio._socket")
    replaced: list[Patch] = [] if server is None else [(server, "_ServerSelector", Selector)]
    if trio is not None:
        # It has the methods of sockets as they were when it was imported.
        for name, function in RECEIVING.items():
            method = trio._make_simple_sock_method_wrapper(function, trio._core.wait_readable)
            replaced.append((trio._SocketType, name, method))
        replaced.append((trio._SocketType, "send", trio._make_simple_sock_method_wrapper(send, trio._core.wait_writable)))
    if "ssl" in sys.modules:
        replaced += importlib.import_module("._tls", __package__).patches()
    return replaced
