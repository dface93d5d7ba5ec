"""Explorations of programs with threads."""

from __future__ import annotations

import contextlib
import functools
import re
import signal
import sys
import threading
import traceback
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _code, _drawloom, _invariant, _looking, _loops, _naming, _outside, _real_time, _settings, _sync, _types, _waiting
from ._async._explore import AsyncProgram, backend_of, is_async
from ._options import Clock, Options, refuse_unknown
from ._result import Assumption, Finding, Result, Verdict
from ._torn_down import TornDown

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def _describe(exception: BaseException) -> tuple[str, str]:
    """What was raised, and where in the code under test."""
    text = _said(exception)
    # Of a group the first is told, which is where it comes from.
    while isinstance(inner := getattr(exception, "exceptions", None), tuple) and inner:
        exception = inner[0]
        if not hasattr(exception, "exceptions"):
            text = f"{text}: {_said(exception)}"
    place = ""
    for frame, line in traceback.walk_tb(exception.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith(_code.PACKAGE):
            place = f"{file}:{line}:1"
    # Where objects lie says nothing.
    return _ADDRESS.sub("at 0x…", _outside.plain(text)), place


def _said(exception: BaseException) -> str:
    kind = type(exception)
    if kind.__module__ == "builtins" and not issubclass(kind, SyntaxError) and not hasattr(exception, "__notes__"):
        # What the function below says of it, many times as fast.
        said = str(exception)
        return f"{kind.__qualname__}: {said}" if said else kind.__qualname__
    # Lines of what it comes from are not told, and to look them up would be to read files.
    before = exception.__cause__, exception.__context__, exception.__suppress_context__
    exception.__cause__ = exception.__context__ = None
    try:
        return "".join(traceback.format_exception_only(kind, exception)).strip()
    finally:
        exception.__cause__, exception.__context__, exception.__suppress_context__ = before


_drawloom.install({
    "analyse": _code.analyse,
    "classify": _types.classify,
    "substitute": _sync.substitute,
    "locate": _real_time.locate,
    "stack": _real_time.stack,
    "waits": _waiting.known,
    "nothing": _real_time.nothing,
    "describe": _describe,
    "torn_down": TornDown,
    "disable": _looking.DISABLE,
    "of_framework": _code.is_of_framework,
    "idle": lambda: None,
    "pure": _types.PURE,
    "containers": _types.CONTAINERS,
    "views": _types.VIEWS,
    "deep_views": _types.DEEP_VIEWS,
    "holders": _types.HOLDERS,
    "shown": _types.SHOWN,
    "namespace": types.SimpleNamespace,
    "resumed": _types.RESUMED,
    "locals": _types.LOCALS,
    "at_once": _sync.AT_ONCE,
    "cell": types.CellType,
    "proxies": [weakref.ProxyType, weakref.CallableProxyType],
    "mapping_proxy": types.MappingProxyType,
    "probe": _types.Probe,
    "reentrant": _types.LOCKS[1],
    "bound_slot": type(object().__str__),
    "partial": functools.partial,
    "cached": functools._lru_cache_wrapper,
    "sorted": sorted,
})


_told_of_coverage = False


def _tell_of_coverage() -> None:
    """Says once that lines of workers are not counted, where they are counted by tracing threads: that is our way, too."""
    global _told_of_coverage
    if threading.gettrace() is not None and not _told_of_coverage:
        _told_of_coverage = True
        warnings.warn(
            "coverage by `sys.settrace` does not see the workers of an exploration: their lines count as not covered. "
            "From CPython 3.12 on `COVERAGE_CORE=sysmon` measures them", RuntimeWarning, stacklevel=3)


def _seen(worker: Callable[..., Any]) -> Callable[..., Any]:
    """A function in Python that calls a worker which is none: what that does is seen where it is called."""
    if isinstance(worker, (types.FunctionType, types.MethodType)):
        return worker
    names: dict[str, Any] = {"worker": worker}
    exec(compile("def call(state): return worker(state)", "<worker>", "exec"), names)
    call: Callable[..., Any] = names["call"]
    return call


class ReplayError(ValueError):
    """A schedule cannot be replayed: its token is damaged, or that of something else."""

    is_foreign = False
    """It is that of another exploration."""


class _Program:
    """What every execution runs."""

    def __init__(self, setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any) -> None:
        self.patches = _loops.patches()
        names = [_naming.of_worker(worker) for worker in workers]
        broken = _invariant.broken_of(invariant)
        self.workers = _drawloom.Workers(setup, [_seen(worker) for worker in workers], names, invariant, broken)

    def __call__(self) -> None:
        _sync.begin_execution()
        _loops.begin_execution()
        self.workers.run()

    def known(self) -> tuple[str, str | None]:
        """What a token has to say of it besides, and what is not known of it."""
        return "", None


def _config(strategy: str, options: dict[str, Any]) -> str:
    if isinstance(options.get("timeout"), (int, float)):
        options = {**options, "timeout": f"{max(1, round(options['timeout'] * 1e9))}ns"}
    given = {name: value for name, value in options.items() if value is not None}
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
    backend: Literal["asyncio", "trio"] | None = None,
    name: str | None = None,
    replay: str | None = None,
    stuck_after: float | None = None,
    iterations: int | None = None,
    executions: int | None = None,
    seed: int | None = None,
    timeout: float | str | None = None,
    keep_going: bool | None = None,
    max_steps: int | None = None,
    max_schedules: int | None = None,
    preemptions: int | None = None,
    depth: int | None = None,
    shrink: bool | Literal["full"] | None = None,
    fixes: int | None = None,
    clock: Clock | None = None,
) -> Result:
    """Runs `workers` concurrently on the state that `setup` returns, under many schedules.

    `setup` makes a new state for each execution. `workers` is a list of functions of that state, one thread each, or one function
    that `count` threads run. Coroutine functions run as tasks of an event loop; then `setup` and `invariant` may be coroutine
    functions, too. When all workers have finished, `invariant` gets the state. It reports a failure by raising, or by returning a
    false value other than None. An exception in a worker and a deadlock are findings, too.

    Ctrl-C ends the exploration with a KeyboardInterrupt, whose `result` holds the findings so far.

    Options:
        count: the number of threads or tasks, if `workers` is one function
        strategy: "auto", "exhaustive", "random", "pos", "pct" …; the book describes each
        backend: the event loop of coroutine functions, "asyncio" or "trio"; by default the one that is running, else asyncio
        name: the name of the test in reports
        replay: the token of a schedule to repeat, instead of exploring
        stuck_after: seconds of real time after which a thread that blocks outside Drawloom's control ends the exploration
            (5 by default; 0: never)
        iterations: the number of schedules that a randomised strategy tries (1000)
        executions: the former name of `iterations`
        seed: the seed of randomised strategies
        timeout: a limit of real time, in seconds or as text such as "10s"
        keep_going: continue after a finding, and collect all distinct ones (False)
        max_steps: steps after which an execution is cut (1,000,000)
        max_schedules: the most schedules that an exhaustive exploration tries (10,000)
        preemptions: the most preemptions in a schedule of an exhaustive exploration (unlimited)
        depth: `depth` of the strategy "pct"
        shrink: minimise the failing schedule (True); "full": without a budget
        fixes: the number of schedules with which each proposed fix is tried (500); 0: do not try fixes
        clock: "quiescent": timers fire when no task can run; "explore": at any time
    """
    if iterations is not None and executions is not None:
        raise TypeError("`executions` is the former name of `iterations`: pass one of them")
    options: dict[str, Any] = {
        "iterations": iterations if executions is None else executions, "seed": seed, "timeout": timeout, "keep_going": keep_going,
        "max_steps": max_steps,
        "max_schedules": max_schedules, "preemptions": preemptions, "depth": depth, "shrink": shrink, "fixes": fixes, "clock": clock,
    }
    if callable(workers):
        if count is None:
            raise TypeError("one callable as workers needs count")
        workers = [workers] * count
    elif count is not None:
        raise TypeError("count goes with one callable as workers, not with a list")
    workers = list(workers)
    _invariant.refuse_if_it_says_nothing(invariant)
    library = backend_of(backend)
    name = name or _naming.of_exploration(setup, workers)
    strategy, options = _settings.overridden(strategy, options)

    _tell_of_coverage()

    def run(config: str, known: str | None = None, threaded: bool = False) -> dict[str, Any]:
        of_threads, _, of_pieces = (known or "").partition("~")
        threaded = threaded or of_pieces == _loops.THREADED
        program = _program(setup, workers, invariant, None if known is None else of_pieces, threaded, library)
        with contextlib.ExitStack() as stack:
            signals = stack.enter_context(_real_time.heeded())
            for context in (_sync.patched(program.patches), _outside.patched(), _real_time.collecting_between(), _looking.instrumented()):
                stack.enter_context(context)
            told = _drawloom.explore(
                program, config, name, None if known is None else of_threads, _naming.of_command(),
                (_real_time.patience(stuck_after), *signals),
            )
        if told["needs_threads"] and not threaded:
            return run(config, known, True)
        return told

    def tell(config: str, known: str | None = None) -> Result:
        return _result(_outside.with_anomalies(run, config, known), again)

    def again(token: str) -> Result:
        told = _outside.with_anomalies(run, *_replaying(token))
        if told["error"]:
            error = ReplayError(told["error"])
            error.is_foreign = told["foreign"]
            raise error
        return _result(told, again)

    if replay is not None:
        return again(replay)
    asked = _settings.replay()
    if asked is not None:
        try:
            return _settings.noted(again(asked))
        except ReplayError as error:
            # That of another exploration says nothing of this one.
            if not error.is_foreign:
                raise
    return _settings.noted(tell(_config(strategy, options)))


