"""Pools of threads: `ThreadPoolExecutor` with as few steps as it needs.

All that threads of a pool share is touched under one lock of the engine, so the order in which they take it says all.
Futures are those of the standard library, of which the same is true.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import _base, thread
from typing import Any

from . import _drawloom
from ._patching import Patch
from ._torn_down import TornDown

Pool = thread.ThreadPoolExecutor
_native_init = Pool.__init__
_native_submit: Any = Pool.submit
_native_shutdown: Any = Pool.shutdown
_native_init_of_future = _base.Future.__init__
_native_counter: Any = Pool._counter  # type: ignore[attr-defined]
_numbers: Iterator[int] = itertools.count()
_counts: Iterator[int] = itertools.count()


def begin_execution() -> None:
    """Names and numbers begin anew."""
    global _numbers, _counts
    _numbers, _counts = itertools.count(), itertools.count()


def _count() -> int:
    number: int = next(_counts) if _drawloom.is_controlled() else _native_counter()
    return number


def _init(self: Any, *args: Any, **options: Any) -> None:
    _native_init(self, *args, **options)
    if not _drawloom.is_controlled():
        return
    prepared: Any = getattr(self, "_create_worker_context", None)  # from 3.14 on
    if prepared is not None:
        if type(self).prepare_context.__func__ is not Pool.prepare_context.__func__:  # type: ignore[attr-defined]
            _drawloom.give_up("a pool whose jobs run elsewhere, such as in other interpreters")
        context = prepared()
        self._initializer, self._initargs = context.initializer, context.initargs
    self._drawloom = threading.Condition(threading.Lock())
    self._jobs = deque()
    self._idle = 0
    # In place of a set, in which they would lie in any order.
    self._threads = []


def _submit(self: Any, function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    if "_drawloom" not in self.__dict__:
        return _native_submit(self, function, *args, **options)  # it was made before, and so were its threads
    with self._drawloom:
        if self._broken:
            raise thread.BrokenThreadPool(self._broken)
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Any = _base.Future()
        self._jobs.append((future, function, args, options))
        if self._idle < len(self._jobs) and len(self._threads) < self._max_workers:
            name = f"{self._thread_name_prefix or self}_{len(self._threads)}"
            serving = threading.Thread(name=name, target=_serve, args=(self,))
            self._threads.append(serving)
            serving.start()
        else:
            self._drawloom.notify()
    return future


def _serve(pool: Any) -> None:
    try:
        if pool._initializer is not None:
            pool._initializer(*pool._initargs)
    except TornDown:
        raise
    except BaseException:
        return _break(pool)
    while (job := _next_job(pool)) is not None:
        _run(*job)
        del job


def _next_job(pool: Any) -> Any:
    with pool._drawloom:
        pool._idle += 1
        while not pool._jobs and not pool._shutdown:
            pool._drawloom.wait()
        pool._idle -= 1
        return pool._jobs.popleft() if pool._jobs else None


def _run(future: Any, function: Callable[..., Any], args: Any, options: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*args, **options)
    except TornDown:
        raise
    except BaseException as exception:
        future.set_exception(exception)
    else:
        future.set_result(result)


def _break(pool: Any) -> None:
    with pool._drawloom:
        pool._broken = "A thread initializer failed, the thread pool is not usable anymore"
        jobs, pool._jobs = pool._jobs, deque()
    for future, *_ in jobs:
        future.set_exception(thread.BrokenThreadPool(pool._broken))


def _shutdown(self: Any, wait: bool = True, *, cancel_futures: bool = False) -> None:
    if "_drawloom" not in self.__dict__:
        return _native_shutdown(self, wait, cancel_futures=cancel_futures)  # type: ignore[no-any-return]
    with self._drawloom:
        self._shutdown = True
        jobs: deque[Any] = deque()
        if cancel_futures:
            jobs, self._jobs = self._jobs, jobs
        self._drawloom.notify_all()
        threads = list(self._threads)
    for future, *_ in jobs:
        future.cancel()
    if wait:
        for each in threads:
            each.join()


def _init_of_future(self: Any) -> None:
    if _drawloom.is_controlled():
        self._drawloom_number = next(_numbers)
    _native_init_of_future(self)


def _number(future: Any) -> int:
    number = getattr(future, "_drawloom_number", None)
    return id(future) if number is None else number


def _hash(future: Any) -> int:
    number = getattr(future, "_drawloom_number", None)
    # One from beside has the hash it had before: it may lie in a set.
    return object.__hash__(future) if number is None else number


def is_worker(of_thread: Any) -> bool:
    """Whether a thread serves a pool: in the end it is sent home, or left alone."""
    return getattr(of_thread, "_target", None) is _serve


PATCHES: list[Patch] = [
    (Pool, "_counter", staticmethod(_count)),
    (Pool, "__init__", _init),
    (Pool, "submit", _submit),
    (Pool, "shutdown", _shutdown),
    # Sets of futures are gone through, and their locks taken, in the order in which they were made.
    (_base.Future, "__init__", _init_of_future),
    (_base.Future, "__hash__", _hash),
    (_base, "id", _number),
]
