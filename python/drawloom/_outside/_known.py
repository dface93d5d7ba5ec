"""Functions and types of the interpreter that files, sockets and texts need, and that nobody else could notice."""

from __future__ import annotations

import _codecs
import _json
import _socket
import _stat
import datetime
import errno
import io
import os
import sys
from typing import Any

from .. import _drawloom

_OS = ("fspath getcwd getcwdb getpid getppid getuid geteuid getgid getegid strerror cpu_count urandom device_encoding"
       " get_inheritable set_inheritable sysconf isatty _path_normpath _path_splitroot _path_splitroot_ex stat_result major minor"
       " uname waitstatus_to_exitcode get_terminal_size sched_yield sched_getaffinity getrandom")
_SYS = "audit getfilesystemencoding getfilesystemencodeerrors intern exc_info getrecursionlimit getrefcount getsizeof _getframe"


def pure() -> list[Any]:
    """What touches nothing that can change."""
    found: list[Any] = [getattr(os, name) for name in _OS.split() if hasattr(os, name)]
    posix = sys.modules.get("posix")
    found += [getattr(posix, name) for name in _OS.split() if hasattr(posix, name)]
    found += [getattr(sys, name) for name in _SYS.split() if hasattr(sys, name)]
    found += [value for name, value in vars(_socket).items() if name.startswith(("hton", "ntoh", "gethostname"))]
    found += [value for value in vars(_stat).values() if callable(value)]
    found += [io.text_encoding, os.DirEntry, errno]
    found += [_json.scanstring, _json.make_scanner, _json.make_encoder]
    found += [value for value in vars(datetime).values() if isinstance(value, type)]
    return found


def reads() -> list[Any]:
    """What looks through its arguments, which may be buffers."""
    of_process = ("register", "unregister", "register_error", "_forget_codec", "_unregister_error")
    found = [value for name, value in vars(_codecs).items() if callable(value) and name not in of_process]
    found += [value for name, value in vars(_socket).items() if name.startswith("inet_")]
    return [*found, io.StringIO, io.BytesIO]


def deep_reads() -> list[Any]:
    """What looks through its arguments, and what these contain."""
    return [_json.encode_basestring, _json.encode_basestring_ascii]


def be_pure(types: list[type]) -> None:
    """Types of modules that need not be there, whose objects never change."""
    PURE_TYPES.extend(types)
    _drawloom.install_pure(types)


# Callable objects that look through their arguments.
ENCODERS = [_json.make_encoder]
# Objects that never change.
PURE_TYPES: list[type] = [_json.make_scanner, os.DirEntry, os.stat_result,
                          *(value for value in vars(datetime).values() if isinstance(value, type))]
MEMORY_FILES: list[type] = [io.StringIO, io.BytesIO]
MEMORY_READS = "getvalue tell seekable readable writable getbuffer"
# These write into a buffer that they are given.
MEMORY_WRITES_ARGUMENTS = "readinto readinto1"
# Of sockets: what is nobody else's business.
SOCKETS = _socket.socket
SOCKET_QUERIES = ("fileno getsockname getpeername setsockopt getsockopt settimeout setblocking gettimeout getblocking"
                  " timeout family type proto")
