"""Tests that are explorations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._explore import explore
from ._options import Options, refuse_unknown
from ._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ExplorationFailed(AssertionError):
    """An exploration failed, or nothing can be claimed. `result` is the result of the exploration."""

    def __init__(self, result: Result, why: str) -> None:
        super().__init__(why)
        self.result = result


def check(result: Result, must_hold: bool = False) -> Result:
    """Returns `result`, or raises if it fails or is inconclusive, and with `must_hold` if it is not exhausted."""
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
    **options: Unpack[Options],
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turns a function that makes the state into a test that explores `workers`.

        @drawloom.test(workers=[deposit, withdraw], invariant=lambda account: account.balance == 0)
        def test_account():
            return Account()

    Pytest runs it as a test; without pytest it is a function that raises ExplorationFailed after a finding. Its parameters
    are fixtures, or arguments. With `must_hold` it also fails if not every behaviour was explored. The other options are
    those of `explore`: count, strategy, iterations, seed, timeout and so on.
    """
    if "setup" in options:
        raise TypeError("the decorated function makes the state: return it there, instead of passing setup=…")
    refuse_unknown("test", options)

    def decorated(setup: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(setup)
        def exploration(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            made = functools.partial(setup, *args, **kwargs) if args or kwargs else setup
            check(explore(made, workers, invariant, **options), must_hold)

        return exploration

    return decorated


# Pytest collects functions of this name; this one is not a test.
test.__test__ = False  # type: ignore[attr-defined]
