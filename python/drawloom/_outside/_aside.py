"""Coroutines of drivers: what they touch is not looked at, and said by who calls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any

from .. import _drawloom
from .._async._host import Host


def is_explored(what: str) -> bool:
    """Whether the calling task is explored; beside threads, loops take what comes first, and servers answer as they please."""
    if not _drawloom.is_controlled():
        return False
    if not isinstance(asyncio.get_running_loop(), Host):
        _drawloom.give_up(f"{what} in an event loop beside threads")
    return True


def coming() -> tuple[Any, Callable[[], None]]:
    """What can be awaited, and what has it come."""
    future = asyncio.get_running_loop().create_future()

    def come() -> None:
        _drawloom.guest_touch(future, True)
        if not future.done():
            future.set_result(None)

    return future, come


class Aside:
    """Awaits a coroutine that is none of the code under test; if it waits without that being `expected`, all is possible."""

    def __init__(self, coroutine: Any, expected: bool = True) -> None:
        self._coroutine, self._expected = coroutine, expected

    def __await__(self) -> Generator[Any, Any, Any]:
        error: BaseException | None = None
        while True:
            paused = _drawloom.guest_pause(True)
            try:
                wanted = self._coroutine.send(None) if error is None else self._coroutine.throw(error)
            except StopIteration as end:
                return end.value
            finally:
                _drawloom.guest_pause(paused)
            self._note()
            try:
                error = None
                yield wanted
            except BaseException as thrown:
                error = thrown
            self._note()

    def _note(self) -> None:
        if not self._expected:
            _drawloom.guest_unknown(f"a wait in `{self._coroutine.__qualname__}`")
