"""One run of threads that pass markers: exactly one of them runs at a time.

A thread runs until it comes to a marker, has to wait for a lock, or ends; then it picks who is next, so what happens
is decided by the order of markers alone. That nobody can go on is known and not waited for. Only what waits outside
of this module's sight (a lock that was made before, a socket) is told by its standing still.
"""

from __future__ import annotations

import _thread
import dis
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from . import _locks
from ._places import MarkerRegistry
from ._schedule import BEGINS, GOES_ON, Step

_POLL = 0.01
_STILL = 5
"""Looks at a thread that stands still until it is taken for waiting."""


class ScheduleError(TimeoutError):
    """The order of markers cannot be had."""


class MarkerDeadlock(ScheduleError):
    """Threads wait for each other, whatever the order of markers."""


class Abandoned(BaseException):
    """Unwinds a thread whose run is over. Not to be caught."""


class Task:
    """A thread of a run."""

    def __init__(self, name: str, body: Callable[[], Any]) -> None:
        self.name, self.body = name, body
        self.state = "ready"  # then running, marker, blocked, outside, done
        self.marker = ""
        self.place = ("", 0)
        self.lock: Any = None
        self.timed = False
        self.pausing = False  # what it runs is this module, and none of its own
        self.ident = self.native_id = 0
        self.error: BaseException | None = None
        self.gate = _locks.allocate_lock()
        self.gate.acquire()

    def is_free(self) -> bool:
        """Whether it was blocked, and no longer is."""
        return self.state == "blocked" and not self.lock.locked()


