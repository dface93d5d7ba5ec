"""What files are called: one resource for each, as far as that is right.

An operation is one step on one resource. Where it is about several names at once, files are told apart less finely from
then on, and the exploration begins anew: by their directories, if names within one directory are renamed or listed; not
at all, if directories come and go. Reading goes with reading all the same.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import Any

from .. import _drawloom

lstat, getcwd, readlink, getpid = os.lstat, os.getcwd, os.readlink, os.getpid
# Facts: how finely files are told apart.
DIRECTORIES, TREE = "directories", "tree"


def _kind(path: Any) -> int:
    try:
        return stat.S_IFMT(lstat(path).st_mode)
    except (OSError, ValueError):
        return 0


def is_directory(path: Any) -> bool:
    return _kind(path) == stat.S_IFDIR


def is_link(path: Any) -> bool:
    return _kind(path) == stat.S_IFLNK


def of_fd(fd: int) -> str:
    """The path of an open file, or what stands for it."""
    try:
        return str(readlink(f"/proc/self/fd/{fd}"))
    except OSError:
        return f"descriptor {fd}"


def decoded(path: Any) -> str:
    path = os.fspath(path)
    return path if isinstance(path, str) else path.decode(sys.getfilesystemencoding(), "surrogateescape")


def absolute(path: Any, dir_fd: int | None = None) -> str:
    """The path, in a directory that has no links in it; what need not be there has a name as well."""
    if isinstance(path, int):
        return of_fd(path)
    text = decoded(path)
    if not os.path.isabs(text):
        text = os.path.join(getcwd() if dir_fd is None else of_fd(dir_fd), text)
    directory, name = os.path.split(text.rstrip(os.sep) or os.sep)
    if name in ("", ".", ".."):
        return _resolve(text)
    return os.path.join(_resolve(directory), name)


def _resolve(path: str, depth: int = 40) -> str:
    at = os.sep
    for part in path.split(os.sep):
        if part in ("", "."):
            continue
        if part == "..":
            at = os.path.dirname(at)
            continue
        at = os.path.join(at, part)
        if depth and is_link(at):
            at = _resolve(os.path.join(os.path.dirname(at), readlink(at)), depth - 1)
    return at


def followed(path: Any, dir_fd: int | None = None) -> str:
    """Where a path leads to, if it is a link."""
    there = absolute(path, dir_fd)
    return _resolve(there) if is_link(there) else there


class Numbers:
    """Numbers for what tasks make: in each execution anew, and the same ones whoever comes first."""

    def __init__(self) -> None:
        self._epoch = 0
        self._given: dict[int, int] = {}

    def next(self) -> str:
        if self._epoch != _drawloom.epoch():
            self._epoch = _drawloom.epoch()
            self._given.clear()
        task = _drawloom.task() if _drawloom.is_controlled() else 0
        number = self._given[task] = self._given.get(task, 0) + 1
        return f"{task}_{number}"


def of_temporaries() -> str:
    """What names of temporary files begin with: never one that was there before."""
    return f"{getpid()}_{_drawloom.epoch():08}_"


def plain(text: str) -> str:
    """Without what is other in each execution."""
    return text.replace(of_temporaries(), "…")


def touch(path: str, write: bool) -> None:
    """A step on the file at an absolute path."""
    _drawloom.touch(resource(path), write)


def resource(path: str) -> str:
    """What stands for a file, as finely as they are told apart."""
    if _drawloom.is_known(TREE):
        return "files"
    if _drawloom.is_known(DIRECTORIES):
        return f"files in {plain(os.path.dirname(path))}"
    return f"file {plain(path)}"


def touch_listing(directory: str) -> None:
    """A step on which names there are in a directory."""
    _learn(DIRECTORIES)
    touch(os.path.join(directory, "*"), False)


def touch_both(path: str, other: str) -> None:
    """A step on two files at once."""
    if path != other:
        _learn(DIRECTORIES if os.path.dirname(path) == os.path.dirname(other) else TREE)
    touch(path, True)


def touch_tree(write: bool = True) -> None:
    """A step on files that cannot be named."""
    _learn(TREE)
    touch("", write)


def _learn(fact: str) -> None:
    if _drawloom.is_parallel():
        _drawloom.learn(fact)
