"""An event loop of asyncio whose order is the engine's to choose.

asyncio's own locks, queues, groups and timeouts run on it as they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import os
import socket
import sys
import types
from asyncio import events, mixins
from collections.abc import Callable, Coroutine
from typing import Any

from .. import _drawloom, _running
from .._patching import Patch
from .._waiting import Wait
from ._host import Guest, Host, instant, now
from ._knowledge import Knowledge
from ._loop_waits import OF_LOCKS, wait_of
from ._places import all_of, touched_by
from ._sockets import OF_SERVERS, Selector, Transports, Watch

_ASYNCIO = os.path.dirname(os.path.abspath(asyncio.__file__))


class Handle(asyncio.TimerHandle):
    """A callback that is to be called."""

    def __init__(self, loop: Loop, callback: Callable[..., Any], args: tuple[Any, ...], context: Any,
                 when: float | None = None) -> None:
        self._loop = loop
        self._callback, self._args = callback, args
        self._context = contextvars.copy_context() if context is None else context
        self._when = now() if when is None else when
        self._cancelled = self._scheduled = False
        self._source_traceback = None
        self._repr = None
        # The socket that it is about, if it is.
        self.watch: Watch | None = None

    def cancel(self) -> None:
        _drawloom.guest_touch(self, True)
        self._cancelled = True

    def cancelled(self) -> bool:
        _drawloom.guest_touch(self, False)
        return self._cancelled

    def when(self) -> float:
        return self._when


class Future(asyncio.Future):  # type: ignore[type-arg]
    """A future, whose place in a set does not depend on where it lies."""

    def __init__(self, *, loop: Loop) -> None:
        self._drawloom_number = loop.number()
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._drawloom_number


class Task(asyncio.Task):  # type: ignore[type-arg]
    """The same of a task, whose cancellation is seen to be one."""

    def __init__(self, coro: Any, *, loop: Loop, **options: Any) -> None:
        self._drawloom_number = loop.number()
        super().__init__(coro, loop=loop, **options)

    def __hash__(self) -> int:
        return self._drawloom_number

    def cancel(self, msg: Any = None) -> bool:
        _drawloom.guest_touch(self, True)
        waiter = self._fut_waiter  # type: ignore[attr-defined]
        if waiter is not None:
            _drawloom.guest_touch(waiter, True)
        return super().cancel(msg)


def _nothing() -> None: ...


def _beside() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Where trio, and those who ask which library runs, have it that trio does; and what is there."""
    trio, sniffio = sys.modules.get("trio._core._run"), sys.modules.get("sniffio")
    found = [trio.GLOBAL_RUN_CONTEXT.__dict__] if trio is not None else []
    found += [sniffio.thread_local.__dict__] if sniffio is not None else []
    return [(names, dict(names)) for names in found]


def _is_same(one: Any, other: Any) -> bool:
    """Whether two things are one; methods are made anew whenever somebody asks for them."""
    if isinstance(one, types.MethodType) and isinstance(other, types.MethodType):
        return one.__func__ is other.__func__ and one.__self__ is other.__self__
    return one is other


def _all_of(handles: list[Handle]) -> None:
    for handle in handles:
        handle._callback(*handle._args)


