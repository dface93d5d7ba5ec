"""What a random program can come to, by definition: every schedule of it, without any thread and without the engine.

A program is simulated step by step. Requests for locks never block but queue; releases, waits and notifications are
nobody's choice, since they commute with all that others can do meanwhile. Two schedules are the same trace if at each
place the order of what conflicts is the same. What a place is: an attribute; an item of a dict or list, as long as
nobody looks at how many there are or at all of them while they change; else the whole container. Beginnings of schedules
that are the same trace so far are followed once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fuzz_programs import MISSING, Program, Step, start


class TooLarge(Exception):
    """There is more to a program than is worth looking at."""


@dataclass(frozen=True)
class State:
    """Where everybody is, what there is, and the trace so far."""

    at: tuple[int, ...]
    got: tuple[tuple[Any, ...], ...]
    loaded: tuple[Any, ...]
    values: dict[str, Any]
    # Who has requested a lock, in order; the first has it.
    locks: dict[str, tuple[int, ...]]
    # Who waits for a notification, in order.
    waiting: dict[str, tuple[int, ...]]
    trace: dict[Any, tuple[Any, ...]] = field(default_factory=dict)

    def signature(self) -> Any:
        return self.at, frozenset(self.trace.items())

    def is_blocked(self, thread: int) -> bool:
        """Whether it has requested a lock that another one has, or awaits a notification."""
        queues = self.locks.values()
        return any(thread in queue[1:] for queue in queues) or any(thread in queue for queue in self.waiting.values())


class Oracle:
    """All schedules of one program."""

    def __init__(self, program: Program, most_states: int = 6_000) -> None:
        self.program, self.most_states = program, most_states
        self.threads = program.threads
        # By variable: what is done to it in any schedule.
        self.facts: dict[str, set[str]] = {}
        # Whether any schedule comes to its end, where the order of keys may be looked at.
        self.ends = False
        self.is_coarse = True

    def explore(self) -> tuple[set[Any], int]:
        """All outcomes, and the number of traces."""
        self.is_coarse = True
        self._all()  # as if each container were one place: so that all is seen that is done to it
        self.is_coarse = False
        return self._all()

    def _all(self) -> tuple[set[Any], int]:
        threads = len(self.threads)
        first = State((0,) * threads, ((),) * threads, (None,) * threads, start(self.program), {}, {})
        outcomes, traces = set(), 0
        seen, pending = set(), [self._settled(first)]
        while pending:
            state = pending.pop()
            signature = state.signature()
            if signature in seen:
                continue
            seen.add(signature)
            if len(seen) > self.most_states:
                raise TooLarge
            ready = [t for t in range(threads) if self._next(state, t) is not None and not state.is_blocked(t)]
            pending += [self._settled(self._carried_out(state, t)) for t in ready]
            if not ready:
                traces += 1
                ended = all(self._next(state, t) is None for t in range(threads))
                ended = ended and not any(state.is_blocked(t) for t in range(threads))
                self.ends = self.ends or ended
                outcomes.add(self.program.outcome(state.values, state.got) if ended else "stuck")
        return outcomes, traces

    def _next(self, state: State, thread: int) -> Step | None:
        steps = self.threads[thread]
        return steps[state.at[thread]] if state.at[thread] < len(steps) else None

    def _settled(self, state: State) -> State:
        """After all that is nobody's choice."""
        moved = True
        while moved:
            moved = False
            for thread in range(len(self.threads)):
                step = self._next(state, thread)
                while step is not None and not state.is_blocked(thread) and self._place(step) is None:
                    state = self._carried_out(state, thread)
                    step = self._next(state, thread)
                    moved = True
        return state

    def _place(self, step: Step) -> Any:
        """Where a step meets others; none if nobody can notice it."""
        if step.kind == "lock":
            return "lock", step.variable
        if step.kind != "access" or step.is_guarded:
            return None
        if step.variable in ("x", "y"):
            return step.variable
        facts = self.facts.get(step.variable, set())
        if self.is_coarse or self._is_whole(step.variable, facts):
            return step.variable
        is_item = step.part is not None and step.part != "SIZE"
        return (step.variable, step.part) if is_item and facts & {"changed", "added"} else None

    def _is_whole(self, variable: str, facts: set[str]) -> bool:
        looked_at = "added" in facts and ("size" in facts or (self.ends and self.program.looks_at_order))
        return "whole" in facts or looked_at or ("all" in facts and bool(facts & {"changed", "added"}))

    def _learn(self, step: Step, before: Any) -> None:
        facts = self.facts.setdefault(step.variable, set())
        if step.part == "SIZE":
            facts.add("size")
        elif step.part is None:
            facts.add("whole" if step.write else "all")
        elif step.write:
            is_dict = isinstance(before, dict)
            facts.add("added" if is_dict and (step.removes or step.part not in before) else "changed")

    def _carried_out(self, state: State, thread: int) -> State:
        step = self._next(state, thread)
        assert step is not None
        at = with_item(state.at, thread, state.at[thread] + 1)
        state = replace(state, at=at)
        if step.kind == "lock":
            queue = state.locks.get(step.variable, ())
            state = replace(state, locks={**state.locks, step.variable: (*queue, thread)})
        elif step.kind == "unlock" or step.kind == "wait":
            queue = state.locks[step.variable]
            assert queue[0] == thread
            state = replace(state, locks={**state.locks, step.variable: queue[1:]})
            if step.kind == "wait":
                waiting = state.waiting.get(step.part, ())
                state = replace(state, waiting={**state.waiting, step.part: (*waiting, thread)})
        elif step.kind == "notify":
            waiting = state.waiting.get(step.part, ())
            state = replace(state, waiting={**state.waiting, step.part: waiting[step.count:]})
        elif step.kind == "jump":
            state = replace(state, at=with_item(at, thread, at[thread] + step.count))
        else:
            state = self._accessed(state, thread, step)
        place = self._place(step)
        if place is not None:
            reads = step.kind == "access" and not step.write
            state = replace(state, trace={**state.trace, place: extended(state.trace.get(place, ()), thread, reads)})
        return state

    def _accessed(self, state: State, thread: int, step: Step) -> State:
        before = state.values[step.variable]
        if self.is_coarse and not step.is_guarded and step.variable not in ("x", "y"):
            self._learn(step, before)
        after, loaded, got, skip = step.act(before, state.loaded[thread])
        if after is not before:
            state = replace(state, values={**state.values, step.variable: after})
        if got is not MISSING:
            state = replace(state, got=with_item(state.got, thread, (*state.got[thread], got)))
        at = with_item(state.at, thread, state.at[thread] + skip)
        return replace(state, at=at, loaded=with_item(state.loaded, thread, loaded))


def with_item(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1:])


def extended(groups: tuple[Any, ...], thread: int, reads: bool) -> tuple[Any, ...]:
    """The order at a place, with one more: reads among themselves have none."""
    if reads and groups and groups[-1][0] == "reads":
        return (*groups[:-1], ("reads", tuple(sorted((*groups[-1][1], thread)))))
    return (*groups, ("reads" if reads else "writes", (thread,)))
