"""`psycopg`: a statement is one step on its tables or rows; who waits for a lock of another thread waits in the engine.

That a statement waits, and for whom, is asked of the server over a connection of our own. When a lock is given back, the
server goes on with those that it was waiting for at once: that is awaited within the step that gives it back, so that what
happens depends on the order of steps alone.
"""

from __future__ import annotations

import functools
import importlib
import select
import weakref
from collections.abc import Callable, Generator
from typing import Any

import psycopg

from ... import _drawloom
from ..._patching import Patch
from ._history import history
from ._statements import Statement, understood
from ._tables import WHOLE, Tables, _learn

_connect = psycopg.Connection.connect.__func__  # type: ignore[attr-defined]
_execute, _executemany = psycopg.Cursor.execute, psycopg.Cursor.executemany
_wait, _commit, _rollback, _close = (getattr(psycopg.Connection, name) for name in ("wait", "commit", "rollback", "close"))
_IDLE = psycopg.pq.TransactionStatus.IDLE
# For so long a statement is given before the server is asked, in milliseconds.
_PATIENCE = 3


# What is said to connections that go on to be used in the next execution, and after the last one. Circles are found by us
# (`_is_blocked`), before the server's own clock decides who is told, where we may ask for that.
_BEGIN = b"SELECT pg_advisory_unlock_all(); SET deadlock_timeout = '1h'"
_END = b"SELECT pg_advisory_unlock_all(); RESET deadlock_timeout"


