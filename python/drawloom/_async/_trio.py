"""A run of trio whose order is the engine's to choose.

trio's own loop runs here, a task at a time: the queue from which it takes what can go on has but the one in it that the
engine has chosen. Deadlines are timers of the engine, and a socket that is ready is an event. There are no signals, and who
wants a thread is explored in one (`_loops/_trio.py`). trio's locks, channels, nurseries and cancel scopes are as they are.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Coroutine
from typing import Any

import outcome
import sniffio
import trio
from trio._core import _parking_lot, _run

from .. import _drawloom, _running
from .._patching import Patch
from .._waiting import Others, Wait
from ._host import Guest, Host
from ._knowledge import Knowledge
from ._trio_notes import NOTES, touch
from ._trio_parts import Clock, Deadlines, EntryQueue, NoInstruments, NoSignals, Queue, Resolver, System, abandon, close
from ._trio_waits import holders_of, wait_of

_LIBRARY = tuple(os.path.dirname(os.path.abspath(str(module.__file__))) for module in (trio, outcome))


class Runner(_run.Runner):  # type: ignore[misc]
    """The state of a run."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(
            clock=Clock(), instruments=NoInstruments(), io_manager=System(loop), ki_manager=NoSignals(),
            strict_exception_groups=True, system_context=contextvars.copy_context(), runq=Queue(loop),
            deadlines=Deadlines(loop), entry_queue=EntryQueue(loop),
        )
        self.loop = loop
        # That of workers, of which nobody sees anything.
        self.nursery: Any = None
        self.system_nursery: Any = None
        Resolver.be_used(self)

    def close(self) -> None:
        """Nothing was opened."""

    async def init(self, _async_fn: Any, _args: Any) -> None:
        self.nursery = await trio.open_nursery().__aenter__()
        self.system_nursery = await trio.open_nursery().__aenter__()
        trio.CancelScope(shield=True).__enter__()
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)

    def spawn_impl(self, async_fn: Any, args: Any, nursery: Any, name: object, **options: Any) -> Any:
        if nursery is not None:
            touch(nursery, True)
        return super().spawn_impl(async_fn, args, nursery, name, **options)

    def current_statistics(self) -> Any:
        _drawloom.guest_unknown("a look at all tasks")
        return super().current_statistics()

    async def wait_all_tasks_blocked(self, cushion: float = 0.0) -> None:
        # Time passes when nobody can go on.
        await trio.sleep(max(cushion, 1e-9))


