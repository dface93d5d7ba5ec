"""What a statement of SQL reads and writes, as far as it says so plainly."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ... import _drawloom

# A table, and the row in it as `column=value`; none stands for all of its rows.
Item = tuple[str, "str | None"]


class Statement:
    """What it does: `read`, `write`, `begin`, `commit`, `rollback`, `local` to its connection, or `other`."""

    __slots__ = ("kind", "items", "column", "keeps_rows", "exclusive")

    def __init__(self, kind: str, items: tuple[Item, ...] = (), column: str | None = None, keeps_rows: bool = True,
                 exclusive: bool = False) -> None:
        self.kind = kind
        # What it reads or writes; nothing, if that is not known.
        self.items = items
        # By which column its row is told.
        self.column = column
        # Whether there are the same rows afterwards.
        self.keeps_rows = keeps_rows
        self.exclusive = exclusive


_TOKEN = re.compile(
    r"""\s+|--[^\n]*|/\*.*?\*/
    |(?P<text>'(?:[^']|'')*')
    |(?P<name>[A-Za-z_][\w$]*|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])
    |(?P<slot>%\(\w+\)s|%s|%b|%t|\?\d*|[:@$]\w+|\$\d+)
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<sign><>|<=|>=|!=|\|\||::|.)""",
    re.X | re.S,
)


@functools.lru_cache(maxsize=512)
def _tokens(sql: str) -> tuple[tuple[str, str], ...]:
    """Kinds and texts; names that are not quoted in small letters."""
    found = []
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup
        if kind is None:
            continue
        text = match.group()
        if kind == "name":
            text = text[1:-1] if text[0] in "\"`[" else text.lower()
        found.append((kind, text))
    while found and found[-1] == ("sign", ";"):
        found.pop()
    return tuple(_without_casts(found))


# What types of several words go on with.
_OF_TYPES = {"with", "without", "time", "zone", "varying", "precision", ""}


def _without_casts(tokens: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Without `::type`, which drivers put behind every parameter: that changes nothing of which rows are meant."""
    at = 0
    while at < len(tokens):
        if tokens[at] != ("sign", "::"):
            yield tokens[at]
            at += 1
            continue
        at += 2
        while at < len(tokens) and tokens[at][1] in _OF_TYPES:
            at += 1
        for opens, closes in ("()", "[]"):
            if at < len(tokens) and tokens[at][1] == opens:
                while at < len(tokens) and tokens[at][1] != closes:
                    at += 1
                at += 1


_KINDS = {"select": "read", "values": "read", "table": "read", "insert": "write", "update": "write", "delete": "write",
          "replace": "write", "begin": "begin", "start": "begin", "commit": "commit", "end": "commit",
          "rollback": "rollback", "abort": "rollback"}
# Settings of SQLite that are a connection's own.
_OF_CONNECTION = {"foreign_keys", "legacy_alter_table", "busy_timeout", "cache_size", "case_sensitive_like", "defer_foreign_keys", "query_only",
                  "recursive_triggers", "synchronous", "temp_store", "read_uncommitted"}
# After these stands the name of a table.
_BEFORE_TABLES = {"from", "join", "into", "update"}
# With these more is read than stands there, or in another way.
_INVOLVED = {"with", "union", "intersect", "except", "returning", "on", "using", "exists", "in"}


def understood(sql: str, parameters: Any = ()) -> Statement:
    """What `sql` does with these parameters."""
    return _drawloom.unobserved(lambda: _understood(sql, parameters))


