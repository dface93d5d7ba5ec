"""Waiting for what another thread does outside: in the engine, never for real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import _drawloom

T = TypeVar("T")
_NOT_YET: Any = object()


class Waits:
    """Who waits at a resource, by its name."""

    def __init__(self) -> None:
        self._epoch = 0
        self._waiting: dict[str, list[int]] = {}
        # What those are to be told who cannot wait themselves, such as event loops.
        self._told: dict[str, list[Callable[[], None]]] = {}
        # By task that waits: what it waits for, if that is more than a name.
        self._about: dict[int, Any] = {}

    def _begin(self) -> None:
        if self._epoch != _drawloom.epoch():
            self._epoch = _drawloom.epoch()
            self._waiting.clear()
            self._told.clear()
            self._about.clear()

    def _at(self, name: str) -> list[int]:
        self._begin()
        return self._waiting.setdefault(name, [])

    def tell(self, queue: str, act: Callable[[], None]) -> None:
        """Has `act` be called once, as soon as who waits there is to try again."""
        self._begin()
        self._told.setdefault(queue, []).append(act)

    def until(self, name: str, attempt: Callable[[], T], timeout: float | None = None, queue: str | None = None,
              write: bool = True, about: Any = None, in_transaction: bool = False) -> T:
        """What `attempt` returns as soon as it is not `NOT_YET`; that, if the time is up before.

        Each attempt is a step on `name`: whoever changes what it depends on makes one as well, and calls `over` with
        the queue that was given, or else with `name`.
        """
        if not _drawloom.is_controlled():
            return attempt()
        queue = name if queue is None else queue
        end = None if timeout is None else _drawloom.guest_now() + int(timeout * 1e9)
        while True:
            _drawloom.touch(name, write, in_transaction)
            result = attempt()
            if result is not _NOT_YET or not _drawloom.is_parallel():
                return result
            left = None if end is None else max(0, end - _drawloom.guest_now()) / 1e9
            if left == 0:
                return result
            me = _drawloom.task()
            self._at(queue).append(me)
            self._about[me] = about
            try:
                woken = _drawloom.await_wake(left)
            finally:
                self._about.pop(me, None)
            if not woken and me in self._at(queue):
                self._at(queue).remove(me)

    def about(self) -> list[tuple[int, Any]]:
        """The tasks that wait now, and what each waits for, if that is more than a name."""
        self._begin()
        return [(task, about) for task, about in self._about.items() if about is not None]

    def over(self, queue: str) -> None:
        """Who waits there is to try again."""
        waiting = self._at(queue)
        woken, waiting[:] = list(waiting), []
        for task in woken:
            _drawloom.wake(task)
        for act in self._told.pop(queue, ()):
            act()


NOT_YET = _NOT_YET
waits = Waits()
