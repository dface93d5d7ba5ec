"""For what tasks of an event loop wait, and who has it.

asyncio's locks do not know their owners. So who takes one is written down, with the line, until somebody gives it back.
All else is read off the coroutines when it is asked for: each waits in some method of some object.
"""

from __future__ import annotations

import asyncio
import functools
import os
import queue
import sys
import threading
import types
from asyncio import events, tasks
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _ahead, _drawloom, _waiting
from .._code import PACKAGE, is_foreign, is_library
from .._outside._links import End, known_at
from .._outside._peers import wait_at
from .._sync import Condition
from .._waiting import NOWHERE, Others, Place, Thing, Wait
from ._places import frames_of

if TYPE_CHECKING:
    from ._host import Guest, Host

# Files of asyncio, in which nobody under test waits.
LIBRARY = (os.path.dirname(os.path.abspath(str(asyncio.__file__))),)
# Event loops whose tasks run, the innermost last.
running: list[Host] = []


class Book:
    """Who has taken what, and where, in one execution."""

    def __init__(self) -> None:
        # By what it is, which is kept: nothing else gets its address.
        self._taken: dict[int, tuple[Any, Others]] = {}

    def take(self, thing: Any, by: int, place: Place) -> None:
        self._taken.setdefault(id(thing), (thing, []))[1].append((by, place))

    def give_back(self, thing: Any, by: int) -> None:
        """What somebody gives back who has none was another one's."""
        holders = self.holders(thing)
        own = [at for at, (holder, _) in enumerate(holders) if holder == by]
        if holders:
            del holders[own[-1] if own else -1]

    def holders(self, thing: Any) -> Others:
        known = self._taken.get(id(thing))
        return [] if known is None else known[1]


def _noting() -> tuple[Book, int] | None:
    """The book of the event loop that runs, and the number of its task that does."""
    if running:
        host = running[-1]
        return None if host.current is None or host.is_over else (host.book, host.current.number)
    loop = events._get_running_loop()
    book = getattr(loop, "book", None)
    if book is None or not _drawloom.is_controlled():
        return None
    # A loop within a thread: what runs there is seen, and this is not to be.
    task = _drawloom.unobserved(lambda: tasks.current_task(loop))
    number = getattr(task, "_drawloom_number", None)
    return None if number is None else (book, number)


def take(thing: Any) -> None:
    """The running task has taken something."""
    noting = _noting()
    if noting is not None:
        book, number = noting
        book.take(thing, number, line_of_user(sys._getframe(1), LIBRARY))


def give_back(thing: Any) -> None:
    """The running task has given something back."""
    noting = _noting()
    if noting is not None:
        book, number = noting
        book.give_back(thing, number)


def is_users(file: str, library: tuple[str, ...]) -> bool:
    """Whether a file is neither ours nor the library's."""
    return not file.startswith((*library, PACKAGE)) and not is_foreign(file)


def line_of_user(frame: types.FrameType | None, library: tuple[str, ...]) -> Place:
    """The line of the code under test that is being executed."""
    while frame is not None:
        if is_users(frame.f_code.co_filename, library):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return NOWHERE


# By code of ours: that of the library in whose place it is.
_in_place_of: dict[types.CodeType, types.CodeType] = {}


def as_written(code: types.CodeType) -> types.CodeType:
    """The code of the library in whose place one of ours is."""
    return _in_place_of.get(code, code)


def in_place_of(native: Any, function: Any) -> Any:
    """A function of ours that is in place of the library's, and passes for it."""
    _in_place_of[function.__code__] = native.__code__
    return functools.wraps(native)(function)


def acquiring(native: Any) -> Any:
    """A coroutine by which something is taken, which is written down."""

    async def acquire(self: Any) -> Any:
        taken = await native(self)
        take(self)
        return taken

    return in_place_of(native, acquire)


def releasing(native: Any) -> Any:
    def release(self: Any) -> None:
        native(self)
        give_back(self)

    return in_place_of(native, release)


class Method(NamedTuple):
    """A method in which a coroutine waits."""

    # As in `Wait`, and as in `Thing`.
    word: str
    kind: str
    # What such a thing is called in general, if its kind does not say it.
    of: str | None = None
    # By what others would end the wait.
    ended_by: tuple[str, ...] = ()
    # What it waits for inside is its own.
    is_whole: bool = False


Methods = dict[types.CodeType, Method]


def waits_in(host: Host, guest: Guest, methods: Methods) -> Wait | None:
    """The wait of a task in one of these methods, the innermost."""
    found: tuple[Method, Any] | None = None
    for frame in frames_of(host.coroutine_of(guest.task)):
        method = methods.get(frame.f_code)
        if method is not None:
            found = method, frame.f_locals.get("self")
            if method.is_whole:
                break
    if found is None or found[1] is None:
        return None
    method, itself = found
    word, holders = method.word, host.holders_of(itself) if method.word in ("lock", "acquire") else []
    if word == "acquire":
        # Who has a permit, and waits for another one, waits for the others; if nobody has one, for whoever gives some.
        holders = [holder for holder in holders if holder[0] != guest.number]
        word = "acquire" if holders else "wait"
    likely = [] if holders else who_would(host, guest, itself, method.ended_by)
    what = thing(host, itself, method.kind, method.of)
    return Wait(guest.number, word, what, None, host.place_of(guest), holders, likely)


