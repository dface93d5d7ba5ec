"""Names of other modules and classes that stand for something else for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

Patch = tuple[Any, str, Any]
"""Whose name it is, the name, and what it stands for meanwhile."""
_ABSENT: Any = object()


@contextlib.contextmanager
def in_place(patches: Iterable[Patch]) -> Iterator[None]:
    """All of them, while it lasts; in the end every name is what it was."""
    before = []
    try:
        for owner, name, value in patches:
            names: Any = vars(owner)
            before.append((owner, name, names.get(name, _ABSENT)))
            if type(owner) is ModuleType:
                names[name] = value
            else:
                setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(before):
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
