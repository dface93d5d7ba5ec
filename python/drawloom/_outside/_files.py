"""Open files, whose system calls are steps.

What a buffer holds nobody else can see: only the calls that reach the file are steps on it. A file object that several
threads use is something that they share itself; then each of its operations is one step, a change of the file.
"""

from __future__ import annotations

import io
import os
from typing import Any

from .. import _drawloom
from . import _locks, _names

native_open, fstat = io.open, os.fstat
# The fact that threads use each other's file objects.
SHARED = "handles"
_NOBODY = -1


class _Context:
    """Entered and left by code that is seen."""

    def __enter__(self) -> Any:
        if self.closed:  # type: ignore[attr-defined]
            raise ValueError("I/O operation on closed file.")
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()  # type: ignore[attr-defined]

    def __del__(self) -> None:
        """What nobody has closed is written all the same, unless the execution is over."""
        try:
            self.close()  # type: ignore[attr-defined]
        except BaseException as exception:
            if type(exception).__name__ != "TornDown":
                raise


class Raw(_Context, io.FileIO):
    """A file without a buffer."""

    def __init__(self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> None:
        self.quiet = False
        self.task = _drawloom.task() if _drawloom.is_parallel() else _NOBODY
        if opener is None and not isinstance(file, int):
            _names.touch(_names.followed(file), mode[0] != "r")
        super().__init__(file, mode, closefd, opener)
        self.path = _names.of_fd(self.fileno()) if isinstance(file, int) or opener else _names.followed(file)
        if fstat(self.fileno()).st_nlink > 1 and _drawloom.is_parallel():
            _names.touch_tree(False)  # it has other names, too

    def is_shared(self) -> bool:
        """Whether others use this very object."""
        if not _drawloom.is_parallel():
            return False
        if _drawloom.task() != self.task:
            if self.task != _NOBODY:
                _drawloom.learn(SHARED)
            return True
        return _drawloom.is_known(SHARED)

    def at(self, write: bool) -> None:
        """What is about to be done reaches the file."""
        if not self.quiet and not self.closed:
            _names.touch(self.path, write or self.is_shared())

    def readinto(self, buffer: Any) -> int | None:
        self.at(False)
        return super().readinto(buffer)

    def read(self, size: int | None = -1) -> Any:
        self.at(False)
        return super().read(-1 if size is None else size)

    def readall(self) -> bytes:
        self.at(False)
        return super().readall()

    def write(self, data: Any) -> Any:
        self.at(True)
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        self.at(True)
        return super().truncate(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 2 or self.is_shared():
            self.at(False)
        return super().seek(offset, whence)

    def fileno(self) -> int:
        return super().fileno()

    def tell(self) -> int:
        return super().tell()

    def close(self) -> None:
        if not self.closed and self.fileno() >= 0 and _locks.is_held(self.fileno()):
            return _locks.close(self.fileno(), super().close)
        super().close()


class Layer(_Context):
    """A buffer or a decoder above a file."""

    drawloom_raw: Any


def _operation(base: type, name: str) -> Any:
    native = getattr(base, name)

    def operation(self: Any, *arguments: Any, **options: Any) -> Any:
        raw = self.__dict__.get("drawloom_raw")
        if raw is None or raw.quiet or self.closed or not raw.is_shared():
            return native(self, *arguments, **options)
        _names.touch(raw.path, True)
        raw.quiet = True
        try:
            return native(self, *arguments, **options)
        finally:
            raw.quiet = False

    operation.__name__ = operation.__qualname__ = name
    return operation


def _query(base: type, name: str) -> Any:
    native = getattr(base, name)

    def query(self: Any, *arguments: Any, **options: Any) -> Any:
        return native(self, *arguments, **options)

    query.__name__ = query.__qualname__ = name
    return query


_OPERATIONS = ("read", "read1", "readinto", "readinto1", "readline", "readlines", "peek", "write", "writelines", "seek",
               "tell", "truncate", "flush", "close", "__next__")
_QUERIES = ("fileno", "isatty", "readable", "seekable", "writable", "__iter__", "reconfigure", "detach")


def _layer(base: type) -> Any:
    methods = {name: _operation(base, name) for name in _OPERATIONS if hasattr(base, name)}
    methods.update((name, _query(base, name)) for name in _QUERIES if hasattr(base, name))
    return type(base.__name__, (Layer, base), {**methods, "__module__": "io"})


Reader, Writer, Random, Text = map(_layer, (io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper))
Pair = _layer(io.BufferedRWPair)


def open_file(file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
              newline: str | None = None, closefd: bool = True, opener: Any = None) -> Any:
    """`open`, of files whose system calls are steps."""
    plain = isinstance(mode, str) and _is_mode(mode)
    binary = plain and "b" in mode
    text_options = not binary and plain or (encoding is None and errors is None and newline is None)
    if not _drawloom.is_controlled() or not plain or not text_options or (buffering == 0 and not binary):
        return native_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    if not isinstance(file, int):
        file = os.fspath(file)
    raw = Raw(file, "".join(letter for letter in "xrwa+" if letter in mode), closefd, opener)
    result: Any = raw
    try:
        by_line = not binary and (buffering == 1 or (buffering < 0 and raw.isatty()))
        if buffering == 0:
            return result
        size = buffering if buffering > 1 else max(fstat(raw.fileno()).st_blksize, io.DEFAULT_BUFFER_SIZE)
        result = (Random if "+" in mode else Reader if "r" in mode else Writer)(raw, size)
        result.drawloom_raw = raw
        if binary:
            return result
        result = Text(result, io.text_encoding(encoding), errors, newline, by_line)
        result.drawloom_raw, result.mode = raw, mode
        return result
    except BaseException:
        result.close()
        raise


def _is_mode(mode: str) -> bool:
    letters = set(mode)
    return (letters <= set("axrwb+t") and len(letters) == len(mode) and sum(map(mode.count, "axrw")) == 1
            and not {"t", "b"} <= letters)
