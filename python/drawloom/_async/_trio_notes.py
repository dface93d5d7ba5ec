"""What trio's loop does to tasks, nurseries and cancel scopes, noted as what the running piece touches.

The loop's own code is not seen: all that runs goes through its queue and its sets, and nobody could notice. What tasks
do to each other by way of it is in few places, and each has its note here. What trio builds on that (locks, events,
channels, limits) is seen as any other code.

That a scope or a task is put into a set or taken out of it needs none: those who go through the sets cancel what is in
them, and whether there is something to cancel is read by whoever comes in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trio import _sync
from trio._core import _run

from .. import _drawloom
from .._patching import Patch
from ._trio_waits import has_taken

# Of tasks what others can change while they wait; the rest is that of the loop.
_OF_TASKS = ("_abort_func", "_cancel_status", "_parent_nursery", "_eventual_parent_nursery")


def _noted(member: Any) -> Any:
    """An attribute of a class with slots, which is noted."""

    def get(thing: Any) -> Any:
        if _drawloom.is_controlled():
            _drawloom.guest_touch(thing, False)
        return member.__get__(thing)

    def put(thing: Any, value: Any) -> None:
        if _drawloom.is_controlled():
            _drawloom.guest_touch(thing, True)
        member.__set__(thing, value)

    return property(get, put)


def _loop() -> Any:
    """What runs the calling task, if it is explored."""
    return getattr(getattr(_run.GLOBAL_RUN_CONTEXT, "runner", None), "loop", None)


def touch(nursery: Any, write: bool) -> None:
    """Notes that a nursery is touched, if it is one of the code under test."""
    loop = _loop()
    if loop is not None and not loop.is_own(nursery):
        _drawloom.guest_touch(nursery, write)


def _touching(native: Callable[..., Any], write: bool = True) -> Callable[..., Any]:
    def method(nursery: Any, *args: Any, **options: Any) -> Any:
        touch(nursery, write)
        return native(nursery, *args, **options)

    return method


_remove_breaker = _sync.remove_parking_lot_breaker
_child_finished = _run.Nursery._child_finished
_started = _run._TaskStatus.started
_add_breaker = _sync.add_parking_lot_breaker


def _finished(nursery: Any, task: Any, came_to: Any) -> None:
    loop = _loop()
    _child_finished(nursery, task, came_to if loop is None else loop.has_ended(nursery, task, came_to))
    if loop is not None and nursery._parent_waiting_in_aexit:
        loop.waits_anew(nursery._parent_task)


def _has_taken(task: Any, lot: Any) -> None:
    """Whoever waits at `lot` waits for `task` from now on."""
    _add_breaker(task, lot)
    loop = _loop()
    if loop is None:
        return
    has_taken(loop, task, lot)
    for waiting in lot._parked:
        loop.waits_anew(waiting)


def _has_given_back(task: Any, lot: Any) -> None:
    _remove_breaker(task, lot)
    loop = _loop()
    if loop is not None and task in loop.tasks:
        loop.book.give_back(lot, loop.tasks[task].number)


def _status_started(status: Any, *value: Any) -> None:
    for nursery in (status._old_nursery, status._new_nursery):
        touch(nursery, True)
    _started(status, *value)


def _nurseries(task: Any) -> list[Any]:
    _drawloom.guest_unknown("a look at the nurseries of a task")
    return list(task._child_nurseries)


def _same(_thing: Any) -> int:
    """Sets are gone through in the order in which they were filled, wherever things lie."""
    return 0


def _slots(kind: Any, but: tuple[str, ...]) -> list[Patch]:
    names = [name for name in kind.__slots__ if name != "__weakref__" and name not in but]
    return [(kind, name, _noted(vars(kind)[name])) for name in names]


IN_ORDER: list[Patch] = [(_run.Task, "__hash__", _same), (_run.CancelStatus, "__hash__", _same)]
NOTES: list[Patch] = [
    *_slots(_run.CancelScope, ()),
    *_slots(_run.CancelStatus, ("_tasks", "_children")),
    *((_run.Task, name, _noted(vars(_run.Task)[name])) for name in _OF_TASKS),
    (_run.Nursery, "_check_nursery_closed", _touching(_run.Nursery._check_nursery_closed)),
    (_run.Nursery, "_add_exc", _touching(_run.Nursery._add_exc)),
    (_run.Nursery, "start", _touching(_run.Nursery.start)),
    (_run.Nursery, "child_tasks", property(_touching(_run.Nursery.child_tasks.fget, False))),
    (_run.Nursery, "_child_finished", _finished),
    (_run._TaskStatus, "started", _status_started),
    (_sync, "add_parking_lot_breaker", _has_taken),
    (_sync, "remove_parking_lot_breaker", _has_given_back),
    (_run.Task, "child_nurseries", property(_nurseries)),
    *IN_ORDER,
]
