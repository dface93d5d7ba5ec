"""Files of sockets: `makefile`, with buffers that are seen."""

from __future__ import annotations

import io
import socket
import types
from typing import Any

from .. import _drawloom
from . import _files

_native = socket.socket.makefile


class _User:
    """Who uses a file of a socket: one thread, since a buffer waits with a lock of its own."""

    quiet = False
    path = "file of a socket"

    def __init__(self) -> None:
        self.task: int | None = None

    def is_shared(self) -> bool:
        if _drawloom.is_parallel():
            me = _drawloom.task()
            self.task = me if self.task is None else self.task
            if self.task != me:
                _drawloom.give_up("a file of a socket that several threads use")
        return False


# The module that `makefile` finds its buffers in.
_io = types.SimpleNamespace(**vars(io))
_io.BufferedReader, _io.BufferedWriter, _io.BufferedRWPair = _files.Reader, _files.Writer, _files.Pair
_io.TextIOWrapper = _files.Text
_made = types.FunctionType(_native.__code__, {**vars(socket), "io": _io}, "makefile", _native.__defaults__)
_made.__kwdefaults__ = _native.__kwdefaults__


def makefile(self: Any, *arguments: Any, **options: Any) -> Any:
    """`socket.socket.makefile`."""
    if not _drawloom.is_controlled():
        return _native(self, *arguments, **options)
    file = _made(self, *arguments, **options)
    user = _User()
    for layer in (file, getattr(file, "buffer", None)):
        if isinstance(layer, _files.Layer):
            layer.drawloom_raw = user
    return file
