"""Explorations of programs with coroutines: of the workers one runs at a time, from await to await."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from .. import _drawloom, _invariant, _naming, _sync
from .._patching import Patch
from ._host import Host
from ._knowledge import Knowledge

BACKENDS = ("asyncio", "trio")


def is_async(function: Any) -> bool:
    """Whether a callable is known to return a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def backend_of(asked: str | None) -> str:
    """Whose event loop coroutines are to run in: the one that was asked for, or the one that runs."""
    if asked is None:
        trio = sys.modules.get("trio._core._run")
        return "trio" if trio is not None and hasattr(trio.GLOBAL_RUN_CONTEXT, "runner") else "asyncio"
    if asked not in BACKENDS:
        raise ValueError(f"backend is one of {', '.join(map(repr, BACKENDS))}, not {asked!r}")
    return asked


def _library(name: str) -> Any:
    """The module that knows how tasks of a library are run. trio is imported by who uses it."""
    return importlib.import_module(f"._{'trio' if name == 'trio' else 'loop'}", __package__)


class AsyncProgram:
    """What every execution runs."""

    def __init__(self, setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any,
                 describe: Callable[[BaseException], tuple[str, str]], foretold: str | None, library: str) -> None:
        self.setup, self.workers, self.invariant, self.describe = setup, workers, invariant, describe
        self.is_awaited, self.broken = is_async(invariant), _invariant.broken_of(invariant)
        self.knowledge = Knowledge(foretold)
        module = _library(library)
        self.host: Callable[..., Host] = module.Loop
        self.patches: list[Patch] = module.PATCHES

    def __call__(self) -> None:
        _sync.begin_execution()
        self.host(self.knowledge, self.describe).run(self._main)

    def _main(self, loop: Host) -> None:
        state = self._alone(loop, self.setup(), "setup")
        awaited = [worker(state) for worker in self.workers]
        loop.names.find_all(state, *self.workers)
        loop.name_resources()
        tasks = []
        for worker, each in zip(self.workers, awaited):
            tasks.append(loop.bring(each, _naming.of_worker(worker)))
            loop.tasks[tasks[-1]].is_worker = True
        loop.let_in()
        for task in tasks:
            loop.join(task)
        self._leave(loop, len(tasks))
        if self.invariant is not None and _drawloom.is_broken(self._alone(loop, self._asked(state), "invariant")):
            raise AssertionError(_drawloom.unobserved(lambda: self.broken(state)))
        _drawloom.guests_dismissed()

    def _asked(self, state: Any) -> Any:
        # A coroutine that is made while the execution ends would be lost, and be told of.
        return _drawloom.unobserved(lambda: self.invariant(state)) if self.is_awaited else self.invariant(state)

    def known(self) -> tuple[str, str | None]:
        """What a token has to say of it besides, and what is not known of it."""
        return f"~{self.knowledge.write()}", self.knowledge.unknown

    def _leave(self, loop: Host, workers: int) -> None:
        """As event loops do: what still waits or sleeps when the workers are done is cancelled."""
        if len(loop.guests) > workers:
            loop.quieten()
        _drawloom.guests_have_left()
        left = [task for task in loop.tasks if not loop.is_done(task)]
        if left:
            loop.bring(loop.cancel(left), "end")
            loop.let_in()
            for task in left:
                loop.join(task)
            _drawloom.guests_have_left()
        failed = loop.unretrieved()
        if failed is not None:
            loop.fail(*failed)

    def _alone(self, loop: Host, value: Any, name: str) -> Any:
        """What a function of the test has come to, awaited if need be."""
        if not hasattr(type(value), "__await__"):
            return value
        begun: list[Any] = []
        try:
            task = loop.bring(_awaited(value, begun), name)
            loop.tasks[task].is_alone = True
            loop.let_in()
            loop.join(task)
        finally:
            # The execution may be over before it has begun, and nobody is to be told of that.
            if not begun and isinstance(value, types.CoroutineType):
                value.close()
        _drawloom.guests_have_left()
        return loop.result_of(task)


async def _awaited(value: Any, begun: list[Any]) -> Any:
    begun.append(value)
    return await value
