"""Serialisability: what comes of workers is what comes of some order of whole ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from .. import _explore
from .._async._explore import is_async


def key_of(state: Any) -> Any:
    """A value that is equal for equal states: their attributes and items, all the way down."""
    return _frozen(state, set())


def _frozen(value: Any, above: set[int]) -> Any:
    if isinstance(value, (str, bytes, int, float, complex, type(None))):
        return value
    if id(value) in above:
        return "…"
    above = above | {id(value)}
    if isinstance(value, dict):
        items = [(_frozen(key, above), _frozen(item, above)) for key, item in value.items()]
        return ("dict", tuple(sorted(items, key=repr)))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, tuple(_frozen(item, above) for item in value))
    if isinstance(value, (set, frozenset)):
        return ("set", tuple(sorted((_frozen(item, above) for item in value), key=repr)))
    if hasattr(value, "__dict__"):
        return (type(value).__name__, _frozen(vars(value), above))
    return "an object without attributes"


def serial_keys(
    setup: Callable[[], Any], workers: Sequence[Callable[[Any], Any]], key: Callable[[Any], Any]
) -> set[Any]:
    """What comes of the workers one after the other, in every order."""
    run = _awaited if any(map(is_async, workers)) else _called
    return {key(run(setup, order)) for order in itertools.permutations(workers)}


def _called(setup: Callable[[], Any], order: Sequence[Callable[[Any], Any]]) -> Any:
    state = setup()
    for worker in order:
        worker(state)
    return state


def _awaited(setup: Callable[[], Any], order: Sequence[Callable[[Any], Any]]) -> Any:
    """An event loop may be running already, so it is one of an exploration."""
    states = []

    async def one_after_the_other(state: Any) -> None:
        states.append(state)
        for worker in order:
            await worker(state)

    _explore.explore(setup, [one_after_the_other], None, strategy="sequential", iterations=1)
    return states[-1]


def serialisable(
    setup: Callable[[], Any],
    workers: Sequence[Callable[[Any], Any]],
    invariant: Callable[[Any], Any] | None,
    wanted: bool | Callable[[Any], Any],
) -> Callable[[Any], Any] | None:
    """`invariant`, and that the end is one of those, if that is wanted. A callable says what of a state counts."""
    if wanted is False:
        return invariant
    key = wanted if callable(wanted) else key_of
    possible = serial_keys(setup, workers, key)

    def holds(state: Any) -> Any:
        assert key(state) in possible, "no order of whole workers leads to this result"
        return True if invariant is None else invariant(state)

    return holds
