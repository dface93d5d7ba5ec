"""For what the coroutines of an event loop wait whose thread waits: to the engine that is one task, which nobody wakes."""

from __future__ import annotations

import os
from typing import Any

from .. import _drawloom, _waiting
from .._async import _loop_waits
from .._async._host import Guest
from .._async._names import Names
from .._async._places import frames_of, place_of
from .._async._waits import LIBRARY
from .._code import PACKAGE
from .._waiting import Others, Place, Wait

# By task of the engine whose thread waits in its event loop: in which execution, and which loop.
_waiting_loops: dict[int, tuple[int, Any]] = {}


def begin(loop: Any) -> None:
    """The calling thread waits, and the loop with it."""
    _waiting_loops[_drawloom.task()] = _drawloom.epoch(), loop


def end() -> None:
    """It does no more."""
    _waiting_loops.pop(_drawloom.task(), None)


class _View:
    """The tasks of a loop, as those of a host whose order is the engine's to choose."""

    library = LIBRARY

    def __init__(self, loop: Any) -> None:
        self.book = loop.book
        self.names = Names()
        self.guests: dict[int, Guest] = {}
        self.tasks: dict[Any, Guest] = {}
        for task in loop.remembered:
            guest = self.guests[task._drawloom_number] = self.tasks[task] = Guest((), None, task)
            guest.number = task._drawloom_number
        frames = [frame for task in loop.remembered if not task.done() for frame in frames_of(task.get_coro())]
        self.names.find_all(*(value for frame in frames for value in frame.f_locals.values()))

    def coroutine_of(self, task: Any) -> Any:
        return task.get_coro()

    def is_done(self, task: Any) -> bool:
        return bool(task.done())

    def place_of(self, guest: Guest) -> Place:
        return place_of(guest.task.get_coro(), (*LIBRARY, PACKAGE))

    def holders_of(self, thing: Any) -> Others:
        return list(self.book.holders(thing))

    def wait_of(self, guest: Guest) -> Wait | None:
        """The wait of one of the tasks, at sockets not: whose these are other threads know."""
        awaited = self.tasks.get(guest.task._fut_waiter)
        if awaited is not None:
            place = self.place_of(guest)
            return Wait(guest.number, "join", None, awaited.number, place, [(awaited.number, place)], [])
        return _loop_waits.waits_in_library(self, guest)  # type: ignore[arg-type]


def _circle(waits: dict[int, Wait]) -> list[int]:
    """Tasks each of which waits for the next, and the last for the first."""
    for start in waits:
        path, seen = [start], {start}
        left = [_ended_by(waits[start])]
        while left:
            if not left[-1]:
                left.pop()
                path.pop()
                continue
            other = left[-1].pop()
            if other == start:
                return path
            if other in waits and other not in seen:
                seen.add(other)
                path.append(other)
                left.append(_ended_by(waits[other]))
    return []


def _ended_by(wait: Wait) -> list[int]:
    return [number for number, _ in (*wait.holders, *wait.likely)]


def _told(view: _View, waits: dict[int, Wait], number: int) -> str:
    """A wait of a circle, in words."""
    wait = waits[number]
    name = "" if wait.thing is None or wait.thing.name is None else f" `{wait.thing.name.rpartition(' ')[2]}`"
    what = "others" if wait.thing is None else f"{wait.thing.kind}{name}"
    return f"`{view.guests[number].task.get_name()}` waits for {what} ({os.path.basename(wait.place[0])}:{wait.place[1]})"


def _waits() -> list[Wait]:
    return [_wait(task, loop) for task, (epoch, loop) in _waiting_loops.items() if epoch == _drawloom.epoch()]


def _wait(task: int, loop: Any) -> Wait:
    """That of a thread: of its coroutines one that is in a circle, or that waits for an event that no running task can produce."""
    if loop is None:
        # Of trio's tasks that is not known.
        return Wait(task, "park", None, None, _waiting.NOWHERE, [], [])
    view = _View(loop)
    left = [guest for guest in view.guests.values() if not guest.task.done()]
    waits = {guest.number: wait for guest in left for wait in [view.wait_of(guest)] if wait is not None}
    circle = _circle(waits)
    if len(circle) > 1:
        _waiting.aside.append("in the event loop " + ", and ".join(_told(view, waits, number) for number in circle))
    of_circle = [waits[number] for number in circle if waits[number].word != "join"]
    others = [wait for wait in waits.values() if wait.word != "join"]
    chosen = next(iter(of_circle or others), None)
    if chosen is None:
        place = view.place_of(left[-1]) if left else _waiting.NOWHERE
        return Wait(task, "park", None, None, place, [(task, place)] if circle else [], [])
    lines = dict((*chosen.holders, *chosen.likely))
    ends = next((lines[number] for number in circle if number in lines), chosen.place)
    return Wait(task, chosen.word, chosen.thing, None, chosen.place, [(task, ends)] if circle else [], [])


_waiting.ask(_waits)
