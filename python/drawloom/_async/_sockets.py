"""Sockets of loops whose order is chosen: that one has become ready is an event, which comes when its turn has come."""

from __future__ import annotations

import functools
import selectors
import weakref
from asyncio import base_events
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .. import _drawloom
from .._outside._ready import Awaited
from .._patching import Patch

if TYPE_CHECKING:
    from ._host import Host


class Watch:
    """Somebody who waits for a socket, until there is no need to any more."""

    def __init__(self, host: Host, fd: int, writes: bool, event: Callable[[Watch], Any]) -> None:
        self._host, self._awaited, self._event = host, Awaited(fd, writes), event
        self.is_over = self._is_due = self._is_told = False
        self._before: tuple[int, ...] = ()

    def look(self, again: bool = False) -> None:
        """Has the event come, if the socket is ready; else looks again when it may be.

        What has come `again`, and has done nothing to the socket, would only do the same once more: it asks to be called
        when that is different, as callbacks do that want themselves to be called again.
        """
        _drawloom.guest_touch(self, False)
        if self.is_over or self._is_due or self._host.is_over:
            return
        if self._awaited.is_ready():
            _drawloom.guest_touch(self, True)
            self._is_due = True
            if again and self._before == self._awaited.state() and self._host.current is not None:
                self._host.current.handle = self._event(self)
            else:
                self._host.schedule(None, self._event(self))
        elif not self._is_told:
            self._is_told = True
            self._awaited.tell(self._look_again)

    def _look_again(self) -> None:
        self._is_told = False
        self.look()

    def begin_event(self) -> bool:
        """The turn of the event has come. Whether it is still wanted."""
        _drawloom.guest_touch(self, True)
        self._is_due = False
        if not self.is_over:
            self._before = self._awaited.state()
        return not self.is_over

    def end(self) -> None:
        """Nobody waits any more."""
        _drawloom.guest_touch(self, True)
        self.is_over = True


class Selector(selectors.BaseSelector):
    """In place of that of an event loop of asyncio."""

    def __init__(self, host: Host, event: Callable[[Watch, Any], Any]) -> None:
        self._host, self._event = host, event
        self._keys: dict[int, tuple[selectors.SelectorKey, list[Watch]]] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        fd = _number(fileobj)
        if fd in self._keys:
            raise KeyError(f"{fileobj!r} is registered already")
        key = selectors.SelectorKey(fileobj, fd, events, data)
        wanted = [(handle, writes) for handle, writes in zip(data, (False, True)) if handle is not None]
        watches = [Watch(self._host, fd, writes, lambda watch, of=handle: self._event(watch, of))  # type: ignore[misc]
                   for handle, writes in wanted]
        self._keys[fd] = key, watches
        for watch in watches:
            watch.look()
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        key, watches = self._keys.pop(_number(fileobj))
        for watch in watches:
            watch.end()
        return key

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys[_number(fileobj)][0]

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {fd: key for fd, (key, _) in self._keys.items()}

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return []


def _number(fileobj: Any) -> int:
    return fileobj if isinstance(fileobj, int) else int(fileobj.fileno())


class Transports:
    """By descriptor: which of them a transport has is nothing that others look at, unless they do wrong."""

    def __init__(self) -> None:
        self._by_descriptor: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def __getitem__(self, fd: int) -> Any:
        return self._by_descriptor[fd]

    def __setitem__(self, fd: int, transport: Any) -> None:
        self._by_descriptor[fd] = transport

    def get(self, fd: int) -> Any:
        return self._by_descriptor.get(fd)


def _noted(native: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a server, which is changed by it: its code is not seen."""

    @functools.wraps(native)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        if _drawloom.is_controlled():
            _drawloom.guest_touch(self, True)
        return native(self, *args, **options)

    return method


_METHODS = ("_attach", "_detach", "_wakeup", "close", "close_clients", "abort_clients", "is_serving", "_start_serving", "wait_closed")
OF_SERVERS: list[Patch] = [
    (base_events.Server, name, _noted(vars(base_events.Server)[name])) for name in _METHODS if name in vars(base_events.Server)
]
