"""`redis`: a command is one step on its key; who waits for something to come waits in the engine."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import Any

import redis

from ... import _clock, _drawloom, _sync
from ..._outside import _links
from ..._patching import Patch
from .._waits import NOT_YET, waits
from ._history import history
from ._statements import Statement

_execute, _at_once, _execute_all = (
    redis.client.Redis.execute_command, redis.client.Pipeline.immediate_execute_command, redis.client.Pipeline.execute
)
# The fact that keys are touched together: then the whole server is one resource.
WHOLE = "whole-redis"
READS = set("""GET STRLEN GETRANGE GETBIT BITCOUNT EXISTS TTL PTTL TYPE DUMP OBJECT WATCH MGET HGET HGETALL HMGET HKEYS HVALS
 HLEN HEXISTS HSTRLEN LRANGE LLEN LINDEX LPOS SMEMBERS SISMEMBER SMISMEMBER SCARD SRANDMEMBER ZRANGE ZREVRANGE
 ZRANGEBYSCORE ZSCORE ZCARD ZCOUNT ZRANK ZREVRANK XLEN XRANGE XREVRANGE""".split())
_WRITES = set("""SET SETNX SETEX PSETEX GETSET GETDEL GETEX SETRANGE SETBIT APPEND INCR INCRBY INCRBYFLOAT DECR DECRBY DEL UNLINK
 EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST HSET HSETNX HMSET HINCRBY HINCRBYFLOAT HDEL LPUSH RPUSH LPUSHX RPUSHX LPOP RPOP LTRIM
 LSET LREM LINSERT SADD SREM SPOP ZADD ZREM ZINCRBY ZPOPMIN ZPOPMAX ZREMRANGEBYSCORE ZREMRANGEBYRANK XADD XDEL XTRIM""".split())
_ALL_KEYS = {"DEL", "UNLINK", "EXISTS", "MGET", "WATCH"}
_NOBODYS = {"PING", "ECHO", "CLIENT", "HELLO", "AUTH", "SELECT", "UNWATCH", "READONLY", "TIME", "INFO", "COMMAND"}
BLOCKING = {"BLPOP": "LPOP", "BRPOP": "RPOP"}


def word_of(command: Any) -> str:
    text = command.decode() if isinstance(command, bytes) else str(command)
    return text.split()[0].upper()


def keys_of(command: tuple[Any, ...]) -> list[str] | None:
    """The keys of a command; none, if they are not known."""
    word = word_of(command[0])
    if word in _NOBODYS:
        return []
    if word not in READS and word not in _WRITES:
        return None
    given = command[1:] if word in _ALL_KEYS else command[1:2]
    return [key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key) for key in given]


def _server(client: Any) -> str:
    options = client.connection_pool.connection_kwargs
    return f"redis {options.get('host', options.get('path', ''))}:{options.get('port', '')}/{options.get('db', 0)}"


def resource_of(client: Any, keys: list[str] | None) -> str:
    if (keys is None or len(set(keys)) > 1) and _drawloom.is_parallel():
        _drawloom.learn(WHOLE)
    if _drawloom.is_known(WHOLE) or not keys:
        return _server(client)
    return f"key {keys[0]} of {_server(client)}"


def note(command: tuple[Any, ...]) -> None:
    keys = keys_of(command) or []
    kind = "read" if word_of(command[0]) in READS else "write"
    if keys:
        history.note(object(), Statement(kind, tuple((key, None) for key in keys)))


@contextlib.contextmanager
def talking() -> Iterator[None]:
    """What goes over sockets meanwhile is known already."""
    me = _drawloom.task()
    _links.talking.add(me)
    try:
        yield
    finally:
        _links.talking.discard(me)


def _natively(function: Any, *arguments: Any, **options: Any) -> Any:
    def call() -> Any:
        with talking():
            return function(*arguments, **options)

    return _drawloom.unobserved(call)


def _one(native: Any, self: Any, command: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if not _drawloom.is_controlled():
        return native(self, *command, **options)
    word = word_of(command[0])
    if word in BLOCKING and _drawloom.is_parallel():
        return _wait_for_item(self, BLOCKING[word], command)
    keys, write = keys_of(command), word not in READS
    if keys != []:
        name = resource_of(self, keys)
        _drawloom.touch(name, write)
    try:
        return _natively(native, self, *command, **options)
    finally:
        if keys != []:
            note(command)
            if write and _drawloom.is_parallel():
                waits.over(name)


def _wait_for_item(self: Any, word: str, command: tuple[Any, ...]) -> Any:
    """`BLPOP` and the like: whoever adds something is waited for."""
    *keys, timeout = command[1:]
    name = resource_of(self, [str(key) for key in keys])

    def attempt() -> Any:
        for key in keys:
            value = _natively(_execute, self, word, key)
            if value is not None:
                decodes = isinstance(value, str)
                return (key if decodes or isinstance(key, bytes) else str(key).encode()), value
        return NOT_YET

    found = waits.until(name, attempt, float(timeout) or None)
    note((word, *keys))
    return None if found is NOT_YET else found


def execute_command(self: Any, *command: Any, **options: Any) -> Any:
    return _one(_execute, self, command, options)


def immediate_execute_command(self: Any, *command: Any, **options: Any) -> Any:
    if word_of(command[0]) == "WATCH" and _drawloom.is_controlled():
        self.__dict__.setdefault("drawloom_watched", []).extend(keys_of(command) or [])
    return _one(_at_once, self, command, options)


def execute_all(self: Any, *arguments: Any, **options: Any) -> Any:
    """`Pipeline.execute`: all of its commands are one step."""
    if not _drawloom.is_controlled() or not (self.command_stack or self.watching):
        return _execute_all(self, *arguments, **options)
    commands = [command for command, _ in self.command_stack]
    known = [keys_of(command) for command in commands]
    keys = self.__dict__.pop("drawloom_watched", []) + [key for each in known for key in each or ()]
    name = resource_of(self, None if None in known else keys)
    _drawloom.touch(name, True)
    try:
        return _natively(_execute_all, self, *arguments, **options)
    finally:
        for command in commands:
            note(command)
        if _drawloom.is_parallel():
            waits.over(name)


def patches() -> list[Patch]:
    """What takes the place of what; locks and clocks of the driver are none of the program's."""
    client, pipeline = redis.client.Redis, redis.client.Pipeline
    replaced: list[Patch] = [
        (client, "execute_command", execute_command), (pipeline, "immediate_execute_command", immediate_execute_command),
        (pipeline, "execute", execute_all),
    ]
    own = types.SimpleNamespace(**{**vars(threading), **_sync.NATIVE_LOCKS})
    clock = types.SimpleNamespace(**{**vars(time), **{name: _clock.native(name) for name in ("monotonic", "time")}})
    for name in ("client", "connection", "event", "retry"):
        module = sys.modules.get(f"redis.{name}")
        for attribute, value in (("threading", own), ("time", clock)):
            if isinstance(getattr(module, attribute, None), types.ModuleType):
                replaced.append((module, attribute, value))
    return [*replaced, *_of_tasks().patches()]


def _of_tasks() -> Any:
    return importlib.import_module("._redis_async", __package__)


def finish() -> None:
    """The exploration is over."""
    _of_tasks().finish()
