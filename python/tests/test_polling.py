"""Coroutines that look again and again, and let others run in between: no exploration of them hangs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace as State
from typing import Any

import drawloom
import pytest

STRATEGIES = ["auto", "exhaustive", "random", "sequential", "pct"]


async def poll(s: Any) -> None:
    while not s.done:
        await asyncio.sleep(0)
    s.seen = s.value


async def work(s: Any) -> None:
    s.value += 1
    await asyncio.sleep(0)
    s.done = True


def begin() -> Any:
    return State(done=False, value=0, seen=None)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("workers", [[poll, work], [work, poll]], ids=["first", "last"])
def test_who_polls_sees_what_it_waits_for(strategy: str, workers: Any) -> None:
    result = drawloom.explore(begin, workers, lambda s: s.seen == 1, strategy=strategy)
    assert result.verdict == "no_bug_found", result


def test_two_may_poll() -> None:
    result = drawloom.explore(begin, [poll, poll, work], lambda s: s.seen == 1, strategy="random")
    assert result.verdict == "no_bug_found", result


@pytest.mark.parametrize("strategy", ["auto", "exhaustive", "random"])
def test_who_polls_for_too_little_is_found(strategy: str) -> None:
    async def early(s: Any) -> None:
        s.done = True
        await asyncio.sleep(0)
        s.value += 1

    result = drawloom.explore(begin, [poll, early], lambda s: s.seen == 1, strategy=strategy)
    assert result.verdict == "fails", result
    again = result.replay()
    assert again.verdict == "fails", again


def test_rounds_of_several_pieces_are_foretold_as_well() -> None:
    async def pauses(s: Any) -> None:
        while not s.done:
            await asyncio.sleep(0)
            s.value  # noqa: B018
            await asyncio.sleep(0)
        s.seen = 1

    result = drawloom.explore(begin, [pauses, work], lambda s: s.seen == 1, strategy="exhaustive")
    assert result.verdict == "no_bug_found", result
