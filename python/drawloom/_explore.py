"""Explorations of programs with threads."""

from __future__ import annotations

import contextlib
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _code, _drawloom, _naming, _settings, _sync, _types
from ._async_explore import AsyncProgram, is_async
from ._result import Finding, Result

TOOL = 4
_DISABLE = sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None


class TornDown(BaseException):
    """Unwinds a thread whose execution is over. Not to be caught."""


def _describe(exception: BaseException) -> tuple[str, str]:
    """What was raised, and where in the code under test."""
    text = "".join(traceback.format_exception_only(type(exception), exception)).strip()
    place = ""
    for frame, line in traceback.walk_tb(exception.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith(_code.PACKAGE):
            place = f"{file}:{line}:1"
    return text, place


_drawloom.install({
    "analyse": _code.analyse,
    "classify": _types.classify,
    "describe": _describe,
    "torn_down": TornDown,
    "disable": _DISABLE,
    "pure": _types.PURE,
    "containers": _types.CONTAINERS,
    "views": _types.VIEWS,
    "locks": _types.LOCKS,
    "resumed": _types.RESUMED,
    "locals": _types.LOCALS,
    "cell": types.CellType,
    "probe": _types.Probe,
    "reentrant": _types.LOCKS[1],
    "bound_slot": type(object().__init__),
})


@contextlib.contextmanager
def instrumented() -> Iterator[None]:
    """Callbacks before each instruction, while it lasts."""
    if sys.version_info >= (3, 12):
        monitoring = sys.monitoring
        monitoring.use_tool_id(TOOL, "drawloom")
        monitoring.register_callback(TOOL, monitoring.events.INSTRUCTION, _drawloom.on_instruction)
        monitoring.set_events(TOOL, monitoring.events.INSTRUCTION)
        try:
            yield
        finally:
            monitoring.set_events(TOOL, 0)
            monitoring.register_callback(TOOL, monitoring.events.INSTRUCTION, None)
            monitoring.free_tool_id(TOOL)
    else:
        tracing = sys.gettrace()
        try:
            yield
        finally:
            sys.settrace(tracing)


class _Program:
    """What every execution runs."""

    def __init__(self, setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any) -> None:
        self.setup, self.workers, self.invariant = setup, workers, invariant
        self.names = [_naming.of_worker(worker) for worker in workers]

    def __call__(self) -> None:
        _sync.begin_execution()
        state = self.setup()
        arguments = [state]
        tasks = [_drawloom.spawn(worker, arguments, name) for worker, name in zip(self.workers, self.names)]
        for task in tasks:
            _drawloom.join(task)
        _drawloom.joined_all(len(tasks))
        if self.invariant is not None and self.invariant(state) is False:
            raise AssertionError("the invariant does not hold")

    def known(self) -> tuple[str, str | None]:
        """What a token has to say of it besides, and what is not known of it."""
        return "", None


_STRATEGIES = {"auto", "exhaustive", "random", "pos", "pct", "surw", "urw", "sequential", "round-robin", "corpus"}
_OPTIONS = {
    "executions": "iterations",
    "seed": "seed",
    "timeout": "timeout",
    "keep_going": "keep_going",
    "max_steps": "max_steps",
    "max_schedules": "max_schedules",
    "preemptions": "preemptions",
    "depth": "depth",
    "shrink": "shrink",
    "fixes": "fixes",
    "clock": "clock",
}


def _config(strategy: str, options: dict[str, Any]) -> str:
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"explore() has no option {', '.join(map(repr, unknown))}; it has {', '.join(sorted(_OPTIONS))}")
    given = {_OPTIONS[name]: value for name, value in options.items() if value is not None}
    written = ", ".join(f"{name} = {_written(value)}" for name, value in given.items())
    return f"{strategy}({written})" if written else strategy


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def explore(
    setup: Callable[[], Any],
    workers: Sequence[Callable[..., Any]] | Callable[..., Any],
    invariant: Callable[[Any], Any] | None = None,
    *,
    count: int | None = None,
    strategy: str = "auto",
    name: str | None = None,
    replay: str | None = None,
    **options: Any,
) -> Result:
    """Runs `workers` side by side on what `setup` returns, under many schedules.

    `workers` is a list, or one callable that `count` threads run. Coroutine functions are run as tasks of an event
    loop, from await to await; then `setup` and `invariant` may be some, too. `invariant` is asked in the end of each
    execution: it returns False or raises if something is wrong. An exception in a worker is a finding, too.
    """
    if callable(workers):
        if count is None:
            raise TypeError("one callable as workers needs count")
        workers = [workers] * count
    elif count is not None:
        raise TypeError("count goes with one callable as workers, not with a list")
    workers = list(workers)
    name = name or _naming.of_exploration(setup, workers)
    strategy, options = _settings.overridden(strategy, options)

    def run(config: str, known: str | None = None) -> dict[str, Any]:
        of_threads, _, of_pieces = (known or "").partition("~")
        program = _program(setup, workers, invariant, None if known is None else of_pieces)
        with _sync.patched(), instrumented():
            return _drawloom.explore(
                program, config, name, None if known is None else of_threads, _naming.of_command()
            )

    def again(token: str) -> Result:
        return _result(run(*_replaying(token)), again)

    if replay is not None:
        return again(replay)
    asked = _settings.replay()
    if asked is not None:
        told = run(*_replaying(asked))
        # That of another exploration says nothing of this one.
        if "belongs to another test" not in (told["error"] or ""):
            return _settings.noted(_result(told, again))
    return _settings.noted(_result(run(_config(strategy, options)), again))


def _replaying(token: str) -> tuple[str, str | None]:
    schedule, _, known = token.partition("~")
    return f'replay(token = "{schedule}")', known


def _program(setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any, foretold: str | None) -> Any:
    if not any(map(is_async, workers)):
        return _Program(setup, workers, invariant)
    if not all(map(is_async, workers)):
        raise TypeError("workers are coroutine functions, all of them or none")
    return AsyncProgram(setup, workers, invariant, _describe, foretold)


async def explore_async(*arguments: Any, **options: Any) -> Result:
    """As `explore`, to be awaited: the event loop that runs meanwhile stands still."""
    return explore(*arguments, **options)


def _result(told: dict[str, Any], again: Callable[[str], Result]) -> Result:
    findings = [
        Finding(
            kind=_naming.of_kind(found["kind"], found["message"], found["schedule"]),
            message=found["message"],
            token=found["token"],
            schedule=found["schedule"],
            occurrences=found["occurrences"],
            preemptions=found["preemptions"],
            record=found["record"],
        )
        for found in told["findings"]
    ]
    reason = told["summary"]
    inconclusive = {"divergence", "step limit", "task limit", "nothing explored"}
    if told["error"] or told["unsupported"]:
        verdict, findings = "inconclusive", []
        reason = told["error"] or f"not modelled: {told['unsupported']}"
    elif findings and all(finding.kind in inconclusive for finding in findings):
        verdict = "inconclusive"
        reason = f"{findings[0].kind}: {findings[0].message}"
    elif findings:
        verdict = "fails"
    elif told["exhausted"]:
        verdict = "holds"
    else:
        verdict = "no_bug_found"
    return Result(
        verdict=verdict,
        reason=reason,
        executions=told["executions"],
        steps=told["steps"],
        exhausted=told["exhausted"],
        failing=told["failing"],
        findings=findings,
        coarse=told["opaque"],
        _replay=again,
    )
