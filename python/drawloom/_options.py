"""The options of an exploration, as types."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal, TypedDict

Clock = Literal["quiescent", "explore"]
"""When timers fire: only when no task can run, or at any time."""


class Options(TypedDict, total=False):
    """What `explore` takes by keyword, besides `setup`, `workers` and `invariant`. Its docstring says what each option means."""

    count: int | None
    strategy: str
    backend: Literal["asyncio", "trio"] | None
    name: str | None
    replay: str | None
    stuck_after: float | None
    iterations: int | None
    executions: int | None
    seed: int | None
    timeout: float | str | None
    keep_going: bool | None
    max_steps: int | None
    max_schedules: int | None
    preemptions: int | None
    depth: int | None
    shrink: bool | Literal["full"] | None
    fixes: int | None
    clock: Clock | None


def refuse_unknown(function: str, options: Iterable[str]) -> None:
    """Raises TypeError if one of `options` does not exist, and names a similar one."""
    known = Options.__annotations__
    for name in options:
        if name not in known:
            similar = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {similar[0]!r}?" if similar else f"; it takes {', '.join(sorted(known))}"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
