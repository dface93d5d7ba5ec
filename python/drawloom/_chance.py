"""What is random is the same in every execution."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable
from typing import Any

from . import _drawloom
from ._patching import Patch

_native_urandom = os.urandom
_native_seed = random.Random.seed
# Nothing is: one run is made, and no other has to be like it.
left_alone = False
# What each task has drawn so far: whoever asks, nobody else's luck is changed by it.
_streams: dict[int, random.Random] = {}


# What a module remembers of the last identifier that it has made; from 3.14 on of more than one kind.
_OF_IDENTIFIERS = {name: value for name, value in (("_last_timestamp", None), ("_last_timestamp_v6", None),
                                                   ("_last_timestamp_v7", None), ("_last_counter_v7", 0))
                   if hasattr(uuid, name)}
_generator: random.Random = random._inst
_BEGINNING = _drawloom.GeneratorState(random.Random(0))
if not _BEGINNING.is_as_told(random.Random(0).getstate()[1]):
    raise ImportError("this CPython keeps the state of random.Random in an unknown place")


def begin_execution() -> None:
    """Everything that is random begins anew."""
    if left_alone:
        return
    _streams.clear()
    _generator.gauss_next = None  # type: ignore[attr-defined]
    _BEGINNING.set(_generator)
    for name, value in _OF_IDENTIFIERS.items():
        setattr(uuid, name, value)


def kept() -> Callable[[], None]:
    """What has the program's own generator go on from where it is now."""
    if left_alone:
        return lambda: None
    state, next_gauss = _drawloom.GeneratorState(_generator), _generator.gauss_next  # type: ignore[attr-defined]

    def resume() -> None:
        state.set(_generator)
        _generator.gauss_next = next_gauss  # type: ignore[attr-defined]

    return resume


def urandom(size: int, /) -> bytes:
    """Bytes that are as good as any, and the same each time."""
    if left_alone or not _drawloom.is_controlled():
        return _native_urandom(size)
    task = _drawloom.task()
    if task not in _streams:
        _streams[task] = random.Random(task)
    return _streams[task].randbytes(size)


def _seed(self: random.Random, a: Any = None, *version: Any, **named: Any) -> None:
    """`random.Random.seed`: who gives none gets one, but not from the system."""
    if a is None and not left_alone and _drawloom.is_controlled():
        a = int.from_bytes(urandom(32), "big")
    _native_seed(self, a, *version, **named)


PATCHES: list[Patch] = [
    (random.Random, "seed", _seed),
    (random, "seed", _seed.__get__(_generator)),
    (os, "urandom", urandom),
    (random, "_urandom", urandom),
    # Written in C, it looks at the clock of the system.
    (uuid, "_generate_time_safe", None),
    *((uuid, name, value) for name, value in _OF_IDENTIFIERS.items()),
]


def substitutes() -> list[tuple[Any, Any]]:
    """What is called instead of functions of the interpreter, however these were imported."""
    return [(_native_urandom, urandom)]
