"""Callbacks that want themselves to be called again, and again, until others have gone on.

An event loop takes what is ready first in, first out: before such a callback is called again, everybody else has had a
turn. Here anybody may be next, it alone included, for ever. So it waits until somebody has changed what it has looked
at, or looked at what it has changed: until then it would only do the same once more. If nobody can go on it is called
all the same: once before time passes, and if nobody sleeps a hundred times, after which those who wait for it wait in
vain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _drawloom
from ._async_knowledge import Footprint

if TYPE_CHECKING:
    from ._async_host import Guest, Host

# Times that callbacks are called again while nobody else goes on.
_PATIENCE = 100
# In nanoseconds: when nobody can go on. Main, when it wants to know that, sleeps for less.
_SOON = 2
# Whose, which part, and whether it was changed.
Touched = Iterable[tuple[Any, Any, bool]]


class Asking:
    """A callback that waits to be called again, and what it has touched."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.parts: dict[int, dict[Any, bool]] = {}
        self.is_touched = False

    def begin(self, touched: Touched) -> None:
        self.is_touched = False
        self.parts = {}
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
        if self._asking and self._quiet is None and self._rounds < (1 if self._host.timers else _PATIENCE):
            self._quiet = self._host.new_guest(self._host.idle(), None, _drawloom.guest_now() + _SOON)
