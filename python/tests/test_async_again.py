"""Callbacks and timers of an event loop that want themselves to be called again."""

import asyncio

import pytest
from common import Box, exhaust


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


def with_event():
    return Box(count=0, done=asyncio.Event())


def calls_again(step, then=None):
    """A worker that waits for a callback which calls itself again, until `step` says no more."""

    async def worker(s):
        loop = asyncio.get_running_loop()

        def again():
            if step(s):
                (then or loop.call_soon)(again)
            else:
                s.done.set()

        loop.call_soon(again)
        await s.done.wait()

    return worker


def count_to(most):
    def step(s):
        s.count += 1
        return s.count < most

    return step


def test_a_callback_that_counts_is_waited_for():
    assert exhaust(with_event, [calls_again(count_to(150))]).verdict == "holds"

    async def counts_by_itself(s):
        loop, count = asyncio.get_running_loop(), 0

        def again():
            nonlocal count
            count += 1
            loop.call_soon(again) if count < 150 else s.done.set()

        loop.call_soon(again)
        await s.done.wait()

    assert exhaust(with_event, [counts_by_itself]).verdict == "holds"

    async def in_time(s):
        await asyncio.wait_for(calls_again(count_to(50))(s), 1)

    assert exhaust(with_event, [in_time]).verdict == "holds"


def test_a_callback_that_looks_in_vain_is_starvation():
    result = exhaust(with_event, [calls_again(lambda s: s.count == 0)])
    assert [finding.kind for finding in result.findings] == ["starvation"], result.reason


def test_of_what_goes_on_for_ever_nothing_is_said():
    result = exhaust(with_event, [calls_again(count_to(10**9))])
    assert result.verdict == "inconclusive" and "called again 200 times" in result.reason

    async def beats(s):
        loop = asyncio.get_running_loop()

        def again():
            loop.call_later(1, again)

        again()
        await s.done.wait()

    result = exhaust(with_event, [beats])
    assert result.verdict == "inconclusive" and "timers that have started each other" in result.reason
