"""What a loop that is a thread waits at: until time is up, another thread calls, or a socket is ready."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Mapping
from typing import Any

from .. import _sync
from .._outside._ready import Awaited
from . import _waits


class _Registered:
    """A descriptor, and what it is awaited for."""

    def __init__(self, waker: Waker, key: selectors.SelectorKey) -> None:
        self._waker, self.key = waker, key
        self._awaited = [(event, Awaited(key.fd, event == selectors.EVENT_WRITE), [False])
                         for event in (selectors.EVENT_READ, selectors.EVENT_WRITE) if key.events & event]

    def ready(self) -> int:
        """What it is ready for."""
        return sum(event for event, awaited, _ in self._awaited if awaited.is_ready())

    def be_told(self) -> None:
        """Has the loop look again, when that may have changed."""
        for _, awaited, is_told in self._awaited:
            if not is_told[0]:
                is_told[0] = True
                awaited.tell(lambda told=is_told: self._changed(told))  # type: ignore[misc]

    def _changed(self, is_told: list[bool]) -> None:
        is_told[0] = False
        self._waker.wake()


class Waker(selectors.BaseSelector):
    """A selector whom other threads can tell what they want, under one lock."""

    def __init__(self) -> None:
        self.loop: Any = None
        self._condition = _sync.Condition(_sync.make_lock())
        self._told: list[Callable[[], Any]] = []
        self._called = False
        self._registered: dict[int, _Registered] = {}

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        with self._condition:
            if not self._called and not self._told and (timeout is None or timeout > 0):
                for registered in self._registered.values():
                    registered.be_told()
                if not self._ready():
                    _waits.begin(self.loop)
                    try:
                        self._condition.wait(timeout)
                    finally:
                        _waits.end()
            self._called, told, self._told = False, self._told, []
        for act in told:
            act()
        return self._ready()

    def _ready(self) -> list[tuple[selectors.SelectorKey, int]]:
        found = [(registered.key, registered.ready()) for registered in self._registered.values()]
        return [(key, events) for key, events in found if events]

    def tell(self, act: Callable[[], Any], wake: bool) -> None:
        """Has the loop's own thread act, when it looks; unless it is woken, that may be never."""
        with self._condition:
            if wake:
                self._called = True
                self._condition.notify()
            self._told.append(act)

    def wake(self) -> None:
        """Has the loop look."""
        with self._condition:
            self._called = True
            self._condition.notify()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        fd = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        if fd in self._registered:
            raise KeyError(f"{fileobj!r} is registered already")
        key = selectors.SelectorKey(fileobj, fd, events, data)
        self._registered[fd] = _Registered(self, key)
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._registered.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno()).key

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._registered[fileobj if isinstance(fileobj, int) else fileobj.fileno()].key

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {fd: registered.key for fd, registered in self._registered.items()}

    def close(self) -> None:
        self._registered.clear()
