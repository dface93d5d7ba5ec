"""`psycopg.AsyncConnection`: as `_postgres`, for tasks of an event loop.

When the server gets to a statement is not up to the task, and neither is when its answer comes: others may run before and
after. So a statement is a piece of its own. A task that waits for another one's lock awaits that in the loop.
"""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg

from ... import _drawloom
from ..._patching import Patch
from .._aside import Aside, coming, is_explored
from . import _postgres
from ._statements import Statement, understood

_kind: Any = psycopg.AsyncConnection
_connect = _kind.connect.__func__
_execute, _executemany = psycopg.AsyncCursor.execute, psycopg.AsyncCursor.executemany
_wait, _commit, _rollback, _close = (getattr(_kind, name) for name in ("wait", "commit", "rollback", "close"))
_wait_for_connection = psycopg.waiting.wait_conn_async


def _is_explored() -> bool:
    return is_explored("psycopg.AsyncConnection")


async def wait_for_connection(gen: Any, *arguments: Any, **options: Any) -> Any:
    """`psycopg.waiting.wait_conn_async`."""
    if not _is_explored():
        return await _wait_for_connection(gen, *arguments, **options)
    await asyncio.sleep(0)
    return _drawloom.unobserved(lambda: psycopg.waiting.wait_conn(gen))


async def connect(cls: Any, *arguments: Any, **options: Any) -> Any:
    """`psycopg.AsyncConnection.connect`."""
    if not _is_explored():
        return await _connect(cls, *arguments, **options)
    _postgres.known.begin()
    connection = await Aside(_connect(cls, *arguments, **options))
    _postgres.known.add(connection)
    return connection


def _next(connection: Any) -> dict[Any, Statement]:
    """What tasks are about to ask for. They may wait for the connection before they do."""
    following: dict[Any, Statement] = connection.__dict__.setdefault("drawloom_following", {})
    return following


async def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
    if _is_explored():
        known = understood(_postgres.text(self, query), () if params is None else params)
        _next(self.connection)[asyncio.current_task()] = known
    return await Aside(_execute(self, query, params, **options))


async def executemany(self: Any, query: Any, params_seq: Any, **options: Any) -> None:
    if _is_explored():
        _next(self.connection)[asyncio.current_task()] = _postgres.of_many(understood(_postgres.text(self, query)))
    await Aside(_executemany(self, query, params_seq, **options))


async def commit(self: Any) -> None:
    if _is_explored():
        _next(self)[asyncio.current_task()] = Statement("commit")
    await Aside(_commit(self))


async def rollback(self: Any) -> None:
    if _is_explored():
        _next(self)[asyncio.current_task()] = Statement("rollback")
    await Aside(_rollback(self))


async def close(self: Any) -> None:
    """Closing ends the transaction."""
    idle = psycopg.pq.TransactionStatus.IDLE
    if _is_explored() and not self.closed and self.info.transaction_status != idle:
        await rollback(self)
    await _close(self)


async def wait(self: Any, gen: Any, *arguments: Any, **options: Any) -> Any:
    """`psycopg.AsyncConnection.wait`: everything that is asked of the server."""
    if not _is_explored():
        return await _wait(self, gen, *arguments, **options)
    statement = _next(self).pop(asyncio.current_task(), None)
    # Who uses one connection with others does so one after the other.
    _drawloom.guest_touch(self, True)
    await asyncio.sleep(0)
    try:
        came_to = await _asked(self, gen, statement)
    except psycopg.Error:
        await asyncio.sleep(0)
        _drawloom.guest_touch(self, True)
        raise
    await asyncio.sleep(0)
    _drawloom.guest_touch(self, True)
    return came_to


async def _asked(self: Any, gen: Any, statement: Statement | None) -> Any:
    awaited: list[Any] = []

    def waking() -> Any:
        future, come = coming()
        awaited.append(future)
        return come

    talk = _postgres.conversation(self, gen, statement, waking)
    try:
        _drawloom.unobserved(lambda: next(talk))
        while True:
            try:
                await awaited[-1]
            except asyncio.CancelledError:
                _cancel(self, talk)
                raise
            except BaseException as error:
                talk.throw(error)
            _drawloom.unobserved(lambda: next(talk))
    except StopIteration as end:
        return end.value


def _cancel(connection: Any, talk: Any) -> None:
    """The server gives a statement up, and the task waits for no more than that."""
    _postgres.known.server(connection).ask("SELECT pg_cancel_backend(%s)", connection.info.backend_pid)
    try:
        while True:
            _drawloom.unobserved(lambda: next(talk))
    except (StopIteration, psycopg.Error):
        pass


def patches() -> list[Patch]:
    """What takes the place of what."""
    return [
        (_kind, "connect", classmethod(connect)), (_kind, "wait", wait), (_kind, "commit", commit),
        (_kind, "rollback", rollback), (_kind, "close", close),
        (psycopg.AsyncCursor, "execute", execute), (psycopg.AsyncCursor, "executemany", executemany),
        (psycopg.waiting, "wait_conn_async", wait_for_connection),
    ]
