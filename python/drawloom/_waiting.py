"""Waits when nobody can go on: the engine is told what it cannot know.

To the engine a task of an event loop, or a thread at a socket, is parked. Here is what it waits for, who has that, and who
would end the wait. It is asked for once, when an execution is over and before anything of it is unwound: so nobody has to be
told of every change meanwhile, and nothing is out of date.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

# A line of a file.
Place = tuple[str, int]
# Tasks, by their numbers, each with a line that says why it is one of them.
Others = list[tuple[int, Place]]
NOWHERE: Place = ("", 0)


class Thing(NamedTuple):
    """What is waited for."""

    # lock, semaphore, condition, queue; or pending, if the engine knows the task to wait for it
    kind: str
    # The thing itself, or what stands for it: two waits for one thing have the same.
    itself: Any
    name: str | None
    # The engine knows something of that name.
    is_outside: bool = False


class Wait(NamedTuple):
    """A task that waits."""

    task: int
    # lock, acquire, wait, recv, send, join, or park
    word: str
    thing: Thing | None
    # Whose end is waited for.
    target: int | None
    # Nowhere, if the engine knows.
    place: Place
    # Who has it for certain; the wait ends only if one of them acts.
    holders: Others
    # Who would end the wait, as far as can be guessed.
    likely: Others


# Each says what waits there are of its kind.
_sources: list[Callable[[], list[Wait]]] = []


# Said besides, if it is.
aside: list[str] = []


def ask(source: Callable[[], list[Wait]]) -> None:
    """Has `source` be asked, too."""
    _sources.append(source)


def known() -> tuple[list[Any], list[Any], str | None]:
    """What is waited for, the waits, by position of what they are for; and what is to be said besides."""
    aside.clear()
    things: list[Thing] = []
    waits = []
    for wait in (wait for source in _sources for wait in source()):
        at = None
        if wait.thing is not None:
            at = next((at for at, thing in enumerate(things) if thing.itself is wait.thing.itself), len(things))
            things[at:] = things[at:] or [wait.thing]
        waits.append((wait.task, wait.word, at, wait.target, wait.place, wait.holders, wait.likely))
    return [(thing.kind, thing.name, thing.is_outside) for thing in things], waits, "; ".join(aside) or None