class Loop(Host, asyncio.SelectorEventLoop):
    """The event loop of one execution; of asyncio's own it has what it does with sockets."""

    library = (_ASYNCIO,)

    def __init__(self, knowledge: Knowledge, describe: Callable[[BaseException], tuple[str, str]]) -> None:
        super().__init__(knowledge, describe)
        self.handler: Callable[..., Any] | None = None
        self.factory: Callable[..., Any] | None = None
        # The callback that runs, unless a task does.
        self.called: Handle | None = None
        self.before: tuple[_running.Running, Any, Any] = ((None, None), None, None)
        self._numbers = itertools.count()
        # What says that other libraries run.
        self.others: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._selector = Selector(self, self._ready)
        self._transports: Any = Transports()
        self._unix_server_sockets: Any = {}
        self._debug = self._closed = False
        # What is to be called one right after the other, while that is so.
        self.in_turn: list[Handle] | None = None

    def number(self) -> int:
        """Of a new future or task."""
        return next(self._numbers)

    # What the host asks for.

    def bring(self, awaited: Coroutine[Any, Any, Any], name: str | None) -> Any:
        return self.create_task(awaited, name=name)

    def carry_out(self, guest: Guest, handle: Handle) -> None:
        if guest.task is None:
            _drawloom.guest_touch(handle, False)
        if handle._cancelled or (handle.watch is not None and not handle.watch.begin_event()):
            return
        if guest.task is None:
            self.called = handle
            touched_by(handle._callback)
        try:
            handle._context.run(handle._callback, *handle._args)
        finally:
            self.called = None
        if handle.watch is not None:
            handle.watch.look(again=True)

    def _make_socket_transport(self, *arguments: Any, **options: Any) -> Any:
        """What a transport has called when it is made comes in this order, and nobody comes in between."""
        self.in_turn = handles = []
        try:
            transport = super()._make_socket_transport(*arguments, **options)  # type: ignore[misc]
        finally:
            self.in_turn = None
        self.call_soon(_all_of, handles)
        return transport

    def _ready(self, watch: Watch, handle: Any) -> Handle:
        """A socket is ready: what is to be called."""
        event = Handle(self, handle._callback, handle._args, handle._context)
        event.watch = watch
        return event

    def _asks_again(self, handle: Handle) -> bool:
        """Whether the callback that runs wants itself to be called again: it waits for others to go on."""
        called, guest = self.called, self.current
        if called is None or guest is None or guest.handle is not None or len(called._args) != len(handle._args):
            return False
        return all(map(_is_same, (called._callback, *called._args), (handle._callback, *handle._args)))

    def idle(self) -> Any:
        return Handle(self, _nothing, (), None)

    def is_done(self, task: Any) -> bool:
        return bool(task.done())

    def result_of(self, task: Any) -> Any:
        return task.result()

    def failure_of(self, guest: Guest) -> BaseException | None:
        return None if guest.task.cancelled() else guest.task.exception()

    def target_of(self, task: Any) -> Guest | None:
        return self.tasks.get(task._fut_waiter)

    def wait_of(self, guest: Guest) -> Wait | None:
        return wait_of(self, guest)

    def coroutine_of(self, task: Any) -> Any:
        return task.get_coro()

    def name_of(self, task: Any) -> str:
        return str(task.get_name())

    async def cancel(self, tasks: list[Any]) -> None:
        for task in tasks:
            task.cancel()

    def unretrieved(self) -> tuple[Guest, BaseException] | None:
        for task, guest in self.tasks.items():
            if not guest.is_worker and task.done() and task._log_traceback:
                return guest, task.exception()
        return None

    def forget(self, task: Any) -> None:
        task._log_destroy_pending = False
        super().forget(task)

    def tear_down(self) -> None:
        super().tear_down()
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.exception()  # nobody is to be told any more

    def enter(self) -> None:
        lock = mixins._global_lock  # type: ignore[attr-defined]
        self.before = _running.set_aside(), asyncio.tasks.all_tasks, lock
        self.others = _beside()
        for names, _ in self.others:
            names.clear()
        events._set_running_loop(self)
        asyncio.all_tasks = asyncio.tasks.all_tasks = self._all_tasks
        # It keeps threads apart, and there is but one.
        mixins._global_lock = contextlib.nullcontext()  # type: ignore[attr-defined]

    def leave(self) -> None:
        running, all_tasks, lock = self.before
        asyncio.all_tasks = asyncio.tasks.all_tasks = all_tasks
        mixins._global_lock = lock  # type: ignore[attr-defined]
        _running.resume(running)
        for names, values in self.others:
            names.update(values)

    def _all_tasks(self, _of: Any = None) -> set[Any]:
        _drawloom.guest_unknown("a look at all tasks")
        return {task for task in self.tasks if not task.done()}

    # What asyncio asks for.

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        handle = Handle(self, callback, args, context)
        if self.is_over:
            return handle
        task = getattr(callback, "__self__", None)
        if self.in_turn is not None:
            self.in_turn.append(handle)
        elif self._asks_again(handle):
            self.current.handle = handle  # type: ignore[union-attr]
        else:
            self.schedule(task if isinstance(task, asyncio.Task) else None, handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        handle = Handle(self, callback, args, context, when)
        _drawloom.assume_time()
        if not self.is_over:
            self.new_guest(handle, None, instant(when))
        return handle

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        return self.call_at(self.time() + max(0.0, delay), callback, *args, context=context)

    def time(self) -> float:
        _drawloom.assume_time()
        return now()

    def create_future(self) -> Any:
        return Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Any = None, **more: Any) -> Any:  # type: ignore[override]
        options = {} if context is None else {"context": context}
        paused = _drawloom.guest_pause(True)
        try:
            name = name or getattr(coro, "__qualname__", "task")
            if self.factory is None:
                task = Task(coro, loop=self, name=name, **options, **more)
            else:
                task = self.factory(self, coro, **options, **more)
                task.set_name(name)
            # The set of all tasks is written in Python: nothing of it is to run when a task is forgotten.
            asyncio.tasks._unregister_task(task)  # type: ignore[attr-defined]
            return task
        finally:
            _drawloom.guest_pause(paused)

    def set_task_factory(self, factory: Callable[..., Any] | None) -> None:  # type: ignore[override]
        self.factory = factory

    def get_task_factory(self) -> Callable[..., Any] | None:
        return self.factory

    def _timer_handle_cancelled(self, handle: Any) -> None:
        """It finds out itself."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self.is_over:
            return
        if self.handler is not None:
            return self.handler(self, context)
        self.default_exception_handler(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        if self.current is None:
            return
        exception = context.get("exception")
        if exception is not None:
            return self.fail(self.current, exception)
        _drawloom.guest_fail(self.current.number, str(context.get("message")), "")

    def set_exception_handler(self, handler: Any) -> None:
        self.handler = handler

    def get_exception_handler(self) -> Any:
        return self.handler

    def is_running(self) -> bool:
        return not self.is_over

    def is_closed(self) -> bool:
        return self.is_over

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        """There is nothing to be told."""

    async def getaddrinfo(self, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
        await asyncio.sleep(0)  # as whoever asks a thread to do it
        return socket.getaddrinfo(*arguments, **options)

    async def shutdown_asyncgens(self) -> None:
        """They are closed with the execution."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""


def _uncontrolled(name: str) -> Callable[..., Any]:
    def refuse(self: Loop, *_args: Any, **_options: Any) -> Any:
        what = f"loop.{name}(): there are no processes, pipes or signals in an explored event loop"
        _drawloom.give_up(what, name == "run_in_executor")

    refuse.__name__ = name
    return refuse


_OF_SOCKETS = """create_connection create_server create_unix_connection create_unix_server create_datagram_endpoint start_tls
 connect_accepted_socket sock_recv sock_recv_into sock_recvfrom sock_recvfrom_into sock_sendto sock_sendall sock_connect sock_accept
 add_reader remove_reader add_writer remove_writer""".split()
for _name, _method in vars(events.AbstractEventLoop).items():
    if not _name.startswith("_") and _name not in vars(Loop) and _name not in _OF_SOCKETS:
        setattr(Loop, _name, _uncontrolled(_name))


PATCHES: list[Patch] = [*OF_LOCKS, *OF_SERVERS, (asyncio.tasks, "set", all_of)]
