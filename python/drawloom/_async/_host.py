"""What runs tasks piece by piece, in an order that is the engine's to choose: all that event loops have in common.

Each task is a guest of main (`crates/gates/src/guests.rs`), and so is each callback and each timer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Coroutine
from typing import Any

from .. import _drawloom
from .._clock import EPOCH
from .._code import PACKAGE
from .._waiting import Others, Place, Wait
from ._again import Again
from ._knowledge import NOTHING, Knowledge, Path
from ._names import Names, in_words, parts_in_words
from ._places import place_of
from ._waits import Book, as_written, running


# Who looks so often and finds nothing lets others go first: it may wait for them.
MOST_POLLS = 4


class Guest:
    """A task, a callback or a timer, as the engine sees it."""

    __slots__ = ("number", "path", "children", "pieces", "handle", "task", "until", "is_worker", "is_alone", "polls")

    def __init__(self, path: Path, handle: Any, task: Any, until: int | None = None) -> None:
        self.number = 0
        # When it begins, if it is a timer.
        self.until = until
        # What it does when its turn has come; none while it waits.
        self.path, self.handle, self.task = path, handle, task
        self.children = self.pieces = 0
        # Pieces in a row after which it could go on at once, and by which it has changed nothing.
        self.polls = 0
        self.is_worker = False
        # Nobody else is there, unless it brings them itself.
        self.is_alone = False


class Host:
    """Runs the tasks of one execution. What a task is, and how it is resumed, its library knows."""

    # Files of the library, in which nobody under test waits.
    library: tuple[str, ...] = ()

    def __init__(self, knowledge: Knowledge, describe: Callable[[BaseException], tuple[str, str]]) -> None:
        self.knowledge, self.names, self.describe = knowledge, Names(knowledge.containers), describe
        self.guests: dict[int, Guest] = {}
        self.tasks: dict[Any, Guest] = {}
        self.current: Guest | None = None
        # Those that main brings about, until it lets them in.
        self.waiting: list[Guest] = []
        self.children_of_main = 0
        self.nothing = _drawloom.guest_resource("nothing that others touch", [])
        # Groups that become known in this execution are the next one's, and so are their parts.
        self.parts = [len(parts) for parts in knowledge.parts]
        groups = zip(knowledge.groups, knowledge.parts)
        self.resources = [_drawloom.guest_resource("", ["" for _ in parts]) for _, parts in groups]
        self.is_over = False
        # Who has which of the library's locks.
        self.book = Book()
        self.again = Again(self)
        # Timers that have not fired.
        self.timers = 0

    # What libraries do each in their own way.

    def bring(self, awaited: Coroutine[Any, Any, Any], name: str | None) -> Any:
        """A task of main's, which begins when it is let in."""
        raise NotImplementedError

    def carry_out(self, guest: Guest, handle: Any) -> None:
        """Runs a piece."""
        raise NotImplementedError

    def idle(self) -> Any:
        """What a guest does that has nothing to do."""
        raise NotImplementedError

    def is_done(self, task: Any) -> bool:
        raise NotImplementedError

    def result_of(self, task: Any) -> Any:
        """What a task of main's has returned, or raises what it has raised."""
        raise NotImplementedError

    def failure_of(self, guest: Guest) -> BaseException | None:
        """What a worker that has ended has raised."""
        raise NotImplementedError

    def target_of(self, task: Any) -> Guest | None:
        """Whose end a task waits for, if that is known."""
        return None

    def wait_of(self, guest: Guest) -> Wait | None:
        """What a task that waits waits for, if more is known than whose end."""
        return None

    def holders_of(self, thing: Any) -> Others:
        """Who has it."""
        return list(self.book.holders(thing))

    def coroutine_of(self, task: Any) -> Any:
        raise NotImplementedError

    def name_of(self, task: Any) -> str:
        raise NotImplementedError

    async def cancel(self, tasks: list[Any]) -> None:
        """Has tasks end that are left when the workers are done."""
        raise NotImplementedError

    def unretrieved(self) -> tuple[Guest, BaseException] | None:
        """A task that has failed without anybody having noticed."""
        return None

    def forget(self, task: Any) -> None:
        """Closes a task that has not ended."""
        self.coroutine_of(task).close()

    def enter(self) -> None:
        """From now on code under test finds that the library runs, whatever ran before."""
        raise NotImplementedError

    def leave(self) -> None:
        """What ran before runs again."""
        raise NotImplementedError

    # What main does.

    def run(self, main: Callable[[Host], None]) -> None:
        """Calls `main`, whose tasks run here; what has not ended in the end is closed."""
        before = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
        self.enter()
        running.append(self)
        warnings._warn_unawaited_coroutine = self._never_awaited  # type: ignore[attr-defined]
        try:
            main(self)
        finally:
            running.remove(self)
            self.tear_down()
            warnings._warn_unawaited_coroutine = before  # type: ignore[attr-defined]
            _drawloom.guests_leave_nothing()
            self.leave()

    def name_resources(self) -> None:
        """Says what reports call what pieces touch, when it is known what the program calls it."""
        for number, group, parts in zip(self.resources, self.knowledge.groups, self.knowledge.parts):
            _drawloom.guest_named(number, in_words(group, self.names), parts_in_words(parts, self.names))

    def let_in(self) -> None:
        """Lets those begin that main has brought."""
        waiting, self.waiting = self.waiting, []
        for guest in waiting:
            self._invite(guest)

    def join(self, task: Any) -> None:
        """Runs pieces until a task of main's has ended, and its guest with it."""
        self._run(self.tasks[task].number, 0)

    def quieten(self) -> None:
        """Runs pieces until nobody can go on before time passes."""
        self._run(None, _drawloom.guest_now() + 1)

    def fail(self, guest: Guest, exception: BaseException) -> None:
        _drawloom.guest_pause(True)
        _drawloom.guest_fail(guest.number, *self.describe(exception))

    def tear_down(self) -> None:
        """Closes what has not ended."""
        self.is_over = True
        for task in self.tasks:
            if not self.is_done(task):
                try:
                    self.forget(task)
                except BaseException:  # the execution is over, whatever it says
                    pass

    def _never_awaited(self, coroutine: Any) -> None:
        if not self.is_over and self.current is not None:
            code = as_written(coroutine.cr_code)
            message = f"coroutine '{coroutine.__qualname__}' was never awaited"
            _drawloom.guest_fail(self.current.number, message, f"{code.co_filename}:{code.co_firstlineno}:1")

    # Pieces.

    def _run(self, join: int | None, until: int) -> None:
        while number := _drawloom.guest_next(join, until):
            guest = self.current = self.guests[number]
            try:
                self._piece(guest)
            finally:
                _drawloom.guest_pause(True)
                self.current = None

    def _piece(self, guest: Guest) -> None:
        handle, guest.handle = guest.handle, None
        try:
            self.carry_out(guest, handle)
        except BaseException as exception:  # whatever it is, it is what the guest fails with
            self.fail(guest, exception)
        self.timers -= guest.until is not None and guest.pieces == 0
        key, guest.pieces = (guest.path, guest.pieces), guest.pieces + 1
        task = guest.task
        is_done = task is None or self.is_done(task)
        if is_done and task is not None:
            _drawloom.guest_touch(task, True)
        touched, unknown = _drawloom.guest_touched()
        _drawloom.guest_pause(True)
        if not guest.is_alone or guest.children:
            footprint = self.names.footprint(touched, guest.path)
            self.again.note(guest, touched, unknown, footprint)
            changes = unknown is not None or any(footprint.values())
            guest.polls = 0 if changes or guest.handle is None else guest.polls + 1
            if self.knowledge.learn(key, footprint, unknown):
                _drawloom.guests_have_grown()
        self.again.wake(guest)
        if self.again.is_asked(guest):
            _drawloom.guest_suspend(guest.number, None, *self.place_of(guest))
            return self.again.ask(guest)
        if guest.handle is not None:
            gives_way = guest.polls >= MOST_POLLS
            _drawloom.guest_go_on(guest.number, self.foretell(guest), gives_way, *self.place_of(guest))
        elif is_done:
            failure = self.failure_of(guest) if guest.is_worker else None
            if failure is not None:
                self.fail(guest, failure)
            _drawloom.guest_go_on(guest.number, None, False, "", 0)
        else:
            self.suspend(guest)

    def suspend(self, guest: Guest) -> None:
        """A task waits, as far as is known for another one."""
        target = self.target_of(guest.task)
        _drawloom.guest_suspend(guest.number, target.number if target else None, *self.place_of(guest))

    def foretell(self, guest: Guest) -> tuple[int, bool, int, int]:
        """What the next piece of a guest touches."""
        group, write, reads, writes = self.knowledge.foretell((guest.path, guest.pieces))
        if group is None or group >= len(self.resources) or (reads | writes) >> self.parts[group]:
            return self.nothing, NOTHING[1], 0, 0
        return self.resources[group], write, reads, writes

    # Guests.

    def schedule(self, task: Any, handle: Any) -> None:
        """A task can go on; one that is not known yet, or a callback, which is no task, comes into being."""
        guest = self.tasks.get(task)
        if guest is None:
            self.new_guest(handle, task)
        else:
            guest.handle = handle
            if guest is not self.current and guest.number:
                self.wake(guest)

    def wake(self, guest: Guest) -> None:
        """The piece that runs has ended the wait of a guest."""
        _drawloom.guest_wake(guest.number, self.foretell(guest), *self.place_of(guest))

    def new_guest(self, handle: Any, task: Any, until: int | None = None) -> Guest:
        """A guest, which begins at the instant `until` at the earliest."""
        parent = self.current
        if parent is None:
            self.children_of_main += 1
            guest = Guest((self.children_of_main,), handle, task)
            self.waiting.append(guest)
        else:
            parent.children += 1
            guest = Guest((*parent.path, parent.children), handle, task, until)
            self.timers += until is not None
            self._invite(guest)
        if task is not None:
            self.tasks[task] = guest
        return guest

    def _invite(self, guest: Guest) -> None:
        task = guest.task
        name = self.name_of(task) if task is not None else "timer" if guest.until is not None else "callback"
        guest.number = _drawloom.guest_invite(name, self.foretell(guest), guest.until, *self.place_of(guest))
        self.guests[guest.number] = guest

    def place_of(self, guest: Guest) -> Place:
        """Where a guest waits, or will be called."""
        if guest.task is not None:
            return place_of(self.coroutine_of(guest.task), (*self.library, PACKAGE))
        callback = getattr(guest.handle, "_callback", None)
        code = getattr(callback, "__code__", None)
        return (code.co_filename, code.co_firstlineno) if code is not None else ("<callback>", 0)


def now() -> float:
    """The virtual clock of a loop, in seconds."""
    return EPOCH + _drawloom.guest_now() / 1e9


def instant(when: float) -> int:
    """When that is, in nanoseconds from the first instant."""
    return max(0, round((when - EPOCH) * 1e9))
