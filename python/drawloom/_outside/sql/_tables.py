"""Tables and rows as resources, told apart as finely as is right.

A step is about one resource. Statements that are about several tables at once make one resource of these from then on,
and so does a transaction that has written several: what it has written others see all at once when it is committed. Rows
are told apart by their primary key, as long as every statement on their table names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ... import _drawloom
from ._statements import Item, Statement

# The fact that a statement is not understood, or depends on all tables.
WHOLE = "whole-database"


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


class Tables:
    """Of one database; `key_of` says which column tells the rows of a table apart, if one does."""

    def __init__(self, name: str, key_of: Callable[[str], str | None]) -> None:
        self.name, self._key_of = name, key_of
        # Pairs that have come up together.
        self._joined: set[tuple[str, str]] = set()

    def resource(self, statement: Statement, write: bool) -> str:
        """What a statement is about."""
        if not statement.items:
            _learn(WHOLE)
        return self.of(self._rows(statement))

    def _rows(self, statement: Statement) -> list[Item]:
        items: list[Item] = []
        for table, row in statement.items:
            if row is None or statement.column != self._key_of(table):
                _learn(f"rows-of-{_plain(table)}")
                row = None
            items.append((table, row))
        return items

    def of(self, items: Iterable[Item]) -> str:
        """What stands for all of these."""
        items = sorted(set(items), key=str)
        if _drawloom.is_known(WHOLE) or not items:
            return f"all tables of {self.name}"
        names = sorted({self._name(item) for item in items})
        if len(names) == 1 and not self._is_joined(items[0][0]):
            return names[0]
        tables = sorted({table for table, _ in items})
        for table in tables:
            _learn(f"rows-of-{_plain(table)}")
        for other in tables[1:]:
            self._joined.add((tables[0], other))
            _learn(f"joined-{_plain(tables[0])}-{_plain(other)}")
        return f"tables {', '.join(sorted(self._group(tables[0])))}" if len(tables) > 1 or self._is_joined(tables[0]) else (
            self._name((tables[0], None)))

    def _name(self, item: Item) -> str:
        table, row = item
        if row is None or _drawloom.is_known(f"rows-of-{_plain(table)}"):
            return f"table {table}"
        return f"row {row} of {table}"

    def _is_joined(self, table: str) -> bool:
        return len(self._group(table)) > 1

    def _group(self, table: str) -> set[str]:
        """All that have come up together with a table, as far as that is known in this exploration."""
        group = {table}
        while True:
            known = [pair for pair in self._joined if _drawloom.is_known(f"joined-{_plain(pair[0])}-{_plain(pair[1])}")]
            more = {name for pair in known if group & set(pair) for name in pair}
            if more <= group:
                return group
            group |= more


def _learn(fact: str) -> None:
    if _drawloom.is_parallel():
        _drawloom.learn(fact)
