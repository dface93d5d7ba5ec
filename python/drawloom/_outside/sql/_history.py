"""What statements did in the running execution, and what their order is called."""

from __future__ import annotations

from typing import Any

from ... import _drawloom
from ._statements import Item, Statement


class Event:
    """A statement, of a transaction of a task."""

    __slots__ = ("task", "transaction", "kind", "items", "keeps_rows")

    def __init__(self, task: int, transaction: Any, kind: str, items: tuple[Item, ...] = (), keeps_rows: bool = True) -> None:
        self.task, self.transaction, self.kind, self.items, self.keeps_rows = task, transaction, kind, items, keeps_rows


class History:
    """Of the last execution."""

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.events: list[Event] = []
        # Whether there was anything to note since somebody last asked.
        self.is_used = False
        # What statements wanted that waited for each other.
        self.circle: list[Item] = []

    def begin(self) -> None:
        self.epoch, self.events, self.is_used, self.circle = None, [], False, []

    def note(self, transaction: Any, statement: Statement) -> None:
        if not _drawloom.is_parallel():
            return
        self.is_used = True
        if self.epoch != _drawloom.epoch():
            self.epoch, self.events, self.circle = _drawloom.epoch(), [], []
        self.events.append(
            Event(_drawloom.task(), transaction, statement.kind, statement.items, statement.keeps_rows)
        )


    def close_circle(self, transactions: set[Any]) -> None:
        """The last statements of these transactions wait for each other."""
        last = {event.transaction: event for event in self.events if event.transaction in transactions}
        self.circle = sorted({item for event in last.values() for item in event.items}, key=str)


history = History()


def _meet(one: Event, other: Event) -> Item | None:
    """What both are about."""
    for table, row in one.items:
        for again, another in other.items:
            if table == again and (row is None or another is None or row == another):
                return (table, row if row is not None else another)
    return None


def _in_words(item: Item) -> str:
    table, row = item
    return f"`{table}`" if row is None else f"`{table}` where {row}"


def anomaly(events: list[Event], circle: list[Item]) -> str | None:
    """What went wrong, as databases call it; none if no order of statements has a name."""
    if circle:
        return f"deadlock: transactions lock {' and '.join(map(_in_words, circle))} in different orders"
    for find in (_dirty_read, _lost_update, _non_repeatable, _write_skew):
        found = find(events)
        if found is not None:
            return found
    return None


def _ends(events: list[Event], begin: int) -> int:
    """Where the transaction of an event ends."""
    for at in range(begin + 1, len(events)):
        if events[at].transaction == events[begin].transaction and events[at].kind in ("commit", "rollback"):
            return at
    return len(events)


def _dirty_read(events: list[Event]) -> str | None:
    for at, write in enumerate(events):
        if write.kind != "write":
            continue
        end = _ends(events, at)
        for read in events[at + 1 : end]:
            item = _meet(write, read) if read.kind == "read" and read.task != write.task else None
            # On one connection what is not committed is seen by all who use it.
            if item is not None and read.transaction == write.transaction:
                return f"dirty read of {_in_words(item)}: the value that was read was not committed yet"
    return None


def _lost_update(events: list[Event]) -> str | None:
    for at, read in enumerate(events):
        if read.kind != "read":
            continue
        between: list[Event] = []
        for event in events[at + 1 :]:
            item = _meet(read, event) if event.kind == "write" else None
            if item is None:
                continue
            if event.task != read.task:
                between.append(event)
            elif not any(_meet(event, other) for other in between):
                # Nobody wrote what is written back now: who has read more than that may be the victim of a write skew.
                break
            elif event.keeps_rows:
                return f"lost update of {_in_words(item)}: another transaction wrote it between the read and the write-back"
            else:
                return f"phantom in {_in_words(item)}: a row appeared or disappeared after a query"
    return None


def _non_repeatable(events: list[Event]) -> str | None:
    for at, first in enumerate(events):
        if first.kind != "read":
            continue
        written: Event | None = None
        for event in events[at + 1 : _ends(events, at)]:
            if event.kind == "write" and event.task != first.task and _meet(first, event):
                written = event
            same = event.kind == "read" and event.transaction == first.transaction and event.task == first.task
            item = _meet(first, event) if same and written is not None and _meet(event, written) else None
            if item is not None and written is not None:
                if written.keeps_rows:
                    return f"non-repeatable read of {_in_words(item)}: a transaction read it twice, and got different values"
                return f"phantom in {_in_words(item)}: a transaction looked twice, and found different rows"
    return None


def _write_skew(events: list[Event]) -> str | None:
    reads = [(at, event) for at, event in enumerate(events) if event.kind == "read"]
    writes = [(at, event) for at, event in enumerate(events) if event.kind == "write"]
    for read_at, read in reads:
        for write_at, write in writes:
            # Another one writes what was read, having itself read what the first one writes.
            item = _meet(read, write) if write.task != read.task and write_at > read_at else None
            if item is None:
                continue
            for own_at, own in writes:
                if own.task == read.task and own_at > read_at and any(
                    back.task == write.task and back_at < own_at and back_at < write_at and _meet(back, own)
                    for back_at, back in reads
                ):
                    return f"write skew on {_in_words(item)}: each wrote rows that the other had read before"
    return None