def _replaying(token: str) -> tuple[str, str | None]:
    schedule, _, known = token.strip().partition("~")
    if not _SCHEDULE.fullmatch(schedule) or not _KNOWN.fullmatch(known):
        raise ReplayError(f"{token!r} is not the token of a schedule: a part is missing, or it was changed")
    return f'replay(token = "{schedule}")', known


_SCHEDULE, _KNOWN = re.compile("[A-Za-z0-9_-]+"), re.compile("[01]{4,5}(;[^;]*){5,}")


def _program(setup: Callable[[], Any], workers: Sequence[Callable[..., Any]], invariant: Any, foretold: str | None,
             threaded: bool, library: str) -> Any:
    if not any(map(is_async, workers)):
        return _Program(setup, workers, invariant)
    if threaded or not all(map(is_async, workers)):
        return _loops.LoopProgram(setup, workers, invariant, is_async, library)
    return AsyncProgram(setup, workers, invariant, _describe, foretold, library)


async def explore_async(
    setup: Callable[[], Any],
    workers: Sequence[Callable[..., Any]] | Callable[..., Any],
    invariant: Callable[[Any], Any] | None = None,
    **options: Unpack[Options],
) -> Result:
    """As `explore`, with the same options, to be awaited. The running event loop stands still until the result is there."""
    refuse_unknown("explore_async", options)
    return explore(setup, workers, invariant, **options)