class Run:
    """`threads` in the order that `choose` picks: it is given those that could go on, and returns one or none.

    They are `ready` to begin, at a `marker`, or were `blocked` at a lock that is free now.
    """

    def __init__(
        self,
        threads: Mapping[str, Callable[[], Any]],
        choose: Callable[[list[Task]], Task | None],
        registry: MarkerRegistry,
        deadlock_timeout: float,
    ) -> None:
        self.tasks = [Task(name, body) for name, body in threads.items()]
        self.passed: list[tuple[Step, str, int]] = []
        self.stuck: ScheduleError | None = None
        self.contended = False
        """Whether anybody had to wait for a lock."""
        self.uncontrolled = False
        """Whether anybody waited for something else."""
        self._choose, self._registry, self._patience = choose, registry, deadlock_timeout
        self._by_ident: dict[int, Task] = {}
        self._running: Task | None = None
        self._mutex = _locks.allocate_lock()
        self._over = _locks.allocate_lock()
        self._over.acquire()
        self._is_over = False
        self._abandoned = False
        self._others = 0

    def run(self, timeout: float | None = None) -> None:
        """Runs them to their ends. Raises ScheduleError if they cannot get there."""
        if _locks.current is not None:
            raise RuntimeError("threads with markers are running already")
        _locks.current = self
        try:
            with _locks.watched():
                self._others = threading.active_count()
                for task in self.tasks:
                    _thread.start_new_thread(self._thread, (task,))
                with self._mutex:
                    self._pass_on()
                self._watch(timeout)
        finally:
            _locks.current = None
        if self.stuck is not None:
            raise self.stuck

    def task(self) -> Task | None:
        """That of the calling thread."""
        return self._by_ident.get(_thread.get_ident())

    def block(self, task: Task, lock: Any, timed: bool) -> bool:
        """Lets others run until `lock` may be free; false if that is not to be, and the wait has a limit."""
        task.lock, task.timed, self.contended = lock, timed, True
        self._pause(task, "blocked")
        return task.timed == timed

    def released(self) -> None:
        """A lock is free: if nobody runs, somebody may now."""
        if self._running is None and not self._is_over and self.task() is None:
            with self._mutex:
                if self._running is None:
                    self._pass_on()

    def _thread(self, task: Task) -> None:
        task.ident, task.native_id = _thread.get_ident(), _thread.get_native_id()
        self._by_ident[task.ident] = task
        task.gate.acquire()
        try:
            if not self._abandoned:
                self._follow()
                task.body()
        except Abandoned:
            pass
        except BaseException as error:
            task.error = error
        finally:
            sys.settrace(None)
            threading._active.pop(task.ident, None)  # type: ignore[attr-defined]
        with self._mutex:
            task.state = "done"
            del self._by_ident[task.ident]
            if self._running in (task, None):
                self._pass_on()

    def _follow(self) -> None:
        """From now on the calling thread stops at its markers."""
        sys.settrace(self._trace)

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        return self._trace_lines if self._registry.of_file(frame.f_code.co_filename) else None

    def _trace_lines(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            marker = self._registry.reached(frame, frame.f_lineno)
            task = self.task()
            if marker is not None and task is not None:
                task.marker, task.place = marker, (frame.f_code.co_filename, frame.f_lineno)
                self._pause(task, "marker")
        return self._trace_lines

    def _pause(self, task: Task, state: str) -> None:
        task.pausing = True
        with self._mutex:
            task.state = state
            if self._running in (task, None):
                self._pass_on()
            abandoned = self._abandoned
        if not abandoned:
            task.gate.acquire()
        task.pausing = False
        if self._abandoned:
            raise Abandoned

    def _pass_on(self) -> None:
        """Picks who is next. The mutex is held, and nobody runs."""
        self._running = None
        if self._abandoned:
            return
        task = self._next()
        if task is not None:
            self._running = task
            task.state = "running"
            task.gate.release()
        elif all(task.state == "done" for task in self.tasks):
            self._end()
        elif not self._waits_outside():
            self._give_up()

    def _next(self) -> Task | None:
        able = [task for task in self.tasks if task.state in ("ready", "marker") or task.is_free()]
        chosen = self._choose(able) if able else None
        if chosen is not None:
            what = {"ready": BEGINS, "blocked": GOES_ON}.get(chosen.state, chosen.marker)
            self.passed.append((Step(chosen.name, what), *chosen.place))
            return chosen
        if self._waits_outside():
            return None
        for task in self.tasks:
            if task.state == "blocked" and task.timed:
                task.timed = False
                return task
        return None

    def _waits_outside(self) -> bool:
        return any(task.state == "outside" for task in self.tasks) or threading.active_count() > self._others

    def _give_up(self) -> None:
        told = []
        self.uncontrolled |= self._waits_outside()
        for task in self.tasks:
            at = f" at {task.place[0]}:{task.place[1]}" if task.place[1] else ""
            if task.state == "marker":
                told.append(f"{task.name} is at marker {task.marker!r}{at}")
            elif task.state == "blocked":
                told.append(f"{task.name} waits for a lock")
            elif task.state == "outside":
                told.append(f"{task.name} waits for something that is not under control, {_place_of(task)}")
        done = [task.name for task in self.tasks if task.state == "done"]
        told += [f"{', '.join(done)} ended"] if done else []
        locked = all(task.state in ("blocked", "done") for task in self.tasks)
        kind = MarkerDeadlock if locked else ScheduleError
        first = "deadlock" if locked else "this order of markers cannot be had"
        self.stuck = kind(f"{first}: {'; '.join(told)}")
        self._end()

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._over.release()

    def _watch(self, timeout: float | None) -> None:
        """Waits for the end, and looks after who stands still."""
        stands, looks, since = None, 0, time.monotonic()
        begun = since
        while not self._over.acquire(timeout=_POLL):
            now = time.monotonic()
            running = self._running
            position = _position_of(running) if running else None
            looks = looks + 1 if position is not None and position == stands else 0
            if position != stands or running is not None and position is None:
                since = now
            stands = position
            with self._mutex:
                if looks >= _STILL and running is not None and running is self._running:
                    running.state, looks, self.uncontrolled = "outside", 0, True
                    self._pass_on()
                elif self._running is None and not self._is_over and now - since > self._patience:
                    self._give_up()
                elif timeout is not None and now - begun > timeout and not self._is_over:
                    self.stuck = ScheduleError(f"the threads did not end within {timeout} seconds")
                    self._end()
        if self.stuck is not None:
            self._abandon()

    def _abandon(self) -> None:
        with self._mutex:
            self._abandoned = True
            for task in self.tasks:
                if task.state not in ("done", "running", "outside"):
                    task.gate.release()
        for _ in range(100):
            if all(task.state in ("done", "running", "outside") for task in self.tasks):
                return
            _locks._native_sleep(_POLL)


_open = open
_CALLS = ("CALL", "PRECALL", "BEFORE_WITH", "SETUP_WITH", "SEND", "YIELD_FROM")


def _position_of(task: Task) -> tuple[int, int] | None:
    """Where a thread that sleeps in a call is; none if it may be running."""
    frame = sys._current_frames().get(task.ident)
    if frame is None or not _sleeps(task.native_id):
        return None
    opcode = frame.f_code.co_code[frame.f_lasti] if frame.f_lasti >= 0 else 0
    return (id(frame), frame.f_lasti) if dis.opname[opcode].startswith(_CALLS) else None


def _sleeps(native_id: int) -> bool:
    """Whether the system says that a thread sleeps, where it can be asked."""
    try:
        with _open(f"/proc/self/task/{native_id}/stat", encoding="ascii", errors="replace") as told:
            return told.read().rpartition(")")[2].split()[0] != "R"
    except OSError:
        return True


def _place_of(task: Task) -> str:
    frame = sys._current_frames().get(task.ident)
    return f"at {frame.f_code.co_filename}:{frame.f_lineno}" if frame else "nobody knows where"
