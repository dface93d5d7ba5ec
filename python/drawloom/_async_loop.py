"""An event loop whose order is the engine's to choose.

Each task is a guest of main (`crates/gates/src/guests.rs`), and so is each callback and each timer. asyncio's own locks,
queues, groups and timeouts run on it as they are.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import types
from asyncio import events
from collections.abc import Callable, Coroutine
from typing import Any

from . import _drawloom, _types
from ._async_knowledge import NOTHING, Knowledge, Label, Path
from ._async_names import Names, in_words
from ._clock import EPOCH
from ._code import PACKAGE
from ._drawloom import EFFECTS

_ASYNCIO = os.path.dirname(os.path.abspath(asyncio.__file__))
Place = tuple[str, int]


class Handle(asyncio.TimerHandle):
    """A callback that is to be called."""

    def __init__(self, loop: Loop, callback: Callable[..., Any], args: tuple[Any, ...], context: Any,
                 when: float | None = None) -> None:
        self._loop = loop
        self._callback, self._args = callback, args
        self._context = contextvars.copy_context() if context is None else context
        self._when = loop.time() if when is None else when
        self._cancelled = self._scheduled = False
        self._source_traceback = None
        self._repr = None

    def cancel(self) -> None:
        _drawloom.guest_touch(self, True)
        self._cancelled = True

    def cancelled(self) -> bool:
        _drawloom.guest_touch(self, False)
        return self._cancelled

    def when(self) -> float:
        return self._when


class Task(asyncio.Task):  # type: ignore[type-arg]
    """A task, whose cancellation is seen to be one."""

    def cancel(self, msg: Any = None) -> bool:
        _drawloom.guest_touch(self, True)
        waiter = self._fut_waiter  # type: ignore[attr-defined]
        if waiter is not None:
            _drawloom.guest_touch(waiter, True)
        return super().cancel(msg)


class Guest:
    """A task, a callback or a timer, as the engine sees it."""

    __slots__ = ("number", "path", "children", "pieces", "handle", "task", "is_worker", "is_alone")

    def __init__(self, path: Path, handle: Handle, task: Any) -> None:
        self.number = 0
        self.path, self.handle, self.task = path, handle, task
        self.children = self.pieces = 0
        self.is_worker = False
        # Nobody else is there, unless it brings them itself.
        self.is_alone = False

    def place(self) -> Place:
        """Where it waits, or will be called."""
        if self.task is not None:
            return place_of(self.task.get_coro())
        code = getattr(self.handle._callback, "__code__", None) if self.handle is not None else None
        return (code.co_filename, code.co_firstlineno) if code is not None else ("<callback>", 0)


def _touched_by(callback: Any) -> None:
    """Notes what a callback touches that is not written in Python: its instructions are not seen."""
    while isinstance(callback, functools.partial):
        callback = callback.func
    if isinstance(callback, types.MethodType):
        callback = callback.__func__
    if isinstance(callback, types.FunctionType) or _types.classify(callback) == EFFECTS["PURE"]:
        return
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, (list, dict, *_types.CONTAINERS)):
        _drawloom.guest_touch(owner, True)
    else:
        _drawloom.guest_unknown(f"a callback of `{getattr(callback, '__qualname__', callback)}`")


def place_of(awaits: Any) -> Place:
    """The line of the code under test at which a coroutine waits: the innermost that is not asyncio's own."""
    place: Place = ("<unknown>", 0)
    while awaits is not None:
        for prefix in ("cr", "gi", "ag"):
            if hasattr(awaits, f"{prefix}_code"):
                break
        else:
            return place
        frame, code = getattr(awaits, f"{prefix}_frame"), getattr(awaits, f"{prefix}_code")
        if place[1] == 0 or not code.co_filename.startswith((_ASYNCIO, PACKAGE)):
            place = (code.co_filename, (frame.f_lineno if frame else None) or code.co_firstlineno)
        awaits = getattr(awaits, {"cr": "cr_await", "gi": "gi_yieldfrom", "ag": "ag_await"}[prefix])
    return place