def _result(told: dict[str, Any], again: Callable[[str], Result]) -> Result:
    findings = [
        Finding(
            kind=found["kind"],
            message=found["message"],
            token=found["token"],
            schedule=found["schedule"],
            occurrences=found["occurrences"],
            preemptions=found["preemptions"],
            record=found["record"],
            anomaly=found.get("anomaly"),
        )
        for found in told["findings"]
    ]
    verdict: Verdict
    reason = told["summary"]
    executions = told["executions"]
    # As long as time passes only when nobody can go on, there is one behaviour where everybody else sleeps.
    alone = bool(findings) and "time" in told["assumptions"] and all(finding.kind == "nothing explored" for finding in findings)
    if alone:
        findings = []
        made = "1 execution, which had no choice" if executions == 1 else f"{executions} executions, none of which had a choice"
        reason = f"explored {made}, nothing found"
    exhausted = told["exhausted"] or alone
    # What was not followed to its end, or is not the same each time, says nothing.
    certain = [finding for finding, found in zip(findings, told["findings"]) if found["certain"]]
    if told["interrupted"]:
        executions, findings = told["made"], certain
        verdict = "fails" if findings else "no_bug_found"
        reason = f"interrupted after {executions} executions: {len(findings) or 'nothing'} found"
    elif told["unending"]:
        executions, findings = told["made"], certain
        verdict = "fails" if findings else "no_bug_found" if told["was_cut_short"] else "inconclusive"
        reason = told["unending"]
        if executions > 0:
            reason = f"out of time after {executions} executions, {len(findings) or 'nothing'} found; {reason}"
    elif told["stuck"]:
        verdict, findings = "inconclusive", []
        reason = f"uncontrolled blocking in {told['stuck']}; its thread is left behind"
    elif told["error"] or told["unsupported"]:
        verdict, findings = "inconclusive", []
        reason = told["error"] or f"not modelled: {told['unsupported']}"
    elif findings and not certain:
        verdict = "inconclusive"
        reason = f"{findings[0].kind}: {findings[0].message}"
    elif findings:
        verdict = "fails"
    elif exhausted and not told["uncontrolled"]:
        verdict = "holds"
    else:
        verdict = "no_bug_found"
    assumptions, left_behind = _assumptions(told)
    # Where they do not begin alike they need not go on alike either.
    diverged = any(finding.kind == "divergence" for finding in findings) and verdict == "inconclusive"
    if left_behind is not None and (diverged or verdict in ("holds", "no_bug_found")):
        verdict, reason = "inconclusive", left_behind
    if verdict == "holds" and assumptions:
        reason = f"{reason}; it is assumed that {', and that '.join(map(str, assumptions))}"
    if told["uncontrolled"] and verdict != "inconclusive":
        reason = f"{reason}; not under control: {told['uncontrolled']}"
    result = Result(
        verdict=verdict,
        reason=reason,
        executions=executions,
        steps=told["steps"],
        exhausted=exhausted and not told["interrupted"] and verdict != "inconclusive",
        failing=told["failing"],
        findings=findings,
        coarse=told["opaque"],
        uncontrolled=told["uncontrolled"],
        assumptions=assumptions,
        _replay=again,
    )
    if told["interrupted"]:
        _interrupt(result)
    return result


