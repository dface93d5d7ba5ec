"""What takes the place of functions that reach outside, while an exploration runs."""

from __future__ import annotations

import builtins
import contextlib
import fcntl
import importlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .. import _sync, _whole_process
from .._patching import Patch, in_place
from . import _files, _locks, _names, _os, _sockets

# Whose functions go on as they were: they are none of the program's.
_LEFT_ALONE = ("drawloom", "importlib", "_frozen", "_pytest", "pytest", "pluggy", "posix", "_io", "os", "io", "builtins",
               "fcntl", "threading", "socket", "select", "selectors", "asyncio", "zipimport", "linecache", "tokenize",
               "psycopg", "psycopg_binary", "redis")


class _TemporaryNames:
    """Names of temporary files: never one that was there before, and the same ones whoever comes first."""

    def __init__(self) -> None:
        self.numbers = _names.Numbers()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return _names.of_temporaries() + self.numbers.next()


def _patches_of_files() -> list[Patch]:
    replaced = _os.replacements()
    patches: list[Patch] = [(os, name, function) for name, function in replaced]
    patches += [(builtins, "open", _files.open_file), (io, "open", _files.open_file)]
    patches += [(fcntl, "flock", _locks.flock), (fcntl, "lockf", _locks.lockf)]
    patches += [(tempfile, "_name_sequence", _TemporaryNames())]
    # Files are copied by reading and writing them.
    of_shutil, of_pathlib = ("_USE_CP_SENDFILE", "_USE_CP_COPY_FILE_RANGE"), sys.modules.get("pathlib._os")
    patches += [(shutil, name, False) for name in of_shutil if hasattr(shutil, name)]
    patches += [(of_pathlib, name, None) for name in ("_ficlone", "_fcopyfile", "_copy_file_range", "_sendfile")
                if hasattr(of_pathlib, name)]
    accessor = getattr(pathlib, "_NormalAccessor", None)
    if accessor is not None:
        for name, function in (*replaced, ("open", _files.open_file)):
            if name in vars(accessor) and name != "touch":
                patches.append((accessor, name, staticmethod(function)))
    for function in dict(replaced).values():
        for which in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if getattr(function, "__wrapped__", None) in which:
                which.add(function)
    return patches


_PATCHES = [*_patches_of_files(), *_sockets.patches()]
# By what it is in place of.
_BY_NATIVE = {
    id(getattr(owner, name)): value for owner, name, value in (*_PATCHES, *_sync.OF_THREADS)
    if callable(value) and not isinstance(value, staticmethod)
}
# Modules that were looked through, by name: how many names they had, and which of them are others' functions.
_looked_through: dict[str, tuple[int, int, list[str]]] = {}


def _aliases() -> Iterator[Patch]:
    """What modules have imported by name: `from os import rename`."""
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or name.partition(".")[0] in _LEFT_ALONE:
            continue
        names = vars(module)
        known = _looked_through.get(name)
        if known is None or known[:2] != (id(module), len(names)):
            found = [alias for alias, value in names.items() if id(value) in _BY_NATIVE]
            known = _looked_through[name] = (id(module), len(names), found)
        for alias in known[2]:
            value = names.get(alias)
            if id(value) in _BY_NATIVE:
                yield module, alias, _BY_NATIVE[id(value)]


def _databases() -> list[Patch]:
    """Drivers of databases, as far as they have been imported."""
    return [patch for driver in _drivers() for patch in driver.patches()]


def _drivers() -> list[Any]:
    known = (("sqlite3", "_sqlite"), ("psycopg", "_postgres"), ("redis", "_redis"))
    return [importlib.import_module(f".sql.{driver}", __package__) for module, driver in known if module in sys.modules]


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """All of them in place."""
    with in_place([*_PATCHES, *_sockets.patches_of_others(), *_databases(), *_whole_process.patches(), *_aliases()]):
        try:
            yield
        finally:
            for driver in _drivers():
                driver.finish()