class Loop(Host):
    """The run of one execution."""

    library = _LIBRARY

    def __init__(self, knowledge: Knowledge, describe: Callable[[BaseException], tuple[str, str]]) -> None:
        super().__init__(knowledge, describe)
        self.runner = Runner(self)
        self.outcomes: dict[Any, Any] = {}
        self.passes = _run.unrolled_run(self.runner, _nothing, (), host_uses_signal_set_wakeup_fd=True)
        self.before: tuple[dict[str, Any], Any] = ({}, None)
        # What keeps the run itself going, which is no guest.
        self.root: Any = None

    def can_go_on(self, task: Any) -> None:
        """trio has put a task into its queue."""
        if self.is_over:
            return
        if task._parent_nursery is None:
            self.root = task
            return
        self.schedule(task, True)
        self.names.give(task, f"Task {'.'.join(map(str, self.tasks[task].path))}")

    def has_ended(self, nursery: Any, task: Any, came_to: Any) -> Any:
        """A task of a nursery has ended. What the nursery is told of it."""
        self.outcomes[task] = came_to
        if nursery is self.runner.system_nursery and isinstance(came_to, outcome.Error):
            if self.current is not None and not isinstance(came_to.error, trio.Cancelled):
                self.fail(self.current, came_to.error)
        return outcome.Value(None) if self.is_own(nursery) else came_to

    def is_own(self, nursery: Any) -> bool:
        """Whether the code under test knows nothing of a nursery."""
        return nursery is self.runner.nursery or nursery is self.runner.system_nursery

    # What the host asks for.

    def bring(self, awaited: Coroutine[Any, Any, Any], name: str | None) -> Any:
        return self.runner.spawn_impl(lambda: awaited, (), self.runner.nursery, name or "task")

    def carry_out(self, guest: Guest, handle: Any) -> None:
        if guest.task is None:
            handle()
        else:
            self._pass(guest.task)

    def _pass(self, task: Any) -> None:
        """trio's loop goes around once, with one task in its queue."""
        self.runner.runq.chosen = [task]
        self.passes.send([])

    def is_done(self, task: Any) -> bool:
        return task in self.outcomes

    def result_of(self, task: Any) -> Any:
        return self.outcomes[task].unwrap()

    def failure_of(self, guest: Guest) -> BaseException | None:
        return getattr(self.outcomes[guest.task], "error", None)

    def target_of(self, task: Any) -> Guest | None:
        """Who has the lock that a task waits for, or the first task of the nursery that it wants to leave."""
        lot = task.custom_sleep_data
        if isinstance(lot, _parking_lot.ParkingLot):
            breakers = _parking_lot.GLOBAL_PARKING_LOT_BREAKER.items()
            return self.tasks.get(next((owner for owner, lots in breakers if lot in lots), None))
        for nursery in task._child_nurseries[-1:]:
            if nursery._parent_waiting_in_aexit:
                return self.tasks.get(next(iter(nursery._children), None))
        return None

    def wait_of(self, guest: Guest) -> Wait | None:
        return wait_of(self, guest)

    def holders_of(self, thing: Any) -> Others:
        return holders_of(self, thing)

    def waits_anew(self, task: Any) -> None:
        """Whom a task waits for has changed, and nothing else."""
        guest = self.tasks.get(task)
        if guest is not None and guest.number and guest.handle is None and guest is not self.current:
            self.suspend(guest)

    def coroutine_of(self, task: Any) -> Any:
        return task.coro

    def name_of(self, task: Any) -> str:
        # Unless it was given one, its module and function.
        function = getattr(task.coro, "__qualname__", "")
        return str(function if function and task.name.endswith(f".{function}") else task.name)

    async def cancel(self, tasks: list[Any]) -> None:
        self.runner.system_nursery.cancel_scope.cancel()

    def forget(self, task: Any) -> None:
        close(task)

    def tear_down(self) -> None:
        # They insist on being empty when they are forgotten.
        nurseries = [nursery for task in self.runner.tasks for nursery in task._child_nurseries]
        super().tear_down()
        if self.root is not None:
            self.root.coro.close()
        abandon(self.passes, list(self.tasks), nurseries)

    def enter(self) -> None:
        context = _run.GLOBAL_RUN_CONTEXT
        self.before = dict(context.__dict__), _running.set_aside()
        context.__dict__.clear()
        context.runner = self.runner
        # In a context that is this execution's own.
        sniffio.current_async_library_cvar.set("trio")
        self.passes.send(None)
        self._pass(self.root)

    def leave(self) -> None:
        values, running = self.before
        _running.resume(running)
        context = _run.GLOBAL_RUN_CONTEXT
        context.__dict__.clear()
        context.__dict__.update(values)


async def _nothing() -> None: ...


def _no_threads(*_args: Any, **_options: Any) -> None:
    _drawloom.give_up("a thread of trio", True)


class _Bytes(bytes):
    """In place of a `memoryview`, of which it is not known what it is about."""

    def __new__(cls, data: Any) -> Any:
        if isinstance(data, bytearray):
            _drawloom.guest_touch(data, False)
        return super().__new__(cls, data)

    def __getitem__(self, of: Any) -> Any:
        return _Bytes(super().__getitem__(of))

    def __enter__(self) -> _Bytes:
        return self

    def __exit__(self, *_error: Any) -> None: ...


PATCHES: list[Patch] = [
    *NOTES,
    (trio._threads, "start_thread_soon", _no_threads),
    (trio._highlevel_socket, "memoryview", _Bytes),
]
