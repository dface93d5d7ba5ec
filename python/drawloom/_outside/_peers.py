"""For whom threads wait at sockets and pipes: for who is at the other end."""

from __future__ import annotations

from typing import Any

from .. import _waiting
from .._waiting import NOWHERE, Others, Place, Thing, Wait
from ._links import End, Users
from ._waits import waits


class Receiving:
    """Somebody waits until something arrives at an end of a connection, an address, or a pipe."""

    word = "recv"

    def __init__(self, at: Any) -> None:
        self.at = at


class Sending(Receiving):
    """Somebody waits for room."""

    word = "send"


def at_other_end(of: Any) -> Users:
    """Tasks that have used the other end of a connection, or written to a pipe."""
    if isinstance(of, End):
        return of.link.users[1 - of.side]
    return getattr(of, "users", {})


def wait_at(of: Any, task: int, word: str, place: Place) -> Wait:
    """The wait of a task at one end."""
    at = of.link if isinstance(of, End) else of
    others: Others = [(user, line) for user, line in at_other_end(of).items() if user != task]
    return Wait(task, word, Thing("queue", at, at.name, True), None, place, [], others)


def _waits() -> list[Wait]:
    # Where each is, the engine knows.
    return [wait_at(about.at, task, about.word, NOWHERE) for task, about in waits.about()]


_waiting.ask(_waits)
