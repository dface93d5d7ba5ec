"""Disturbs a process: what is in its memory, what is open, what was done before. Nothing of that is to reach a result."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections.abc import Callable
from typing import Any


class Disturbance:
    """Holds memory of many sizes, files and whatever else there may be in a process, as `seed` has it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.held: list[Any] = []
        self.files: list[Any] = []

    def shake(self) -> None:
        """The next objects lie elsewhere than they would have."""
        draw = self.random.random
        for _ in range(int(draw() * 20)):
            self.held.append(_KINDS[int(draw() * len(_KINDS))](int(draw() * draw() * 500)))
        for _ in range(int(draw() * len(self.held))):
            del self.held[int(draw() * len(self.held))]
        del self.held[:-400]

    def between(self) -> None:
        """The same of what lasts longer than an execution."""
        for _ in range(5):
            self.shake()
        while self.files and self.random.random() < 0.5:
            self.files.pop().close()
        while self.random.random() < 0.6:
            self.files.append(open(os.devnull))  # noqa: SIM115
        for _ in range(int(self.random.random() * 4)):
            threading.Thread(target=int)
        gc.set_threshold(*[(700, 10, 10), (1, 1, 1), (50, 2, 100)][int(self.random.random() * 3)])
        if self.random.random() < 0.5:
            gc.collect()

    def before(self, native: Any, is_async: bool) -> Callable[..., Any]:
        """A function that shakes, and then does what `native` does."""

        def called(*arguments: Any) -> Any:
            self.shake()
            return native(*arguments)

        async def awaited(*arguments: Any) -> Any:
            self.shake()
            return await native(*arguments)

        return awaited if is_async else called


def _looped(_size: int) -> None:
    """Garbage that refers to itself."""
    one: list[Any] = []
    one.append(one)


def _left(size: int) -> Any:
    """A frame of some size that was left by an exception, and what it had."""
    names = ", ".join(f"a{n}" for n in range(size % 30))
    try:
        eval(f"lambda {names}: 1 // 0")(*range(size % 30))
    except ZeroDivisionError as error:
        return error if size % 2 else None


_KINDS: list[Callable[[int], Any]] = [
    bytearray, lambda size: [None] * size, lambda size: dict.fromkeys(range(size % 40)), lambda _: object(),
    lambda size: {str(n) for n in range(size % 20)}, lambda size: type("Kind", (), {"a": size}),
    lambda size: (size, [size]), lambda size: eval(f"lambda a, b=[{size}]: (yield a)"), _looped, _left,
]