class Loop(asyncio.AbstractEventLoop):
    """The event loop of one execution."""

    def __init__(self, knowledge: Knowledge, describe: Callable[[BaseException], tuple[str, str]]) -> None:
        self.knowledge, self.names, self.describe = knowledge, Names(), describe
        self.guests: dict[int, Guest] = {}
        self.tasks: dict[Any, Guest] = {}
        self.current: Guest | None = None
        # Those that main brings about, until it lets them in.
        self.waiting: list[Guest] = []
        self.children_of_main = 0
        self.nothing = _drawloom.guest_resource("nothing that others touch")
        self.resources = [_drawloom.guest_resource(in_words(group)) for group in knowledge.groups]
        self.is_over = False
        self.handler: Callable[..., Any] | None = None
        self.factory: Callable[..., Any] | None = None

    # What main does.

    def bring(self, awaited: Coroutine[Any, Any, Any], name: str) -> Any:
        """A task of main's, which begins when it is let in."""
        return self.create_task(awaited, name=name)

    def let_in(self) -> None:
        """Lets those begin that main has brought."""
        waiting, self.waiting = self.waiting, []
        for guest in waiting:
            self._invite(guest, None)

    def join(self, task: Any) -> None:
        """Runs pieces until a task of main's has ended, and its guest with it."""
        self._run(self.tasks[task].number, 0)

    def quieten(self) -> None:
        """Runs pieces until nobody can go on before time passes."""
        self._run(None, _drawloom.guest_now() + 1)

    def _run(self, join: int | None, until: int) -> None:
        while number := _drawloom.guest_next(join, until):
            guest = self.current = self.guests[number]
            try:
                self._piece(guest)
            finally:
                _drawloom.guest_pause(True)
                self.current = None

    def _piece(self, guest: Guest) -> None:
        handle, guest.handle = guest.handle, None
        if guest.task is None:
            _drawloom.guest_touch(handle, False)
        if not handle._cancelled:
            if guest.task is None:
                _touched_by(handle._callback)
            try:
                handle._context.run(handle._callback, *handle._args)
            except BaseException as exception:  # whatever it is, it is what the guest fails with
                self._fail(guest, exception)
        key, guest.pieces = (guest.path, guest.pieces), guest.pieces + 1
        task = guest.task
        if task is not None and task.done():
            _drawloom.guest_touch(task, True)
        touched, unknown = _drawloom.guest_touched()
        _drawloom.guest_pause(True)
        if not guest.is_alone or guest.children:
            if self.knowledge.learn(key, self.names.footprint(touched, guest.path), unknown):
                _drawloom.guests_have_grown()
        if guest.handle is not None:
            _drawloom.guest_go_on(guest.number, self._foretell(guest), *guest.place())
        elif task is None or task.done():
            if guest.is_worker and not task.cancelled() and task.exception() is not None:
                self._fail(guest, task.exception())
            _drawloom.guest_go_on(guest.number, None, "", 0)
        else:
            target = self.tasks.get(task._fut_waiter)
            _drawloom.guest_suspend(guest.number, target.number if target else None, *guest.place())

    def _fail(self, guest: Guest, exception: BaseException) -> None:
        _drawloom.guest_pause(True)
        _drawloom.guest_fail(guest.number, *self.describe(exception))

    def _foretell(self, guest: Guest) -> tuple[int, bool]:
        label: Label = self.knowledge.foretell((guest.path, guest.pieces))
        group, write = label
        # Groups that have become known in this execution are the next one's.
        if group is None or group >= len(self.resources):
            return self.nothing, NOTHING[1]
        return self.resources[group], write

    def _invite(self, guest: Guest, until: int | None) -> None:
        task = guest.task
        name = task.get_name() if task is not None else "timer" if until is not None else "callback"
        guest.number = _drawloom.guest_invite(name, self._foretell(guest), until, *guest.place())
        self.guests[guest.number] = guest

    def _new_guest(self, handle: Handle, task: Any, until: int | None = None) -> None:
        parent = self.current
        if parent is None:
            self.children_of_main += 1
            guest = Guest((self.children_of_main,), handle, task)
            self.waiting.append(guest)
        else:
            parent.children += 1
            guest = Guest((*parent.path, parent.children), handle, task)
            self._invite(guest, until)
        if task is not None:
            self.tasks[task] = guest

    # What asyncio asks for.

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        handle = Handle(self, callback, args, context)
        if self.is_over:
            return handle
        task = getattr(callback, "__self__", None)
        task = task if isinstance(task, asyncio.Task) else None
        guest = self.tasks.get(task)
        if guest is None:
            self._new_guest(handle, task)
        else:
            guest.handle = handle
            if guest is not self.current and guest.number:
                _drawloom.guest_wake(guest.number, self._foretell(guest), *guest.place())
        return handle

    call_soon_threadsafe = call_soon

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        handle = Handle(self, callback, args, context, when)
        if not self.is_over:
            self._new_guest(handle, None, max(0, round((when - EPOCH) * 1e9)))
        return handle

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Handle:  # type: ignore[override]
        return self.call_at(self.time() + max(0.0, delay), callback, *args, context=context)

    def time(self) -> float:
        return EPOCH + _drawloom.guest_now() / 1e9

    def create_future(self) -> Any:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Any = None, **more: Any) -> Any:  # type: ignore[override]
        options = {} if context is None else {"context": context}
        paused = _drawloom.guest_pause(True)
        try:
            name = name or getattr(coro, "__qualname__", "task")
            if self.factory is None:
                task = Task(coro, loop=self, name=name, **options, **more)
            else:
                task = self.factory(self, coro, **options)
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
            return self._fail(self.current, exception)
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

    async def shutdown_asyncgens(self) -> None:
        """They are closed with the execution."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""

    # The end.

    def tear_down(self) -> None:
        """Closes what has not ended."""
        self.is_over = True
        for task in self.tasks:
            if not task.done():
                task._log_destroy_pending = False
                try:
                    task.get_coro().close()
                except BaseException:  # the execution is over, whatever it says
                    pass
            elif not task.cancelled():
                task.exception()  # nobody is to be told any more

    def unretrieved(self) -> tuple[Guest, BaseException] | None:
        """A task that has failed without anybody having noticed."""
        for task, guest in self.tasks.items():
            if not guest.is_worker and task.done() and task._log_traceback:
                return guest, task.exception()
        return None


def _uncontrolled(name: str) -> Callable[..., Any]:
    def refuse(self: Loop, *_args: Any, **_options: Any) -> Any:
        what = f"loop.{name}(): there are no sockets or processes in an explored event loop"
        _drawloom.give_up(what, name == "run_in_executor")

    refuse.__name__ = name
    return refuse


for _name, _method in vars(events.AbstractEventLoop).items():
    if not _name.startswith("_") and _name not in vars(Loop):
        setattr(Loop, _name, _uncontrolled(_name))
Loop.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]
