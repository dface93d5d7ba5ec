"""Functions of `os` that reach files, each a step on what it is about."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from .. import _drawloom
from . import _locks, _names, _pipes

# By path: what they do to it. Those that are not there on this system are left out.
_READS = "stat lstat access getxattr listxattr readlink statvfs"
_WRITES = "chmod lchmod chown lchown utime truncate mkfifo mknod setxattr removexattr"
_REMOVES = "remove unlink"
_OF_DIRECTORIES = "mkdir rmdir link symlink chdir fchdir chroot"
_LISTS = "listdir scandir"
_RENAMES = "rename replace"
# By descriptor.
_FD_READS = "read readv pread preadv lseek fstat fstatvfs"
_FD_WRITES = "write writev pwrite pwritev ftruncate posix_fallocate fchmod fchown"
_FD_SYNCS = "fsync fdatasync"


def _path_of(path: Any, options: dict[str, Any]) -> str:
    dir_fd = options.get("dir_fd")
    follows = options.get("follow_symlinks", True)
    return (_names.followed if follows else _names.absolute)(path, dir_fd)


def _plain(native: Callable[..., Any], write: bool, follows: bool) -> Callable[..., Any]:
    @functools.wraps(native)
    def function(path: Any, *arguments: Any, **options: Any) -> Any:
        if _drawloom.is_parallel():
            known = options if follows else {**options, "follow_symlinks": False}
            _names.touch(_path_of(path, known), write)
        return native(path, *arguments, **options)

    return function


def _removing(native: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(native)
    def function(path: Any, *arguments: Any, **options: Any) -> Any:
        if _drawloom.is_parallel():
            there = _names.absolute(path, options.get("dir_fd"))
            if _names.is_link(there):
                _names.touch_tree()
            else:
                _names.touch(there, True)
        return native(path, *arguments, **options)

    return function


def _of_directories(native: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(native)
    def function(*arguments: Any, **options: Any) -> Any:
        if _drawloom.is_parallel():
            _names.touch_tree()
        return native(*arguments, **options)

    return function


def _renaming(native: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(native)
    def function(src: Any, dst: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None) -> None:
        if _drawloom.is_parallel():
            one, other = _names.absolute(src, src_dir_fd), _names.absolute(dst, dst_dir_fd)
            if _names.is_directory(one) or _names.is_link(one) or _names.is_link(other):
                _names.touch_tree()
            else:
                _names.touch_both(one, other)
        native(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    return function


class _Entries:
    """What `os.scandir` returns: all entries, read at once and in order."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


def _listing(native: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(native)
    def function(path: Any = ".") -> Any:
        if not _drawloom.is_controlled():
            return native(path)
        if _drawloom.is_parallel():
            _names.touch_listing(_names.followed("." if path is None else path))
        listed = native(path)
        if native is os_listdir:
            return sorted(listed)
        with listed:
            return _Entries(list(listed))

    return function


os_listdir, os_open, os_close, os_fdopen = os.listdir, os.open, os.close, os.fdopen
# Descriptors that threads have opened, and who.
_openers: dict[int, int] = {}


@functools.wraps(os_open)
def open_descriptor(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
    if not _drawloom.is_parallel():
        return os_open(path, flags, *arguments, **options)
    writes = flags & (os.O_CREAT | os.O_TRUNC)
    _names.touch(_names.followed(path, options.get("dir_fd")), bool(writes))
    fd = os_open(path, flags, *arguments, **options)
    _openers[fd] = _drawloom.task()
    return fd


@functools.wraps(os_close)
def close_descriptor(fd: int) -> None:
    if _locks.is_held(fd):
        _locks.close(fd, lambda: os_close(fd))
    elif not _pipes.close(fd):
        os_close(fd)
    _openers.pop(fd, None)


def _by_descriptor(native: Callable[..., Any], write: bool) -> Callable[..., Any]:
    @functools.wraps(native)
    def function(fd: Any, *arguments: Any, **options: Any) -> Any:
        if not _drawloom.is_parallel():
            return native(fd, *arguments, **options)
        if _pipes.is_pipe(fd):
            return _pipes.operation(native, fd, *arguments, **options)
        # Where it reads is what users of one descriptor share.
        shared = _openers.get(fd) != _drawloom.task()
        _names.touch(_names.of_fd(fd), write or shared)
        return native(fd, *arguments, **options)

    return function


def _of_process(native: Callable[..., Any]) -> Callable[..., Any]:
    """What the whole process has one of, and who changes it is told what it was."""

    @functools.wraps(native)
    def function(*arguments: Any) -> Any:
        if _drawloom.is_parallel():
            _drawloom.touch(f"os.{native.__name__}", True)
        return native(*arguments)

    return function


def replacements() -> list[tuple[str, Any]]:
    """Names within `os`, and what takes their place."""
    made: list[tuple[str, Callable[[Any], Any]]] = []

    def each(names: str, make: Callable[[Any], Any]) -> None:
        made.extend((name, make) for name in names.split() if hasattr(os, name))

    each(_READS, lambda native: _plain(native, False, native.__name__ not in ("lstat", "readlink")))
    each(_WRITES, lambda native: _plain(native, True, not native.__name__.startswith("l")))
    each(_REMOVES, _removing)
    each(_OF_DIRECTORIES, _of_directories)
    each(_LISTS, _listing)
    each(_RENAMES, _renaming)
    each(_FD_READS, lambda native: _by_descriptor(native, False))
    each(_FD_WRITES, lambda native: _by_descriptor(native, True))
    each(_FD_SYNCS, lambda native: _by_descriptor(native, False))
    each("umask", _of_process)
    functions = [(name, make(getattr(os, name))) for name, make in made]
    pipes = [("pipe", _pipes.pipe)] if hasattr(os, "pipe") else []
    return [*functions, ("open", open_descriptor), ("close", close_descriptor), *pipes]
