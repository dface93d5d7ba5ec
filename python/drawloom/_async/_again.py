"""Callbacks that want themselves to be called again, and again, until others have gone on.

An event loop takes what is ready first in, first out: before such a callback is called again, everybody else has had a
turn. Here anybody may be next, it alone included, for ever. So it waits until somebody has changed what it has looked
at, or looked at what it has changed: until then it would only do the same once more. If nobody can go on it is called
all the same: once before time passes, and if nobody sleeps a hundred times, after which those who wait for it wait in
vain.

One that has come to something else than the last time, such as a higher count, is not done yet: it is called a hundred
times before time passes, and if nobody sleeps several hundred times, after which nothing can be said. So it is with
timers that start each other, and nobody else can go on.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import _drawloom
from ._knowledge import Footprint

if TYPE_CHECKING:
    from ._host import Guest, Host

# Times that callbacks are called again while nobody else goes on.
_PATIENCE = 100
# The same of those that come to something else each time.
_LONG_PATIENCE = 200
# In nanoseconds: when nobody can go on. Main, when it wants to know that, sleeps for less.
_SOON = 2
# What can be compared without asking anybody.
_PLAIN = (int, float, str, bytes, type(None))
# Whose, which part, and whether it was changed.
Touched = Iterable[tuple[Any, Any, bool]]


class Asking:
    """A callback that waits to be called again, and what it has touched."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.parts: dict[int, dict[Any, bool]] = {}
        self.is_touched = False
        # What it came to, and whether that was something else before.
        self._came_to: list[Any] = []
        self.goes_on = False

    def begin(self, touched: Touched) -> None:
        self.is_touched = False
        self.parts = {}
        came_to = [_value(owner, part) for owner, part, write in touched if write]
        callback = getattr(self.guest.handle, "_callback", None)
        came_to += [_value(cell, None) for cell in getattr(callback, "__closure__", None) or ()]
        self.goes_on, self._came_to = bool(self._came_to) and came_to != self._came_to, came_to
        for owner, part, write in touched:
            parts = self.parts.setdefault(id(owner), {})
            parts[part] = parts.get(part, False) or write

    def conflicts(self, touched: Touched) -> bool:
        """Whether others have changed what it looks at, or look at what it changes."""
        for owner, part, write in touched:
            for known, written in self.parts.get(id(owner), {}).items():
                if (write or written) and (part == known or part is True or known is True):
                    return True
        return False


def _value(owner: Any, part: Any) -> Any:
    """What was written, as far as that can be compared with what is written the next time."""
    if isinstance(part, str):
        value = owner.get(part) if isinstance(owner, dict) else getattr(owner, part, None)
    elif isinstance(owner, types.CellType):
        try:
            value = owner.cell_contents
        except ValueError:
            return None
    else:
        value = owner
    if isinstance(value, (list, tuple, deque)):
        return len(value), [item for item in value if isinstance(item, _PLAIN)]
    if isinstance(value, (dict, set)):
        return len(value), [item for item in value if isinstance(item, _PLAIN)]
    return value if isinstance(value, _PLAIN) else None


class Again:
    """Those who wait to be called again, in one execution."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._asking: list[Asking] = []
        # All that ever asked.
        self._known: dict[int, Asking] = {}
        # A timer that lets them be called when nobody can go on.
        self._quiet: Guest | None = None
        self._rounds = 0
        # Timers that came right after each other.
        self._lonely = 0

    def _is_lonely(self, guest: Guest) -> bool:
        """Whether it is a timer, and nobody waits for time to pass but one that it has started."""
        return guest.until is not None and guest is not self._quiet and self._host.timers <= 1

    def is_asked(self, guest: Guest) -> bool:
        """Whether the piece that has run was a callback, and wants to be called again."""
        return guest.task is None and guest.handle is not None

    def note(self, guest: Guest, touched: Touched, unknown: str | None, footprint: Footprint) -> None:
        """Who is called again depends on what a piece has touched: that is part of it."""
        if self.is_asked(guest) and guest.number not in self._known:
            self._known[guest.number] = Asking(guest)
        known = self._known.get(guest.number)
        if known is not None:
            known.begin(touched)
            footprint[self._name(guest), None] = True
        for asking in self._asking:
            # Those who ask do not keep each other going.
            matters = not self.is_asked(guest) and (unknown is not None or asking.conflicts(touched))
            asking.is_touched = guest is self._quiet or matters
            if asking.is_touched:
                footprint[self._name(asking.guest), None] = True

    def _name(self, guest: Guest) -> str:
        return f"callback {'.'.join(map(str, guest.path))}"

    def wake(self, guest: Guest) -> None:
        """A piece has been run: whom it matters to is called again."""
        self._lonely = self._lonely + 1 if self._is_lonely(guest) else 0
        if self._lonely == _LONG_PATIENCE:
            _drawloom.give_up(f"timers that have started each other {_LONG_PATIENCE} times, with no other task to run")
        if guest is self._quiet:
            self._quiet = None
            self._rounds += 1
        elif guest.number not in self._known:
            self._rounds = 0
        woken = [asking for asking in self._asking if asking.is_touched]
        self._asking = [asking for asking in self._asking if not asking.is_touched]
        for asking in woken:
            self._host.wake(asking.guest)
        self._be_called_when_quiet()

    def ask(self, guest: Guest) -> None:
        """A callback, which waits already, is to be called again when it matters."""
        self._asking.append(self._known[guest.number])
        self._be_called_when_quiet()

    def _be_called_when_quiet(self) -> None:
        if any(asking.goes_on for asking in self._asking):
            most = _PATIENCE if self._host.timers else _LONG_PATIENCE + 1
            if self._rounds == _LONG_PATIENCE:
                _drawloom.give_up(f"a callback that has been called again {_LONG_PATIENCE} times, with no other task to run")
        else:
            most = 1 if self._host.timers else _PATIENCE
        if self._asking and self._quiet is None and self._rounds < most:
            self._quiet = self._host.new_guest(self._host.idle(), None, _drawloom.guest_now() + _SOON)
