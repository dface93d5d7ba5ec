"""Orders in which threads pass markers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _drawloom

Markers = Mapping[str, "Sequence[str] | tuple[Any, Sequence[str]]"]
"""Threads by name: the markers of each, in order; or its function and its markers."""


BEGINS, GOES_ON = _drawloom.BEGINS, _drawloom.GOES_ON
"""Steps besides markers, where locks make it matter which thread starts first and which one takes a free lock."""


@dataclass(frozen=True)
class Step:
    """A thread passes a marker."""

    execution_name: str
    marker_name: str

    @property
    def is_marker(self) -> bool:
        """Whether it is one of the source, and neither `BEGINS` nor `GOES_ON`."""
        return self.marker_name not in (BEGINS, GOES_ON)


@dataclass(frozen=True)
class Schedule:
    """Who passes which marker, one after the other."""

    steps: list[Step] = field(default_factory=list)

    def __str__(self) -> str:
        return " → ".join(f"{step.execution_name}.{step.marker_name}" for step in self.steps)


def markers_of(threads: Markers) -> dict[str, list[str]]:
    """The markers of each thread."""

    def markers(told: Any) -> list[str]:
        return list(told[1] if isinstance(told, tuple) and callable(told[0]) else told)

    return {name: markers(told) for name, told in threads.items()}


def all_marker_schedules(threads: Markers) -> list[Schedule]:
    """All orders that keep each thread's own: as many as the multinomial coefficient says."""
    return [Schedule(steps) for steps in _orders(markers_of(threads), [])]


def _orders(left: dict[str, list[str]], before: list[Step]) -> Iterator[list[Step]]:
    if not any(left.values()):
        yield before
        return
    for name, markers in left.items():
        if markers:
            yield from _orders({**left, name: markers[1:]}, [*before, Step(name, markers[0])])


def marker_schedule_strategy(threads: Markers) -> Any:
    """A Hypothesis strategy of such orders; they shrink towards one thread after the other."""
    from hypothesis import strategies

    markers = markers_of(threads)
    total = sum(map(len, markers.values()))

    @strategies.composite
    def schedules(draw: Any) -> Schedule:
        left = {name: list(of) for name, of in markers.items()}
        steps = []
        for _ in range(total):
            able = [name for name, of in left.items() if of]
            name = able[draw(strategies.integers(0, len(able) - 1))] if len(able) > 1 else able[0]
            steps.append(Step(name, left[name].pop(0)))
        return Schedule(steps)

    return schedules()
