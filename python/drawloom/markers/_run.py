"""Threads that take turns at markers, under the engine.

They are tasks like those of any exploration. But only passing a marker is a step, on one resource on which all of them
conflict, so the orders of markers are explored. In between a thread runs alone and unobserved. A thread that must wait, for
example for a lock, ends its turn and continues in a later one.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import _chance, _clock, _drawloom, _looking, _loops, _outside, _real_time, _sync
from .._outside import _socket_waits
from .._patching import Patch, in_place
from .._torn_down import TornDown
from ._schedule import Step

Bodies = Mapping[str, Callable[[], Any]]
Limits = tuple["float | None", "float | None"]


class ScheduleError(TimeoutError):
    """The order of markers is impossible."""


class MarkerDeadlock(ScheduleError):
    """Threads wait for each other, whatever the order of markers."""


class Turn(NamedTuple):
    """What a thread has passed, and where."""

    step: Step
    file: str
    line: int


class Standing(NamedTuple):
    """The state of a blocked thread."""

    name: str
    state: str
    """`turn` (that it waits for), `lock`, `waits` (for something else) or `ended`."""
    what: str
    file: str
    line: int

    def __str__(self) -> str:
        at = f" at {self.file}:{self.line}" if self.line else ""
        if self.state == "turn":
            is_marker = Step(self.name, self.what).is_marker
            return f"{self.name} is at marker {self.what!r}{at}" if is_marker else f"{self.name} is ready{at}"
        return f"{self.name} waits for a lock{at}" if self.state == "lock" else f"{self.name} waits ({self.what}){at}"


class Execution:
    """What threads do once."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.errors: dict[str, BaseException] = {}
        self.found: str | None = None
        self.turns: list[Turn] = []
        self.stood: list[Standing] = []

    def run(self) -> None:
        """Has them run to their ends, as main does."""
        tasks = [_drawloom.spawn_marked(functools.partial(self._run, *body), body[0]) for body in self.bodies.items()]
        for task in tasks:
            _drawloom.join(task)

    def _run(self, name: str, body: Callable[[], Any]) -> None:
        try:
            body()
        except TornDown:
            raise
        except BaseException as error:
            self.errors[name] = error

    def ended(self, found: str | None, passed: Sequence[tuple[str, str, str, int]], stood: Sequence[Any]) -> None:
        """The engine is done with it: in a word, if not all is well."""
        self.found = found
        self.turns = [Turn(Step(name, what), file, line) for name, what, file, line in passed]
        self.stood = [Standing(*standing) for standing in stood]

    def raised(self) -> dict[str, BaseException]:
        """What threads have raised, in their order."""
        return {name: self.errors[name] for name in self.bodies if name in self.errors}

    def stuck(self, timeout: float | None) -> ScheduleError | None:
        """Why its threads have not finished; None if they have."""
        if self.found is None:
            return None
        if self.found == "out of time":
            return ScheduleError(f"the threads did not end within {timeout} seconds")
        waiting = [str(standing) for standing in self.stood if standing.state != "ended"]
        left = {standing.name for standing in self.stood if standing.state != "ended"}
        done = [name for name in self.bodies if name not in left]
        told = "; ".join([*waiting, *([f"{', '.join(done)} ended"] if done else [])])
        if self.found in ("deadlock", "starvation"):
            return MarkerDeadlock(f"deadlock: {told}")
        locks = " (an order does not control locks)" if any(s.state == "lock" for s in self.stood) else ""
        return ScheduleError(f"this order of markers is impossible: {told}{locks}")


class Once:
    """A program that is run once: no other execution has to be like it."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution

    def __call__(self) -> None:
        begin_execution()
        self.execution.run()

    def ended(self, *told: Any) -> bool:
        """It is over, and so is all."""
        self.execution.ended(*told)
        return True


def begin_execution() -> None:
    """From now on threads take turns."""
    _sync.begin_execution()
    _loops.begin_execution()
    _drawloom.take_turns()


@contextlib.contextmanager
def under_control(
    timeout: float | None, deadlock_timeout: float, more: Sequence[Patch] = ()
) -> Iterator[tuple[Limits, tuple[float, bool, int]]]:
    """What takes the place of what, while threads take turns. How long a run may take, and others in it, if there are any; how
    long a thread may stand still, whether Ctrl-C ends it, and which signal wakes main."""
    patience = deadlock_timeout if timeout is None else min(timeout, deadlock_timeout)
    others = any(thread is not threading.current_thread() and thread.is_alive() for thread in threading.enumerate())
    peers: list[Patch] = [(_socket_waits, "others_go_on", True), (_socket_waits, "patience", int(1000 * patience))]
    with contextlib.ExitStack() as stack:
        signals = stack.enter_context(_real_time.heeded())
        patches = [*_loops.patches(), *peers, *more]
        collecting, instrumented = _real_time.collecting_between(), _looking.instrumented(by_lines=True)
        for context in (_sync.patched(patches), _outside.patched(), collecting, instrumented):
            stack.enter_context(context)
        yield (timeout, patience if others else None), (patience, *signals)


def run_in_order(
    execution: Execution,
    script: Any,
    gates: Callable[..., Any],
    timeout: float | None,
    deadlock_timeout: float,
    every_instruction: bool = False,
) -> None:
    """Makes `execution`, in the order that `script` has: `find` names the next of the ready threads, and `passed` gets
    each turn, and says whether it is one that `script` has. Raises ScheduleError if that order is impossible."""
    # Such a run is one of the real world, and may leave something behind: now is now, what is random is, and locks are those
    # that keep others out, too.
    real: list[Patch] = [(_chance, "left_alone", True), (_clock, "calendar", int(_clock.native("time")()))]
    with in_place(real), under_control(timeout, deadlock_timeout, _sync.NATIVES) as limits:
        told = _drawloom.run_in_order(Once(execution), gates, script, every_instruction, *limits)
    reason = check_real_time(told)
    stuck = execution.stuck(timeout) if reason is None else ScheduleError(reason)
    if stuck is not None:
        raise stuck


def check_real_time(told: Mapping[str, Any]) -> str | None:
    """What has kept threads from being under control, if something has. Ctrl-C is raised."""
    if told["interrupted"]:
        raise KeyboardInterrupt
    if told["unending"]:
        return str(told["unending"])
    if told["stuck"]:
        return f"a thread waits for something that is not under control: {told['stuck']}"
    return f"not modelled: {told['unsupported']}" if told["unsupported"] else None
