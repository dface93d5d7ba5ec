"""Which interpreters the package is for. Nothing of it is imported before that is known."""

from __future__ import annotations

import sys
import sysconfig

OLDEST, NEWEST = (3, 10), (3, 14)


def refusal(version: tuple[int, ...], free_threaded: bool) -> str | None:
    """Why a CPython is none of them, if it is none."""
    known = "{}.{} to {}.{}".format(*OLDEST, *NEWEST)
    name = ".".join(map(str, version[:3]))
    if not OLDEST <= version[:2] <= NEWEST:
        return f"drawloom does not support CPython {name}: it supports {known}"
    if free_threaded:
        return f"drawloom needs the interpreter's lock, and this CPython {name} is free-threaded: use an ordinary one, {known}"
    return None


def refuse_others() -> None:
    """Raises ImportError if the interpreter that runs is none of them."""
    why = refusal(sys.version_info[:3], bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
    if why is not None:
        raise ImportError(why)