_ASSUMED = {
    "time": "time passes only when no task can run, so no timer fires early and clocks stand still until then; "
    'clock="explore" samples the other cases',
    "frameworks": "frameworks keep their promises to threads: their statements, files, sockets and locks are explored, but not "
    "memory of their own",
    "weak references": "an object is freed with its last strong reference, and cycles of garbage between executions",
}


def _assumptions(told: dict[str, Any]) -> tuple[list[Assumption], str | None]:
    """What is taken for granted; and what keeps executions from beginning alike, if something of the program does."""
    found = []
    for kind, place in told["assumptions"].items():
        found.append(Assumption(kind, f"{_ASSUMED[kind]} ({place})" if place else _ASSUMED[kind]))
    left_over: list[tuple[str, str, int, bool]] = told["left_over"]
    if left_over:
        # What is the program's own comes first: a library knows how to remember what it does.
        name, file, line, by_program = max(left_over, key=lambda found: found[3])
        where = f"`{name}` is written at {file}:{line}, and then differs from its first value"
        found.append(Assumption("module state", f"state left by earlier executions makes no difference: {where}"))
        if by_program:
            return found, f"executions do not start in the same state: {where}, so `setup` must reset it"
    if told["opaque"]:
        what = "an unknown function is one step, and touches only the program's objects"
        found.append(Assumption("C code", f"{what}: {told['opaque']}"))
    return found, None


def _interrupt(result: Result) -> None:
    """Ctrl-C was pressed: whoever would have been told is told now, with what there is so far."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return signal.raise_signal(signal.SIGINT)
    replays = [line for line in result.explanation.splitlines() if line.startswith("replay: ")] if result.findings else []
    kept = f"its findings can be replayed\n{replays[-1]}" if replays else "nothing is saved: the next run starts again"
    interrupt = KeyboardInterrupt(f"the exploration was {result.reason}; {kept}")
    interrupt.result = result  # type: ignore[attr-defined]
    _settings.noted(result)
    raise interrupt
