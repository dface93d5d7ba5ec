"""Where coroutines wait, and what callbacks touch."""

from __future__ import annotations

import asyncio
import functools
import types
from collections.abc import Iterator
from typing import Any

from .. import _drawloom, _types
from .._code import is_foreign
from .._drawloom import EFFECTS
from .._waiting import Place


def touched_by(callback: Any) -> None:
    """Notes what a callback touches that is not written in Python: its instructions are not seen."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    if isinstance(callback, types.MethodType):
        callback = callback.__func__
    if isinstance(callback, types.FunctionType) or _types.classify(callback) == EFFECTS["PURE"]:
        return
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, (list, dict, *_types.CONTAINERS)):
        _drawloom.guest_touch(owner, True)
    else:
        _drawloom.guest_unknown(f"a callback of `{getattr(callback, '__qualname__', type(callback).__qualname__)}`")


# In place of `set` for asyncio, and seen as its own code. Coroutines, which it makes tasks of, would lie in any order.
_ALL_OF = """
def all_of(things=()):
    once = dict.fromkeys(things)
    return set(once) if all(map(isfuture, once)) else list(once)
"""
_names: dict[str, Any] = {"isfuture": asyncio.isfuture}
exec(compile(_ALL_OF, "<asyncio>", "exec"), _names)
all_of = _names["all_of"]


def _awaiting(awaits: Any) -> Iterator[tuple[types.FrameType | None, types.CodeType]]:
    """Frames and codes of a coroutine and of all that it awaits, the outermost first."""
    while awaits is not None:
        for prefix in ("cr", "gi", "ag"):
            if hasattr(awaits, f"{prefix}_code"):
                break
        else:
            return
        yield getattr(awaits, f"{prefix}_frame"), getattr(awaits, f"{prefix}_code")
        awaits = getattr(awaits, {"cr": "cr_await", "gi": "gi_yieldfrom", "ag": "ag_await"}[prefix])


def frames_of(coroutine: Any) -> list[types.FrameType]:
    """Where a coroutine is, and what it awaits, the outermost first."""
    return [frame for frame, _ in _awaiting(coroutine) if frame is not None]


def place_of(coroutine: Any, library: tuple[str, ...]) -> Place:
    """The line of the code under test at which a coroutine waits: the innermost that is not the library's own."""
    place: Place = ("<unknown>", 0)
    for frame, code in _awaiting(coroutine):
        if place[1] == 0 or not (code.co_filename.startswith(library) or is_foreign(code.co_filename)):
            place = (code.co_filename, (frame.f_lineno if frame else None) or code.co_firstlineno)
    return place
