"""TLS over sockets: what is encrypted is kept in memory, and goes over the socket by steps on the connection, as anything does.

The library itself would read and write by its own system calls, and wait for real.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _drawloom
from .._patching import Patch
from ._links import is_controlled, registry
from ._receiving import RECEIVING
from ._sockets import sending

T = TypeVar("T")
_native_send = socket.socket.send
_native_detach = socket.socket.detach
_wrap_socket = ssl.SSLContext._wrap_socket  # type: ignore[attr-defined]
_AT_ONCE = 1 << 16


class Piped:
    """In place of the connection that the library has of its own: one over two buffers, and a socket beyond them."""

    _OWN = ("_socket", "_native", "_incoming", "_outgoing", "_unsent", "_is_reading")

    def __init__(self, sock: Any, native: Any, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> None:
        self._socket, self._native, self._incoming, self._outgoing = sock, native, incoming, outgoing
        self._unsent = bytearray()
        self._is_reading = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self._native, name, value)

    def read(self, *arguments: Any) -> Any:
        return self._until(lambda: self._native.read(*arguments))

    def write(self, data: Any) -> Any:
        return self._until(lambda: self._native.write(data))

    def do_handshake(self) -> None:
        self._until(self._native.do_handshake)

    def shutdown(self) -> Any:
        self._until(self._native.shutdown)
        return self._socket

    def _until(self, act: Callable[[], T]) -> T:
        """What the library comes to, as soon as it has all that it wants."""
        while True:
            try:
                came_to = act()
            except ssl.SSLWantReadError:
                self._flush()
                self._fill()
            except ssl.SSLError:
                with contextlib.suppress(OSError):
                    self._flush()  # why it gives up
                raise
            else:
                self._flush()
                return came_to

    def _flush(self) -> None:
        """Sends what the library has written, in the order in which it has."""
        self._unsent += self._outgoing.read()
        while self._unsent:
            end = registry.end(self._socket)
            if end is None:
                return
            try:
                sending(self._socket, end, self._send)
            except BlockingIOError:
                raise ssl.SSLWantWriteError(ssl.SSL_ERROR_WANT_WRITE, "The operation did not complete (write)") from None

    def _send(self) -> int:
        sent = _native_send(self._socket, self._unsent)
        del self._unsent[:sent]
        return sent

    def _fill(self) -> None:
        """Has the library read what has arrived."""
        if self._is_reading:
            _drawloom.give_up("a TLS connection that several threads read at once")
        self._is_reading = True
        try:
            data = RECEIVING["recv"](self._socket, _AT_ONCE)
        except BlockingIOError:
            raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "The operation did not complete (read)") from None
        finally:
            self._is_reading = False
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()


def wrap_socket(self: Any, sock: Any, server_side: bool, server_hostname: Any = None, *, owner: Any = None,
                session: Any = None) -> Any:
    """`ssl.SSLContext._wrap_socket`: what makes the connection."""
    if not is_controlled() or registry.end(sock) is None:
        return _wrap_socket(self, sock, server_side, server_hostname, owner=owner, session=session)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    native = self._wrap_bio(
        incoming, outgoing, server_side=server_side, server_hostname=server_hostname, owner=owner, session=session
    )
    return Piped(sock, native, incoming, outgoing)


def detach(self: Any) -> int:
    """`socket.socket.detach`: what has the descriptor from now on is the end of the connection."""
    end = registry.end(self) if is_controlled() and self.fileno() >= 0 else None
    fd = _native_detach(self)
    if end is not None:
        end.socket = None
    return fd


def patches() -> list[Patch]:
    """What takes the place of what."""
    return [(ssl.SSLContext, "_wrap_socket", wrap_socket), (socket.socket, "detach", detach)]
