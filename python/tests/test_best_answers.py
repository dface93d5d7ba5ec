"""What is said of programs in which nothing, or not much, is to be explored."""

import threading
import time

import drawloom
import pytest
from common import Box, one_interval

pytestmark = one_interval


def state():
    return Box(n=0, lock=threading.Lock())


def increment(box):
    value = box.n
    box.n = value + 1


@pytest.mark.parametrize("strategy", ["auto", "exhaustive", "random"])
def test_one_worker_is_a_program_as_any_other(strategy):
    right = drawloom.explore(state, [increment], lambda box: box.n == 1, strategy=strategy, executions=20)
    assert right.verdict == ("no_bug_found" if strategy == "random" else "holds"), right.reason
    wrong = drawloom.explore(state, [increment], lambda box: box.n == 2, strategy=strategy, executions=20)
    assert wrong.verdict == "fails"

    async def increments(box):
        increment(box)

    assert drawloom.explore(state, [increments], lambda box: box.n == 1).verdict == "holds"


def test_a_verdict_does_not_depend_on_the_order_of_workers():
    def write(box):
        box.n = 1

    def read_later(box):
        time.sleep(0.1)
        box.seen = box.n

    both = [drawloom.explore(state, workers, lambda box: box.seen == 1)
            for workers in ([write, read_later], [read_later, write])]
    assert both[0].verdict == both[1].verdict == "holds", [result.reason for result in both]


def five_times(box):
    for _ in range(5):
        with box.lock:
            box.n += 1


class Own:
    n = 0


def at_length(box):
    own = Own()
    for _ in range(700):
        own.n += 1
    with box.lock:
        box.n += 1


@pytest.mark.parametrize("workers, expected, classes, most", [([five_times] * 2, 10, 252, 500), ([at_length] * 3, 3, 6, 60)],
                         ids=["252 classes", "6 classes of long executions"])
def test_by_default_everything_is_explored_that_takes_less_than_samples_would(workers, expected, classes, most):
    everything = drawloom.explore(state, workers, lambda box: box.n == expected, strategy="exhaustive")
    assert (everything.verdict, everything.executions) == ("holds", classes)
    result = drawloom.explore(state, workers, lambda box: box.n == expected)
    assert result.verdict == "holds" and result.executions <= most, result.reason
    assert f"exhausted: {classes} classes" in result.reason


def test_a_program_that_is_too_large_is_sampled_within_its_budget():
    result = drawloom.explore(state, [five_times] * 3, lambda box: box.n == 15, executions=300)
    assert result.verdict == "no_bug_found" and result.executions == 300, result.reason


def test_the_time_is_heeded_while_everything_is_explored():
    result = drawloom.explore(state, [five_times] * 4, lambda box: box.n == 20, executions=10**8, timeout=2)
    assert result.verdict == "no_bug_found" and "out of time" in result.reason, result.reason
