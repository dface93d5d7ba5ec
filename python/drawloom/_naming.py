"""What reports call explorations, workers and findings."""

from __future__ import annotations

import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

_NUMBERED = re.compile(r"Thread-\d+(?: \((.*)\))?")


def of_worker(worker: Callable[..., Any]) -> str | None:
    """The function that a worker is, or the method that a lambda calls: `lambda c: c.increment()` is `increment`."""
    while isinstance(worker, functools.partial):
        worker = worker.func
    name = getattr(worker, "__name__", type(worker).__name__)
    if name != "<lambda>":
        return str(name)
    names = worker.__code__.co_names
    return names[-1] if names else None


def of_thread(thread: Any) -> str | None:
    """The name that somebody gave a thread, or its function: numbers go on from one execution to the next."""
    numbered = _NUMBERED.fullmatch(thread.name)
    return numbered.group(1) if numbered else thread.name


_explored: dict[str, int] = {}


def of_exploration(setup: Callable[[], Any], workers: Sequence[Callable[..., Any]]) -> str:
    """The test that runs, as pytest names it; else what is explored."""
    node = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if node:
        number = _explored[node] = _explored.get(node, 0) + 1
        return node if number == 1 else f"{node} ({number})"
    module = getattr(setup, "__module__", None) or "__main__"
    names = [getattr(worker, "__qualname__", type(worker).__name__) for worker in workers]
    return f"{module}::{getattr(setup, '__qualname__', 'setup')}({', '.join(names)})"


def of_command() -> str:
    """What was run, to be pasted."""
    node = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    return f"python -m pytest {shlex.quote(node)}" if node else shlex.join(["python", *sys.argv])


def begin_test() -> None:
    """Explorations are counted anew."""
    _explored.clear()