class Server:
    """What is known of a server, and who waits there for a lock."""

    def __init__(self, connection: Any) -> None:
        info = connection.info
        self.monitor = _connect(psycopg.Connection, info.dsn, password=info.password, autocommit=True)
        self.monitor.drawloom_is_monitor = True
        self.tables = Tables(info.dbname, self._key_of)
        self.keys: dict[str, str | None] = {}
        # How they are woken, and their connections.
        self.blocked: list[tuple[Callable[[], object], Any]] = []
        self.is_involved: bool | None = None

    def ask(self, sql: str, *parameters: Any) -> list[Any]:
        rows: list[Any] = _execute(self.monitor.cursor(), sql, parameters).fetchall()
        return rows

    def blockers(self, connection: Any) -> set[int]:
        """Whom the statement of a connection waits for."""
        pids = self.ask("SELECT pg_blocking_pids(%s)", connection.info.backend_pid)[0][0]
        return {connection.info.backend_pid if pid == 0 else pid for pid in pids}

    def end(self, pids: list[int]) -> None:
        """Ends sessions, and waits until all that they held is given back."""
        while pids and self.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(%s)", pids):
            pass

    def waits_for(self, connection: Any) -> set[int]:
        """The same, and whom those wait for."""
        found: set[int] = set()
        asked = [connection]
        by_pid = {other.info.backend_pid: other for _, other in self.blocked}
        while asked:
            new = self.blockers(asked.pop()) - found
            found |= new
            asked += [by_pid[pid] for pid in new if pid in by_pid]
        return found

    def check(self) -> None:
        """Where rows of one table depend on another, nothing is told apart."""
        if self.is_involved is None:
            hidden = self.ask(
                "SELECT 1 FROM pg_constraint WHERE contype = 'f' UNION ALL SELECT 1 FROM pg_trigger WHERE NOT tgisinternal"
                " UNION ALL SELECT 1 FROM pg_views WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            )
            self.is_involved = bool(hidden)
        if self.is_involved:
            _learn(WHOLE)

    def _key_of(self, table: str) -> str | None:
        if table not in self.keys:
            found = self.ask(
                "SELECT a.attname, i.indnatts FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
                " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]"
                " WHERE i.indisunique AND c.relname = %s", table,
            )
            self.keys[table] = found[0][0] if len(found) == 1 and found[0][1] == 1 else None
        return self.keys[table]

    def settle(self) -> None:
        """Has all go on that nobody holds up any more."""
        woken: list[Callable[[], object]] = []
        changed = True
        while changed:
            changed = False
            for wake, connection in list(self.blocked):
                while not (done := _is_ready(connection, select.POLLIN)) and not self.blockers(connection):
                    pass
                if done:
                    self.blocked.remove((wake, connection))
                    woken.append(wake)
                    changed = True
        for wake in woken:
            wake()


class _Known:
    """Servers of this exploration, and connections of the running execution."""

    def __init__(self) -> None:
        self.epoch = 0
        self.servers: dict[Any, Server] = {}
        self.connections: list[weakref.ref[Any]] = []
        # Their sessions, which may outlive them: whose server's, and its number there.
        self.sessions: list[tuple[Any, int]] = []

    def begin(self, used: Any = None) -> None:
        """An execution begins, if it was not known to, with the use of a connection."""
        if self.epoch != _drawloom.epoch():
            self.epoch = _drawloom.epoch()
            self.end(_BEGIN, used)

    def end(self, last_words: bytes, used: Any = None) -> None:
        """Ends what the last execution has left; but connections that a pool keeps for the next one are as good as new."""
        kept: list[Any] = []
        for connection in (reference() for reference in self.connections):
            if connection is None or connection.closed:
                continue
            is_idle = connection.info.transaction_status == _IDLE
            if is_idle:
                connection.pgconn.exec_(last_words)
            if is_idle or connection is used:
                kept.append(connection)
            else:
                connection.pgconn.finish()
        sessions = [(_server_of(connection), connection.info.backend_pid) for connection in kept]
        for key, server in self.servers.items():
            server.blocked.clear()
            server.end([pid for at, pid in self.sessions if at == key and (at, pid) not in sessions])
        self.connections[:] = map(weakref.ref, kept)
        self.sessions[:] = sessions

    def add(self, connection: Any) -> None:
        self.connections.append(weakref.ref(connection))
        self.sessions.append((_server_of(connection), connection.info.backend_pid))
        connection.pgconn.exec_(_BEGIN)

    def server(self, connection: Any) -> Server:
        key = _server_of(connection)
        if key not in self.servers:
            self.servers[key] = _drawloom.unobserved(lambda: Server(connection))
        return self.servers[key]


def _server_of(connection: Any) -> Any:
    info = connection.info
    return info.host, info.port, info.dbname


known = _Known()


def connect(cls: Any, *arguments: Any, **options: Any) -> Any:
    """`psycopg.connect`."""
    if not _drawloom.is_controlled():
        return _connect(cls, *arguments, **options)
    known.begin()
    connection = _drawloom.unobserved(lambda: _connect(cls, *arguments, **options))
    known.add(connection)
    return connection


def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
    _be_free(self.connection)
    if _drawloom.is_parallel():
        self.connection.drawloom_next = understood(text(self, query), () if params is None else params)
    return _drawloom.unobserved(lambda: _execute(self, query, params, **options))


def executemany(self: Any, query: Any, params_seq: Any, **options: Any) -> None:
    if _drawloom.is_parallel():
        # The server is talked to several times.
        self.connection.drawloom_many = [of_many(understood(text(self, query)))]
    try:
        _drawloom.unobserved(lambda: _executemany(self, query, params_seq, **options))
    finally:
        self.connection.__dict__.pop("drawloom_many", None)


def of_many(statement: Statement) -> Statement:
    """The same with other rows, which are not known."""
    return Statement(statement.kind, tuple((table, None) for table, _ in statement.items), keeps_rows=False)


def _implied(connection: Any, gen: Any) -> Statement:
    """What is said to the server by a method of a connection that was given no statement: `transaction`, `pipeline`."""
    named = getattr(gen, "__qualname__", "")
    if named.endswith("Pipeline._enter_gen"):
        return Statement("begin")
    many = connection.__dict__.get("drawloom_many")
    if many is not None:
        return many.pop() if many else Statement("begin")
    if named.endswith("Transaction._enter_gen"):
        # Nobody sees a savepoint either.
        return Statement("begin")
    if named.endswith("Transaction._exit_gen"):
        known = gen.gi_frame.f_locals
        fails = known.get("exc_val") is not None or known["self"].force_rollback
        if known["self"]._outer_transaction:
            return Statement("rollback" if fails else "commit")
        # What was locked since the savepoint is given back.
        return Statement("other" if fails else "begin")
    return Statement("other")


def _be_free(connection: Any) -> None:
    """Who waits has the connection's own lock, which is none of the engine's."""
    if _drawloom.is_parallel() and connection.__dict__.get("drawloom_waits"):
        _drawloom.give_up("a connection to PostgreSQL that several threads use, while one waits for a row")


def text(cursor: Any, query: Any) -> str:
    if isinstance(query, bytes):
        return query.decode()
    return query if isinstance(query, str) else str(query.as_string(cursor))


def commit(self: Any) -> None:
    _be_free(self)
    self.drawloom_next = Statement("commit")
    _drawloom.unobserved(lambda: _commit(self))


def rollback(self: Any) -> None:
    _be_free(self)
    self.drawloom_next = Statement("rollback")
    _drawloom.unobserved(lambda: _rollback(self))


def close(self: Any) -> None:
    """Closing ends the transaction."""
    try:
        if _drawloom.is_parallel() and not self.closed and self.info.transaction_status != _IDLE:
            rollback(self)
    finally:
        # Also where the execution is over: what is locked would be so in the next one.
        _drawloom.unobserved(lambda: _close(self))


def wait(self: Any, gen: Any, *arguments: Any, **options: Any) -> Any:
    """`psycopg.Connection.wait`: everything that is asked of the server."""
    if _drawloom.is_controlled() and "drawloom_is_monitor" not in self.__dict__:
        # A pool has no need to connect, and may have done so before the exploration.
        known.begin(self)
        if self.info.transaction_status == _IDLE and not any(reference() is self for reference in known.connections):
            known.add(self)
    return _drawloom.unobserved(lambda: _asked(self, gen, *arguments, **options))


def _asked(self: Any, gen: Any, *arguments: Any, **options: Any) -> Any:
    state = self.__dict__
    statement = state.pop("drawloom_next", None)
    if "drawloom_is_monitor" in state or not _drawloom.is_parallel():
        return _wait(self, gen, *arguments, **options)
    talk = conversation(self, gen, statement, lambda: functools.partial(_drawloom.wake, _drawloom.task()))
    try:
        next(talk)
        while True:
            try:
                _drawloom.await_wake()
            except BaseException as error:
                talk.throw(error)
            next(talk)
    except StopIteration as end:
        return end.value


def conversation(self: Any, gen: Any, statement: Statement | None, waking: Callable[[], Any]) -> Generator[None, None, Any]:
    """What is said to the server, which is one step; whenever it waits for another task, and is to be woken, it yields."""
    server, state = known.server(self), self.__dict__
    written = state.setdefault("drawloom_written", set())
    _step(self, server, statement or _implied(self, gen), written)
    try:
        return (yield from _driven(self, server, gen, waking))
    except psycopg.errors.QueryCanceled as error:
        if state.pop("drawloom_closes_circle", False):
            raise psycopg.errors.DeadlockDetected("deadlock detected") from error
        raise
    finally:
        if _drawloom.is_parallel() and not self.closed:
            if self.info.transaction_status == _IDLE:
                history.note(_transaction(self), Statement("commit"))
                state["drawloom_transactions"] = state.get("drawloom_transactions", 0) + 1
                written.clear()
            server.settle()


def _transaction(connection: Any) -> Any:
    return connection.info.backend_pid, connection.__dict__.get("drawloom_transactions", 0)


def _step(connection: Any, server: Server, statement: Statement, written: set[Any]) -> None:
    """A step on what a statement is about."""
    tables = server.tables
    _drawloom.unobserved(server.check)
    if connection.isolation_level not in (None, psycopg.IsolationLevel.READ_COMMITTED):
        _learn(WHOLE)  # what is seen later depends on what was there at the first statement
    if statement.kind in ("commit", "rollback"):
        if written:
            _drawloom.touch(tables.of(written), True, True)
        return
    if statement.kind == "begin":
        return
    write = statement.kind != "read"
    name = tables.resource(statement, write)
    if write:
        # What is written together is seen together.
        written.update((table, row if tables._key_of(table) == statement.column else None)
                       for table, row in statement.items or (("*", None),))
        name = tables.of(written) if statement.items else name
    _drawloom.touch(name, write, connection.info.transaction_status != _IDLE)
    history.note(_transaction(connection), statement)


def _is_ready(connection: Any, events: int, milliseconds: int = 0) -> bool:
    poll = select.poll()
    poll.register(connection.pgconn.socket, events)
    return bool(poll.poll(milliseconds))


def _driven(connection: Any, server: Server, gen: Any, waking: Callable[[], Any]) -> Generator[None, None, Any]:
    """What a conversation with the server comes to."""
    fd = connection.pgconn.socket
    try:
        wanted = next(gen)
        while True:
            poll = select.poll()
            poll.register(fd, (select.POLLIN if wanted & 1 else 0) | (select.POLLOUT if wanted & 2 else 0))
            found = poll.poll(_PATIENCE)
            if found:
                events = found[0][1]
                ready = (1 if events & ~select.POLLOUT else 0) | (2 if events & select.POLLOUT else 0)
                wanted = gen.send(type(wanted)(ready & wanted or wanted))
            elif _is_blocked(connection, server):
                waiting = (waking(), connection)
                server.blocked.append(waiting)
                connection.drawloom_waits = True
                try:
                    yield
                finally:
                    # It may go on although nobody has woken it: it is given up.
                    if waiting in server.blocked:
                        server.blocked.remove(waiting)
                connection.drawloom_waits = False
    except StopIteration as end:
        return end.value
    except BaseException as error:
        if isinstance(error, GeneratorExit) or not _drawloom.is_parallel():
            # The execution is over, and nobody waits for the answer.
            connection.pgconn.get_cancel().cancel()
            connection.pgconn.finish()
        raise


def _is_blocked(connection: Any, server: Server) -> bool:
    """Whether it is another task of the exploration that a statement waits for."""
    own = {other.info.backend_pid for other in (reference() for reference in known.connections)
           if other is not None and not other.closed}
    if connection.__dict__.get("drawloom_closes_circle"):
        return False  # it is cancelled, and the server takes its time
    blockers = _drawloom.unobserved(lambda: server.waits_for(connection))
    if connection.info.backend_pid in blockers:
        # A circle. The server would break it in a second, at either end; whoever has closed it is told, and at once.
        connection.drawloom_closes_circle = True
        waiting = [other for _, other in server.blocked if other.info.backend_pid in blockers]
        history.close_circle({_transaction(other) for other in (connection, *waiting)})
        server.ask("SELECT pg_cancel_backend(%s)", connection.info.backend_pid)
        return False
    if blockers and not blockers & own:
        _drawloom.uncontrolled("a lock in the database that is held outside the exploration")
    return bool(blockers & own)


def forget(self: Any) -> None:
    """`psycopg.Connection.__del__`: whose task was torn down has not closed it, and nobody is to be warned of that."""
    if "pgconn" in self.__dict__ and not self.closed:
        self.pgconn.finish()


def finish() -> None:
    """The exploration is over."""
    known.end(_END)
    for server in known.servers.values():
        _close(server.monitor)
    known.servers.clear()


def patches() -> list[Patch]:
    """What takes the place of what."""
    kind = psycopg.Connection
    bound = classmethod(connect)
    asynchronous = importlib.import_module("._postgres_async", __package__)
    return [
        *asynchronous.patches(),
        (kind, "connect", bound), (psycopg, "connect", bound.__get__(None, kind)), (kind, "wait", wait),
        (kind, "commit", commit), (kind, "rollback", rollback), (kind, "close", close), (kind, "__del__", forget),
        (psycopg.Cursor, "execute", execute), (psycopg.Cursor, "executemany", executemany),
    ]
