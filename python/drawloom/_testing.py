"""Tests that are explorations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ._explore import explore
from ._result import Result


class ExplorationFailed(AssertionError):
    """Something was found, or nothing can be said."""

    def __init__(self, result: Result, why: str) -> None:
        super().__init__(why)
        self.result = result


def check(result: Result, must_hold: bool = False) -> Result:
    """`result`, unless something was found or nothing can be said; with `must_hold`, unless it was not exhausted."""
    __tracebackhide__ = True
    if result.verdict in ("fails", "inconclusive"):
        raise ExplorationFailed(result, result.explanation)
    if must_hold and result.verdict != "holds":
        raise ExplorationFailed(result, f"not every behaviour was explored: {result.reason}")
    return result


def test(
    *,
    workers: Sequence[Callable[..., Any]] | Callable[..., Any],
    invariant: Callable[[Any], Any] | None = None,
    must_hold: bool = False,
    **options: Any,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes an exploration of a function that makes the state.

        @drawloom.test(workers=[deposit, withdraw], invariant=lambda account: account.balance == 0)
        def test_account():
            return Account()

    It is a test for pytest, and without pytest a function that raises if something is found. Its parameters are
    fixtures, or arguments. `options` are those of `explore`; with `must_hold` a bound that was reached is a failure.
    """
    if "setup" in options:
        raise TypeError("the state is made by the function that is decorated: return it there, instead of setup=…")

    def decorated(setup: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(setup)
        def exploration(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            made = functools.partial(setup, *args, **kwargs) if args or kwargs else setup
            check(explore(made, workers, invariant, **options), must_hold)

        return exploration

    return decorated


# Pytest collects what is called so; this is none.
test.__test__ = False  # type: ignore[attr-defined]
