"""Processes, which are not under control here: their names are there so that imports work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True)
class Subprocess:
    """What a process would run."""

    target: Any
    args: tuple[Any, ...] = ()


class CrossProcessResult:
    """The result of an exploration of processes, which is not supported."""


def explore_processes(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises: explore threads or tasks that do the same."""
    raise NotImplementedError("processes are not under control, threads and tasks are")
