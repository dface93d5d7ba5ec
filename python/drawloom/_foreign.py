"""Functions of C libraries, as `ctypes` calls them: what they do to files and sockets the preloaded library tells."""

from __future__ import annotations

import sys
from typing import Any

from . import _drawloom

# The functions that the library stands before, and that touch nothing else but their arguments.
_NAMES = (
    "open open64 openat openat64 creat creat64 close dup dup2 dup3 lseek lseek64 read readv pread pread64 preadv write writev"
    " pwrite pwrite64 pwritev ftruncate ftruncate64 fsync fdatasync rename renameat renameat2 link symlink unlink unlinkat"
    " remove mkdir mkdirat rmdir truncate truncate64 stat lstat fstat fstatat access faccessat flock lockf fcntl socket"
    " socketpair pipe pipe2 bind listen connect accept accept4 shutdown send sendto sendmsg recv recvfrom recvmsg poll"
    " ppoll select pselect epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait usleep nanosleep sleep"
)
_seen: set[int] = set()
_installed: list[Any] = []


def _address(ctypes: Any, function: Any) -> int | None:
    address: int | None = ctypes.cast(function, ctypes.c_void_p).value
    return address


def _look(ctypes: Any) -> set[int]:
    process = ctypes.CDLL(None)
    return {_address(ctypes, getattr(process, name)) or 0 for name in _NAMES.split() if hasattr(process, name)}


def install() -> None:
    """Types whose objects have memory of C, if there are any."""
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and not _installed:
        _installed.append(ctypes)
        _drawloom.install_c(ctypes._SimpleCData.__mro__[1], ctypes._CFuncPtr)


def is_seen(function: Any) -> bool:
    """Whether all that a C function does, beside its arguments, is told by the preloaded library."""
    ctypes = sys.modules.get("ctypes")
    if ctypes is None or not isinstance(function, ctypes._CFuncPtr) or not _drawloom.preloaded():
        return False
    if not _seen:
        _seen.update(_look(ctypes))
    return _address(ctypes, function) in _seen


def is_pure(function: Any) -> bool:
    """Whether this is a function of `ctypes` itself that changes nothing."""
    ctypes = sys.modules.get("ctypes")
    return ctypes is not None and any(function is getattr(ctypes, name) for name in ("byref", "sizeof", "alignment"))


def is_data_type(kind: Any) -> bool:
    """Whether this is a type of C, whose objects are made of their arguments."""
    ctypes = sys.modules.get("ctypes")
    return ctypes is not None and isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData.__mro__[1])
