"""The primitives of `threading`, `queue` and `time` under control, and their places while an exploration runs.

Locks and condition variables are resources of the engine. What the standard library builds of them in Python
(events, semaphores, barriers, queues, timers) it goes on building of them, and its code is seen as any other.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import contextvars
import functools
import itertools
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _chance, _clock, _drawloom, _foreign, _looking, _naming, _pools
from ._patching import Patch, in_place
from ._torn_down import TornDown

_allocate_lock = _thread.allocate_lock
_native_rlock = _thread.RLock
# For what is none of the program's.
NATIVE_LOCKS: dict[str, Any] = {"Lock": _allocate_lock, "RLock": _native_rlock}
_NativeCondition = threading.Condition
# Locks, and what waits by these alone, as they were.
NATIVES: list[Patch] = [(owner, name, getattr(owner, name)) for owner, names in (
    (threading, ("Lock", "RLock", "_allocate_lock", "Condition")), (_thread, ("allocate_lock", "RLock")),
) for name in names]
_native_local: Any = threading.local
_native_dangling: Any = threading._dangling  # type: ignore[attr-defined]
_native_counter: Any = threading._counter  # type: ignore[attr-defined]
_native_start = threading.Thread.start
_native_join = threading.Thread.join
_native_is_alive = threading.Thread.is_alive
_native_get_ident = threading.get_ident
_native_current_thread = threading.current_thread
_native_enumerate = threading.enumerate
_native_main = threading.main_thread()
_NativeSimpleQueue = queue.SimpleQueue


def make_lock() -> Any:
    return _drawloom.Lock(_allocate_lock(), False) if _drawloom.is_controlled() else _allocate_lock()


def make_rlock(*_args: Any, **_options: Any) -> Any:
    return _drawloom.Lock(_native_rlock(), True) if _drawloom.is_controlled() else _native_rlock()


class Condition:
    """`threading.Condition`, whose wait is one of the engine."""

    def __new__(cls, lock: Any = None) -> Any:
        is_ours = _drawloom.is_controlled() if lock is None else isinstance(lock, _drawloom.Lock)
        if not is_ours:
            # A lock from before the exploration, or from beside it: the standard library's own waits for others by
            # locks, too.
            return _NativeCondition(lock)
        return object.__new__(cls)

    def __init__(self, lock: Any = None) -> None:
        self._lock = make_rlock() if lock is None else lock
        self._queue = _drawloom.CondVar()
        # In which execution, and the standard library's own.
        self._by_locks: tuple[int, Any] = (0, None)
        self.acquire = self._lock.acquire
        self.release = self._lock.release
        if sys.version_info >= (3, 14):
            self.locked = self._lock.locked

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *exception: Any) -> Any:
        return self._lock.__exit__(*exception)

    def _is_owned(self) -> bool:
        return bool(self._lock._is_owned())

    def wait(self, timeout: float | None = None) -> bool:
        handed_over = self._of_handed_over()
        if handed_over is not None:
            return bool(handed_over.wait(timeout))
        self._check("wait on")
        return self._queue.wait(self._lock, timeout)

    def _of_handed_over(self) -> Any:
        """What waits by locks, if the lock is one that has no holder; none if it has."""
        if not self._lock.is_handed_over():
            return None
        if self._by_locks[0] != _drawloom.epoch():
            self._by_locks = _drawloom.epoch(), _drawloom.unobserved(lambda: _NativeCondition(self._lock))
        return self._by_locks[1]

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        end = None
        left = timeout
        result = predicate()
        while not result:
            if left is not None:
                now = time.monotonic()
                end = now + left if end is None else end
                left = end - now
                if left <= 0:
                    break
            self.wait(left)
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        handed_over = self._of_handed_over()
        if handed_over is not None:
            return handed_over.notify(n)  # type: ignore[no-any-return]
        self._check("notify on")
        for _ in range(n):
            self._queue.notify(False)

    def notify_all(self) -> None:
        handed_over = self._of_handed_over()
        if handed_over is not None:
            return handed_over.notify_all()  # type: ignore[no-any-return]
        self._check("notify on")
        self._queue.notify(True)

    notifyAll = notify_all

    def _check(self, what: str) -> None:
        if not self._lock._is_owned():
            raise RuntimeError(f"cannot {what} un-acquired lock")


def _start(self: Any) -> None:
    if not _drawloom.is_controlled():
        return _native_start(self)
    if getattr(self, "_drawloom_task", None) is not None:
        raise RuntimeError("threads can only be started once")
    self._started._flag = True
    if sys.version_info >= (3, 14) and self._context is None and sys.flags.thread_inherit_context:
        self._context = contextvars.copy_context()
    daemon = self.daemon or _pools.is_worker(self)
    if _drawloom.is_known(_COUNTED):
        _drawloom.touch(_COUNTED, True)
    _starting.append(self)
    self._drawloom_task = _drawloom.spawn(_run_thread, [self], _naming.of_thread(self), daemon)
    _threads[self._drawloom_task] = self
    _starting.remove(self)


# What `threading` takes each task for, as far as anybody has asked.
_threads: dict[int, Any] = {}
# Those whose number is not known yet to who starts them.
_starting: list[Any] = []
_hashes = [itertools.count()]
_counts = [itertools.count(1)]
_native_ids = [native for name in ("get_ident", "get_native_id") if (native := getattr(_thread, name, None)) is not None]


def begin_execution() -> None:
    """Forgets the threads of the last one, and how many there were; what is random is the same in each."""
    _foreign.install()
    _threads.clear()
    _starting.clear()
    _hashes[0] = itertools.count()
    _counts[0] = itertools.count(1)
    _chance.begin_execution()
    _pools.begin_execution()


def _run_thread(thread: Any) -> None:
    task = _drawloom.task()
    thread._ident, thread._drawloom_task = get_ident(), task
    _threads[task] = thread
    # From 3.14 on a thread may be given one, or have a copy of its parent's.
    context = getattr(thread, "_context", None)
    try:
        thread.run() if context is None else context.run(thread.run)
    except SystemExit:
        pass  # as `threading` does


def _current_thread() -> Any:
    if not _drawloom.is_controlled():
        return _native_current_thread()
    task = _drawloom.thread()
    return _native_main if task == 0 else _thread_of(task)


def _thread_of(task: int) -> Any:
    if task not in _threads:
        thread: Any = _drawloom.unobserved(lambda: threading.Thread(name=f"worker {task - 2}", daemon=False))
        thread._ident, thread._drawloom_task = ident_of(task), task
        thread._started._flag = True
        _threads[task] = thread
    return _threads[task]


def _hash(self: Any) -> int:
    """By address, the order of a set of threads would be chance."""
    if "_drawloom_hash" not in self.__dict__:
        if not _drawloom.is_controlled():
            return object.__hash__(self)
        self._drawloom_hash = next(_hashes[0])
    known: int = self._drawloom_hash
    return known


def _join(self: Any, timeout: float | None = None) -> None:
    task = getattr(self, "_drawloom_task", None)
    if task is None:
        return _native_join(self, timeout)
    if not _drawloom.is_controlled():
        return  # its execution is over
    if task == _drawloom.task():
        raise RuntimeError("cannot join current thread")
    _drawloom.join(task, timeout)


def _is_alive(self: Any) -> bool:
    task = getattr(self, "_drawloom_task", None)
    if task is None:
        return _native_is_alive(self)
    return _drawloom.is_controlled() and not _drawloom.is_finished(task)


def get_ident() -> int:
    """The same in every execution. The thread that explores keeps its own, by which objects know it that it made before."""
    task = _drawloom.thread() if _drawloom.is_controlled() else 0
    return ident_of(task) if task else _native_get_ident()


def ident_of(task: int) -> int:
    return 1_000_000 + task


class Local:
    """`threading.local`: what each task has its own of."""

    def __new__(cls, /, *args: Any, **options: Any) -> Any:
        if cls is Local and not _drawloom.is_controlled():
            return _native_local(*args, **options)
        self = object.__new__(cls)
        object.__setattr__(self, "_drawloom", ({get_ident(): {}}, args, options))
        return self

    def __getattribute__(self, name: str) -> Any:
        values = _values_of(self)
        if name == "__dict__":
            return values
        return values[name] if name in values else object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _values_of(self)[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del _values_of(self)[name]
        except KeyError:
            raise AttributeError(name) from None


def _values_of(local: Any) -> dict[str, Any]:
    of_threads, args, options = object.__getattribute__(local, "_drawloom")
    ident = get_ident()
    if ident not in of_threads:
        of_threads[ident] = {}
        # As the standard library does: a subclass begins anew in each thread.
        type(local).__init__(local, *args, **options)
    values: dict[str, Any] = of_threads[ident]
    return values


# Somebody looks at which threads there are, and who starts one is noticed by that.
_COUNTED = "threads"


def _enumerate() -> list[Any]:
    if not _drawloom.is_controlled():
        return _native_enumerate()
    if _drawloom.is_parallel():
        _drawloom.learn(_COUNTED)
        _drawloom.touch(_COUNTED, False)
    for task in _drawloom.workers():
        _thread_of(task)
    known = list(_threads.values())
    starting = [thread for thread in _starting if not any(thread is one for one in known)]
    return [_native_main, *(thread for thread in known if thread.is_alive()), *starting]


def _active_count() -> int:
    return len(_enumerate())


def _all_tasks(loop: Any = None) -> Any:
    """Of a loop under control, whoever has imported the function by name: from 3.14 on it is not written in Python."""
    return asyncio.tasks.all_tasks(loop)


class _Forgetful:
    """In place of the set of all threads, whose members take themselves out whenever they are collected. Threads beside the
    exploration are kept as ever."""

    def add(self, thread: Any) -> None:
        if not _drawloom.is_controlled():
            _native_dangling.add(thread)

    def discard(self, thread: Any) -> None:
        if not _drawloom.is_controlled():
            _native_dangling.discard(thread)


def _count() -> int:
    """Numbers of threads; those beside the exploration have their own."""
    number: int = next(_counts[0]) if _drawloom.is_controlled() else _native_counter()
    return number


# Functions in Python, which modules may have imported by name.
OF_THREADS: list[Patch] = [(threading, name, function) for name, function in (
    ("current_thread", _current_thread), ("enumerate", _enumerate), ("active_count", _active_count), ("activeCount", _active_count),
) if hasattr(threading, name)]
_PATCHES: list[Patch] = [
    *OF_THREADS,
    (threading, "_dangling", _Forgetful()),
    (threading, "Lock", make_lock),
    (threading, "RLock", make_rlock),
    (threading, "_allocate_lock", make_lock),
    (threading, "Condition", Condition),
    (threading, "_counter", _count),
    (threading, "get_ident", get_ident),
    (threading, "get_native_id", get_ident),
    (threading.Thread, "__hash__", _hash),
    (threading.Thread, "start", _start),
    (threading.Thread, "join", _join),
    (threading.Thread, "is_alive", _is_alive),
    (_thread, "allocate_lock", make_lock),
    (_thread, "RLock", make_rlock),
    (threading, "local", Local),
    (queue, "SimpleQueue", queue._PySimpleQueue),  # type: ignore[attr-defined]
    *((time, name, patch) for name, patch in _clock.PATCHES.items()),
    *_chance.PATCHES,
    *_pools.PATCHES,
    *_looking.PATCHES,
]
for _module, _name in ((queue, "time"), (threading, "_time")):
    if hasattr(_module, _name):
        _PATCHES.append((_module, _name, _clock.monotonic))
# What runs no Python code where it is not under control.
AT_ONCE: list[Any] = [make_lock, Local, queue._PySimpleQueue]  # type: ignore[attr-defined]

_SUBSTITUTES: dict[Any, Any] = {
    **_looking.SUBSTITUTES,
    _NativeSimpleQueue: queue._PySimpleQueue,  # type: ignore[attr-defined]
    asyncio.tasks.all_tasks: _all_tasks,
    **dict.fromkeys(_native_ids, get_ident),
    **dict(_clock.substitutes()),
    **dict(_chance.substitutes()),
}
SUBSTITUTED = list(_SUBSTITUTES)


def substitute(function: Any) -> Any:
    """What is called instead of a function that does not obey."""
    known = _SUBSTITUTES.get(function)
    if known is not None:
        return known
    return functools.partial(_clock.OF_DATETIME[function.__name__], function.__self__)


def _plain_repr(obj: Any) -> str:
    plain = obj is None or type(obj) in (bool, int, float, str, bytes)
    return repr(obj) if plain else f"<{type(obj).__name__}>"


def _patches_of_pytest() -> list[Patch]:
    """Assertions say what they compared, by code that is none under test: it must not look into objects."""
    rewrite, util = sys.modules.get("_pytest.assertion.rewrite"), sys.modules.get("_pytest.assertion.util")
    if rewrite is None or util is None:
        return []
    return [(rewrite, "_saferepr", _plain_repr), (util, "_reprcompare", None), (util, "_assertion_pass", None)]


def _patch_of_hook() -> Patch:
    """Exceptions of destructors are told once, by code that is none under test; not those by which we unwind threads."""
    before, told = sys.unraisablehook, False

    def hook(unraisable: Any) -> None:
        nonlocal told
        if not told and not issubclass(unraisable.exc_type, TornDown):
            told = True
            _drawloom.unobserved(lambda: before(unraisable))

    return sys, "unraisablehook", hook


@contextlib.contextmanager
def patched(more: list[Patch]) -> Iterator[None]:
    """The controlled primitives, and `more`, in place of those of the standard library."""
    resume = _chance.kept()
    with in_place([*_PATCHES, *more, *_patches_of_pytest(), _patch_of_hook()]):
        try:
            yield
        finally:
            resume()
