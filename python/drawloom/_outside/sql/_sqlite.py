"""`sqlite3`: a statement is one step on its database, which is locked as a whole; what is busy is waited for in the engine."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from ... import _drawloom
from ..._outside import _known, _names
from ..._patching import Patch
from .._waits import NOT_YET, waits
from ._history import history
from ._statements import Statement, understood

_connect = sqlite3.connect
_known.be_pure([sqlite3.Row])
_BUSY = ("database is locked", "database table is locked", "database schema is locked")


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return str(error).startswith(_BUSY)


class Cursor(sqlite3.Cursor):
    """A cursor that has all rows as soon as it has executed."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.drawloom_rows: Iterator[Any] = iter(())
        self.drawloom_task = _drawloom.task() if _drawloom.is_controlled() else None

    def _executed(self, statement: Statement, native: Callable[[], Any]) -> Any:
        def call() -> None:
            native()
            self.drawloom_rows = iter(super(Cursor, self).fetchall())

        is_own = not _drawloom.is_controlled() or _drawloom.task() == self.drawloom_task
        self.connection.drawloom_step(statement, call, is_own)  # type: ignore[attr-defined]
        return self

    def execute(self, sql: str, *parameters: Any) -> Any:
        given = parameters[0] if parameters and parameters[0] is not None else ()
        return self._executed(understood(sql, given), lambda: super(Cursor, self).execute(sql, *parameters))

    def executemany(self, sql: str, parameters: Any) -> Any:
        statement = understood(sql)
        statement = Statement(statement.kind, tuple((table, None) for table, _ in statement.items), keeps_rows=False)
        given = list(parameters)
        return self._executed(statement, lambda: super(Cursor, self).executemany(sql, given))

    def executescript(self, script: str) -> Any:
        return self._executed(Statement("other"), lambda: super(Cursor, self).executescript(script))

    def fetchone(self) -> Any:
        return next(self.drawloom_rows, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        size = self.arraysize if size is None else size
        return [row for _, row in zip(range(size), self.drawloom_rows)]

    def fetchall(self) -> list[Any]:
        return list(self.drawloom_rows)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self.drawloom_rows)

    def close(self) -> None:
        self.drawloom_rows = iter(())
        super().close()


class Connected:
    """What a connection has besides."""

    drawloom_path: str | None
    drawloom_place: str
    drawloom_number: str
    drawloom_timeout: float
    # A transaction has read: it is not waited for by those who would wait for it.
    drawloom_reads = False
    drawloom_transactions = 0
    drawloom_closed = False

    @property
    def drawloom_name(self) -> str:
        """What it conflicts on with others: its file."""
        return self.drawloom_place if self.drawloom_path is None else _names.resource(self.drawloom_path)

    def drawloom_step(self: Any, statement: Statement, call: Callable[[], Any], is_own: bool = True) -> None:
        """Carries out a statement: a step, and as many as it takes while the database is busy."""
        if statement.kind == "local":
            call()
            return
        write = statement.kind not in ("read", "begin") or statement.exclusive or not is_own
        busy: list[BaseException] = []

        def attempt() -> Any:
            try:
                return call()
            except sqlite3.OperationalError as error:
                # Who has read already is told at once, since whoever it would wait for may wait for it.
                if not _is_busy(error) or (self.drawloom_reads and statement.kind != "commit"):
                    raise
                busy[:] = [error]
                return NOT_YET

        name, before = self.drawloom_name, not self.drawloom_closed and self.in_transaction
        result = waits.until(name, attempt, self.drawloom_timeout, write=write, in_transaction=before)
        if result is NOT_YET:
            raise busy[0]
        history.note((name, self.drawloom_number, self.drawloom_transactions), statement)
        open_ = not self.drawloom_closed and self.in_transaction
        self.drawloom_reads = open_ and (self.drawloom_reads or statement.kind == "read")
        if not open_:
            self.drawloom_transactions += 1
            if write or before:
                waits.over(name)

    def cursor(self: Any, factory: Any = Cursor) -> Any:
        # A class of cursors of the program's own has its say, too.
        if isinstance(factory, type) and issubclass(factory, sqlite3.Cursor) and not issubclass(factory, Cursor):
            if factory not in _cursors:
                _cursors[factory] = type(factory.__name__, (Cursor, factory), {})
            factory = _cursors[factory]
        return sqlite3.Connection.cursor(self, factory)

    def execute(self: Any, sql: str, parameters: Any = ()) -> Any:
        return self.cursor().execute(sql, parameters)

    def executemany(self: Any, sql: str, parameters: Any) -> Any:
        return self.cursor().executemany(sql, parameters)

    def executescript(self: Any, script: str) -> Any:
        return self.cursor().executescript(script)

    def commit(self: Any) -> None:
        if self.in_transaction:
            self.drawloom_step(Statement("commit"), lambda: sqlite3.Connection.commit(self))

    def rollback(self: Any) -> None:
        if self.in_transaction:
            self.drawloom_step(Statement("rollback"), lambda: sqlite3.Connection.rollback(self))

    def close(self: Any) -> None:
        def call() -> None:
            sqlite3.Connection.close(self)
            self.drawloom_closed = True

        if self.drawloom_closed or not self.in_transaction:
            return call()
        self.drawloom_step(Statement("rollback"), call)

    def __del__(self: Any) -> None:
        """What nobody has closed gives back its locks all the same."""
        try:
            if not self.drawloom_closed and self.in_transaction:
                self.close()
        except (sqlite3.Error, AttributeError):
            pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self: Any, kind: Any, *_exception: Any) -> None:
        if kind is not None:
            self.rollback()
            return
        try:
            self.commit()
        except BaseException:
            self.rollback()
            raise


class Connection(Connected, sqlite3.Connection):  # type: ignore[misc]
    """A connection whose statements are steps."""


# Arguments after the timeout, as they may be given by position.
_POSITIONS = ("detect_types", "isolation_level", "check_same_thread", "factory", "cached_statements", "uri")
_cursors: dict[Any, Any] = {sqlite3.Cursor: Cursor}
_made: dict[Any, Any] = {sqlite3.Connection: Connection}
_numbers = _names.Numbers()


def connect(database: Any, timeout: float = 5.0, *arguments: Any, **options: Any) -> Any:
    """`sqlite3.connect`."""
    if not _drawloom.is_controlled():
        return _connect(database, timeout, *arguments, **options) if arguments else _connect(database, timeout=timeout, **options)
    options.update(zip(_POSITIONS, arguments))
    factory = options.get("factory", sqlite3.Connection)
    if factory not in _made:
        _made[factory] = type(factory.__name__, (Connected, factory), {})
    options["factory"] = _made[factory]
    is_shared = bool(options.get("uri")) and str(database).startswith("file:")
    private = not is_shared and database in (":memory:", "")
    path = None if private or is_shared else _names.followed(database)
    # It makes a cache, by Python code that is none of the program's.
    connection = _drawloom.unobserved(lambda: _connect(database, timeout=0, **options))
    connection.drawloom_timeout, connection.drawloom_path = timeout, path
    with contextlib.suppress(sqlite3.Error):
        # Nothing crashes here, and a disk takes its time.
        sqlite3.Cursor(connection).execute("PRAGMA synchronous = OFF").close()
    connection.drawloom_number = number = _numbers.next()
    connection.drawloom_place = f"database in memory {number}" if private else f"database {database}"
    return connection


def patches() -> list[Patch]:
    """What takes the place of what."""
    return [(sqlite3, "connect", connect), (sqlite3.dbapi2, "connect", connect)]


def finish() -> None:
    """There is nothing to be tidied up."""
