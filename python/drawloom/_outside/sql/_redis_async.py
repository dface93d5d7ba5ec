"""`redis.asyncio`: as `_redis`, for tasks of an event loop.

What connections do to sockets they do in a loop of their own, at once: the server's answer is awaited within the piece that
asks. Others may run before the command gets there, and before its answer is seen, so it is a piece of its own.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
from asyncio import events
from collections.abc import Callable, Coroutine
from typing import Any

import redis
import redis.asyncio

from ... import _drawloom, _running
from ..._patching import Patch
from .._aside import Aside, coming, is_explored
from .._waits import waits
from ._redis import BLOCKING, READS, keys_of, note, resource_of, talking, word_of

_Selector: Any = selectors.DefaultSelector
_client: Any = redis.asyncio.client.Redis
_pipeline: Any = redis.asyncio.client.Pipeline
_connection: Any = redis.asyncio.connection.AbstractConnection
_execute, _at_once, _execute_all = _client.execute_command, _pipeline.immediate_execute_command, _pipeline.execute
_OF_CONNECTIONS = ("connect", "connect_check_health", "disconnect", "send_packed_command", "read_response", "can_read_destructive",
                   "check_health")


class _Loop(asyncio.SelectorEventLoop):
    """One that needs no threads."""

    async def getaddrinfo(self, *arguments: Any, **options: Any) -> Any:
        return socket.getaddrinfo(*arguments, **options)


class _Private:
    """The loop in which connections live."""

    def __init__(self) -> None:
        self.loop: Any = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return _drawloom.unobserved(lambda: self._run(coroutine))

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        with talking():
            before = _running.set_aside()
            try:
                if self.loop is None:
                    self.loop = _Loop(_Selector())
                return self.loop.run_until_complete(coroutine)
            finally:
                _running.resume(before)

    def close(self) -> None:
        loop, self.loop = self.loop, None
        if loop is not None:
            loop.close()


_private = _Private()


def _at_once_in_private(native: Callable[..., Any]) -> Callable[..., Any]:
    async def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if events._get_running_loop() is _private.loop or not _is_explored():
            return await native(self, *arguments, **options)
        return _private.run(native(self, *arguments, **options))

    return method


def _is_explored() -> bool:
    return is_explored("redis.asyncio")


async def _one(native: Any, self: Any, command: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if not _is_explored():
        return await native(self, *command, **options)
    word = word_of(command[0])
    if word in BLOCKING:
        return await _wait_for_item(self, BLOCKING[word], command)
    keys = keys_of(command)
    return await _asked(self, keys, word not in READS, [command], native(self, *command, **options))


async def _asked(self: Any, keys: list[str] | None, write: bool, commands: list[tuple[Any, ...]], asking: Any,
                 wakes: bool = True) -> Any:
    """A piece that asks the server, and wakes who waits for what it changes."""
    try:
        await asyncio.sleep(0)
    except BaseException:
        asking.close()
        raise
    name = None if keys == [] else resource_of(self, keys)
    if name is not None:
        _drawloom.touch(name, write)
    try:
        came_to = await Aside(asking, expected=False)
    except redis.RedisError:
        await asyncio.sleep(0)
        raise
    finally:
        if name is not None:
            for command in commands:
                note(command)
            if write and wakes:
                waits.over(name)
    await asyncio.sleep(0)
    return came_to


async def _wait_for_item(self: Any, word: str, command: tuple[Any, ...]) -> Any:
    """`BLPOP` and the like: whoever adds something is waited for."""
    *keys, timeout = command[1:]
    loop = asyncio.get_running_loop()
    end = loop.time() + float(timeout) if float(timeout) else None
    name = resource_of(self, [str(key) for key in keys])
    while True:
        added, come = coming()
        waits.tell(name, come)
        for key in keys:
            value = await _asked(self, [str(key)], True, [(word, key)], _execute(self, word, key), wakes=False)
            if value is not None:
                decodes = isinstance(value, str)
                return (key if decodes or isinstance(key, bytes) else str(key).encode()), value
        await asyncio.wait({added}, timeout=None if end is None else end - loop.time())
        _drawloom.guest_touch(added, False)
        if not added.done():
            return None


async def execute_command(self: Any, *command: Any, **options: Any) -> Any:
    return await _one(_execute, self, command, options)


async def immediate_execute_command(self: Any, *command: Any, **options: Any) -> Any:
    if word_of(command[0]) == "WATCH" and _drawloom.is_controlled():
        self.__dict__.setdefault("drawloom_watched", []).extend(keys_of(command) or [])
    return await _one(_at_once, self, command, options)


async def execute_all(self: Any, *arguments: Any, **options: Any) -> Any:
    """`Pipeline.execute`: all of its commands are one step."""
    if not _is_explored() or not (self.command_stack or self.watching):
        return await _execute_all(self, *arguments, **options)
    commands = [command for command, _ in self.command_stack]
    known = [keys_of(command) for command in commands]
    keys = self.__dict__.pop("drawloom_watched", []) + [key for each in known for key in each or ()]
    return await _asked(self, None if None in known else keys, True, commands, _execute_all(self, *arguments, **options))


def patches() -> list[Patch]:
    """What takes the place of what."""
    replaced: list[Patch] = [
        (_client, "execute_command", execute_command), (_pipeline, "immediate_execute_command", immediate_execute_command),
        (_pipeline, "execute", execute_all),
    ]
    of_connections = [name for name in _OF_CONNECTIONS if name in vars(_connection)]
    return replaced + [(_connection, name, _at_once_in_private(vars(_connection)[name])) for name in of_connections]


def finish() -> None:
    """The exploration is over."""
    _private.close()
