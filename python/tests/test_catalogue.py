"""What is said of a program depends on the program alone: not on the order of its workers, nor on the interpreter's."""

import sys
import time

import pytest
from catalogue import PROGRAMS
from common import Cell, exhaust, one_interval

import drawloom


def told(program, reverse=False, **options):
    setup, workers, invariant, _ = PROGRAMS[program]
    return exhaust(setup, workers[::-1] if reverse else workers, invariant, **options)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_verdict_is_right_whoever_comes_first(name):
    for reverse in (False, True):
        result = told(name, reverse)
        assert result.verdict == PROGRAMS[name][3], (reverse, result.explanation)
        assert result.exhausted
        assert result.coarse is None


@one_interval
@pytest.mark.parametrize("name", PROGRAMS)
def test_fifteen_runs_are_one(name):
    def run():
        result = told(name, max_schedules=200, name="the same")
        found = [(finding.kind, finding.token, finding.schedule) for finding in result.findings]
        return result.verdict, result.executions, result.steps, result.failing, found

    first = run()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert [run() for _ in range(15)] == [first] * 15
    finally:
        sys.setswitchinterval(before)


@one_interval
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_execution_is_no_proof(name):
    once = told(name, max_schedules=1)
    every = told(name)
    if every.executions > 1:
        assert once.verdict != "holds", once.reason


def test_an_exploration_that_was_cut_short_is_no_proof():
    def much(cell):
        for _ in range(6):
            cell.value += 1

    result = drawloom.explore(Cell, much, None, count=3, strategy="exhaustive", timeout="100ms", max_schedules=10**9)
    assert (result.verdict, result.exhausted) == ("no_bug_found", False)
    assert "out of time" in result.reason
    result = drawloom.explore(Cell, [lambda c: None] * 2, None, strategy="random", executions=50)
    assert result.verdict == "no_bug_found"


def sleeper(strategy, **options):
    def works(cell):
        cell.value += 1
        cell.value += 1

    def sleeps(cell):
        time.sleep(1)
        cell.seen = cell.value

    clock = {"clock": "explore", "shrink": False}
    return drawloom.explore(Cell, [works, sleeps], lambda c: c.seen == 2, strategy=strategy, **clock, **options)


def test_timers_may_fire_early():
    assert sleeper("random", executions=50).verdict == "fails"


def test_timers_that_fire_early_are_not_exhausted():
    result = sleeper("exhaustive")
    assert result.verdict == "inconclusive" and "clock = explore" in result.reason
    assert sleeper("auto").verdict == "fails"