def _understood(sql: str, parameters: Any) -> Statement:
    tokens = _tokens(sql)
    words = [text for kind, text in tokens if kind == "name"]
    if not words or ("sign", ";") in tokens:
        return Statement("other")
    if words[0] == "pragma" and len(words) > 1 and words[1] in _OF_CONNECTION:
        return Statement("local")
    kind = _KINDS.get(words[0], "other")
    if kind == "rollback" and "to" in words:
        return Statement("other")
    if kind == "begin":
        return Statement(kind, exclusive=bool({"immediate", "exclusive"} & set(words)))
    if kind not in ("read", "write"):
        return Statement(kind)
    if words[0] == "select" and "update" in words and "for" in words:
        kind = "write"  # it takes locks
    tables = _tables(tokens)
    if not tables or words.count("select") > (words[0] == "select") or "with" in words:
        return Statement(kind, tuple((table, None) for table in tables) if kind == "read" else ())
    row = None
    if len(tables) == 1 and not _INVOLVED & set(words):
        row = _row_inserted(tokens, parameters) if words[0] == "insert" else _row(tokens, parameters)
    keeps = words[0] in ("select", "update") and not (words[0] == "update" and row and _sets(tokens, row[0]))
    if not keeps and words[0] == "update":
        row = None
    column, value = row or (None, None)
    key = None if row is None else f"{column}={value}"
    return Statement(kind, tuple((table, key) for table in tables), column, keeps)


def _tables(tokens: Sequence[tuple[str, str]]) -> list[str]:
    found: list[str] = []
    for at, (kind, text) in enumerate(tokens):
        if kind != "name" or text not in _BEFORE_TABLES or at + 1 >= len(tokens):
            continue
        if text == "update" and at and tokens[at - 1][1] == "for":
            continue
        at += 1
        while at < len(tokens) and tokens[at][0] == "name":
            if tokens[at][1] in ("only", "or", "rollback", "abort", "replace", "fail", "ignore"):
                at += 1
                continue
            name = tokens[at][1]
            if at + 2 < len(tokens) and tokens[at + 1] == ("sign", "."):
                name, at = tokens[at + 2][1], at + 2
            if name not in found:
                found.append(name)
            # Another one, after a comma.
            at += 1
            while at < len(tokens) and tokens[at][0] == "name" and tokens[at][1] not in ("where", "set", "values"):
                at += 1
            if text != "from" or at >= len(tokens) or tokens[at] != ("sign", ","):
                break
            at += 1
    return found


def _value(tokens: Sequence[tuple[str, str]], at: int, parameters: Any) -> str | None:
    """What stands at a place, if it is a value."""
    kind, text = tokens[at]
    if kind == "number":
        return text
    if kind == "text":
        return text[1:-1].replace("''", "'")
    if kind != "slot":
        return None
    if isinstance(parameters, Mapping):
        name = text.strip("%()s:@$") if text[0] != "%" else text[2:-2]
        value = parameters.get(name, _MISSING)
    else:
        slots = [i for i, (kind, _) in enumerate(tokens) if kind == "slot"]
        number = slots.index(at)
        value = parameters[number] if isinstance(parameters, Sequence) and number < len(parameters) else _MISSING
    return str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None


_MISSING: Any = object()


def _row(tokens: Sequence[tuple[str, str]], parameters: Any) -> tuple[str, str] | None:
    """The row of a condition that is `column = value`, alone or with others that hold as well."""
    words = [text for _, text in tokens]
    if words.count("where") != 1 or "or" in words[words.index("where") :]:
        return None
    at = words.index("where") + 1
    if at + 2 < len(tokens) and tokens[at + 1] == ("sign", "."):
        at += 2
    if at + 2 >= len(tokens) or tokens[at][0] != "name" or tokens[at + 1] != ("sign", "="):
        return None
    follows = words[at + 3] if at + 3 < len(tokens) else "and"
    if follows not in ("and", "for", "order", "limit"):
        return None
    value = _value(tokens, at + 2, parameters)
    return None if value is None else (words[at], value)


def _row_inserted(tokens: Sequence[tuple[str, str]], parameters: Any) -> tuple[str, str] | None:
    """The first column of the one row that is inserted."""
    words = [text for _, text in tokens]
    if words.count("values") != 1 or words.count("(") != 2 or "conflict" in words:
        return None
    first, values = words.index("("), words.index("values")
    if first > values or values + 2 >= len(tokens) or words[values + 1] != "(":
        return None
    value = _value(tokens, values + 2, parameters)
    return None if value is None or words[values + 3] not in (",", ")") else (words[first + 1], value)


def _sets(tokens: Sequence[tuple[str, str]], column: str) -> bool:
    words = [text for _, text in tokens]
    begin = words.index("set") if "set" in words else 0
    end = words.index("where") if "where" in words else len(words)
    return column in words[begin:end]
