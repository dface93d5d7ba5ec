"""Explorations of programs with asyncio: workers are coroutines, of which one runs at a time, from await to await."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import warnings
from asyncio import events, mixins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _drawloom, _naming, _sync
from ._async_knowledge import Knowledge
from ._async_loop import Loop


def is_async(function: Any) -> bool:
    """Whether a callable is known to return a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


class AsyncProgram:
    """What every execution runs."""

    def __init__(self, setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any,
                 describe: Callable[[BaseException], tuple[str, str]], foretold: str | None) -> None:
        self.setup, self.workers, self.invariant, self.describe = setup, workers, invariant, describe
        self.knowledge = Knowledge(foretold)

    def __call__(self) -> None:
        _sync.begin_execution()
        loop = Loop(self.knowledge, self.describe)
        with _running(loop):
            state = self._alone(loop, self.setup(), "setup")
            awaited = [worker(state) for worker in self.workers]
            loop.names.find_all(state, *self.workers)
            tasks = []
            for worker, each in zip(self.workers, awaited):
                tasks.append(loop.bring(each, _naming.of_worker(worker)))
                loop.tasks[tasks[-1]].is_worker = True
            loop.let_in()
            for task in tasks:
                loop.join(task)
            self._leave(loop, len(tasks))
            if self.invariant is not None and self._alone(loop, self.invariant(state), "invariant") is False:
                raise AssertionError("the invariant does not hold")
            _drawloom.guests_dismissed()

    def known(self) -> tuple[str, str | None]:
        """What a token has to say of it besides, and what is not known of it."""
        return f"~{self.knowledge.write()}", self.knowledge.unknown

    def _leave(self, loop: Loop, workers: int) -> None:
        """As asyncio.run does: what still waits or sleeps when the workers are done is cancelled."""
        if len(loop.guests) > workers:
            loop.quieten()
        _drawloom.guests_have_left()
        left = [task for task in loop.tasks if not task.done()]
        if left:
            loop.bring(_cancelled(left), "end")
            loop.let_in()
            for task in left:
                loop.join(task)
            _drawloom.guests_have_left()
        failed = loop.unretrieved()
        if failed is not None:
            loop._fail(*failed)

    def _alone(self, loop: Loop, value: Any, name: str) -> Any:
        """What a function of the test has come to, awaited if need be."""
        if not inspect.isawaitable(value):
            return value
        task = loop.bring(_awaited(value), name)
        loop.tasks[task].is_alone = True
        loop.let_in()
        loop.join(task)
        _drawloom.guests_have_left()
        return task.result()


async def _awaited(value: Any) -> Any:
    return await value


async def _cancelled(tasks: list[Any]) -> None:
    for task in tasks:
        task.cancel()


@contextlib.contextmanager
def _running(loop: Loop) -> Iterator[None]:
    """The loop is the one that runs, whatever ran before; what has not ended in the end is closed."""
    before, unawaited = events._get_running_loop(), warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]

    def never_awaited(coroutine: Any) -> None:
        if not loop.is_over and loop.current is not None:
            code = coroutine.cr_code
            message = f"coroutine '{coroutine.__qualname__}' was never awaited"
            _drawloom.guest_fail(loop.current.number, message, f"{code.co_filename}:{code.co_firstlineno}:1")

    def all_tasks(of: Any = None) -> set[Any]:
        _drawloom.guest_unknown("a look at all tasks")
        return {task for task in loop.tasks if not task.done()}

    every, lock = asyncio.tasks.all_tasks, mixins._global_lock  # type: ignore[attr-defined]
    events._set_running_loop(loop)
    warnings._warn_unawaited_coroutine = never_awaited  # type: ignore[attr-defined]
    asyncio.all_tasks = asyncio.tasks.all_tasks = all_tasks
    # It keeps threads apart, and there is but one.
    mixins._global_lock = contextlib.nullcontext()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        loop.tear_down()
        asyncio.all_tasks = asyncio.tasks.all_tasks = every
        mixins._global_lock = lock  # type: ignore[attr-defined]
        warnings._warn_unawaited_coroutine = unawaited  # type: ignore[attr-defined]
        events._set_running_loop(before)