# How a frame waits at a socket, and at which descriptor, if it does.
AtSocket = Callable[[types.FrameType], "tuple[str, int] | None"]


def waits_at_socket(host: Host, guest: Guest, of: AtSocket) -> Wait | None:
    """The wait of a task at a socket, whose peer is part of the exploration."""
    word, at = _socket_of(host, guest, of)
    if at is None:
        return None
    wait = wait_at(at, guest.number, word, host.place_of(guest))
    # Who waits at the other end has it, even if it has done nothing there yet.
    for other in host.guests.values() if isinstance(at, End) else ():
        if other.task is None or host.is_done(other.task) or other.number in dict(wait.likely):
            continue
        _, theirs = _socket_of(host, other, of)
        if isinstance(theirs, End) and theirs.is_other_end_of(at):
            wait.likely.append((other.number, host.place_of(other)))
    return wait


def _socket_of(host: Host, guest: Guest, of: AtSocket) -> tuple[str, Any]:
    """How a task waits at a socket, and what is known of that; none if it does not."""
    for frame in frames_of(host.coroutine_of(guest.task)):
        found = of(frame)
        if found is not None:
            word, fd = found
            return word, known_at(fd) if fd >= 0 else None
    return "", None


def thing(host: Host, itself: Any, kind: str, of: str | None) -> Thing:
    """What is waited for, as the program calls it."""
    name = host.names.attribute(itself)
    return Thing(kind, itself, " ".join(filter(None, (of, name))) or None)


def joins(host: Host, guest: Guest, awaited: list[Any]) -> Wait | None:
    """The wait of a task until all of these have ended."""
    left = [host.tasks[task] for task in awaited if task in host.tasks and not host.is_done(task)]
    if not left:
        return None
    first = min(left, key=lambda other: other.number)
    place = host.place_of(guest)
    return Wait(guest.number, "join", None, first.number, place, [(other.number, place) for other in left], [])


def who_would(host: Host, waits: Guest, itself: Any, methods: tuple[str, ...]) -> Others:
    """Other tasks that have a line ahead of them which calls one of these methods of that very object."""
    others = [guest for guest in host.guests.values() if guest is not waits and guest.task is not None]
    found = ((guest.number, _line_ahead(host, guest, itself, methods)) for guest in others if not host.is_done(guest.task))
    return [(number, place) for number, place in found if place is not None]


def _line_ahead(host: Host, guest: Guest, itself: Any, methods: tuple[str, ...]) -> Place | None:
    for frame in frames_of(host.coroutine_of(guest.task)):
        if is_users(frame.f_code.co_filename, host.library):
            for owner, name, line in _ahead.calls(frame):
                if owner is itself and name in methods:
                    return frame.f_code.co_filename, line
    return None


# What threads wait at, by its class.
_OF_THREADS: dict[type, Method] = {
    queue.Queue: Method("recv", "pending", "Queue", ("put", "put_nowait")),
    queue._PySimpleQueue: Method("recv", "pending", "Queue", ("put", "put_nowait")),  # type: ignore[attr-defined]
    threading.Event: Method("wait", "pending", "Event", ("set",)),
    threading.Semaphore: Method("wait", "pending", "Semaphore", ("release",)),
    Condition: Method("wait", "pending", None, ("notify", "notify_all")),
}
# What the engine has no name for: the thread of an event loop, on which one of its tasks stands.
EVENT_LOOP = "event loop"


def _standing(host: Host, guest: Guest) -> list[Wait]:
    """The wait of a task that keeps the thread of the loop meanwhile; and those of others, which need it to end the wait."""
    inner = None
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and is_library(frame.f_code.co_filename):
        inner, frame = frame, frame.f_back
    itself = inner.f_locals.get("self") if inner is not None else None
    known = next((known for kind, known in _OF_THREADS.items() if isinstance(itself, kind)), None)
    if known is None or frame is None or inner is None:
        return []
    word, kind, of, ended_by, _ = known
    if of == "Queue" and inner.f_code.co_name == "put":
        word, ended_by = "send", ("get", "get_nowait")
    place = frame.f_code.co_filename, frame.f_lineno
    likely = [other for other in who_would(host, guest, itself, ended_by) if host.guests[other[0]].handle is not None]
    waits = [Wait(guest.number, word, thing(host, itself, kind, of), None, place, [], likely)]
    loop = Thing("lock", host, EVENT_LOOP)
    return waits + [Wait(number, "lock", loop, None, line, [(guest.number, place)], []) for number, line in likely]


def _waits() -> list[Wait]:
    """Those of the tasks of the event loop that runs."""
    if not running:
        return []
    host = running[-1]
    waiting = [guest for guest in host.guests.values()
               if guest.task is not None and guest.handle is None and guest is not host.current and not host.is_done(guest.task)]
    waits = [wait for guest in waiting for wait in [host.wait_of(guest)] if wait is not None]
    return waits + ([] if host.current is None else _standing(host, host.current))


_waiting.ask(_waits)
