"""Clocks and chance: the same in every execution, however they were imported."""

import datetime as of_dates
import os
import random
import secrets
import sys
import time
import uuid
from datetime import date, datetime, timezone
from os import urandom
from queue import SimpleQueue
from time import monotonic, sleep, time_ns

import drawloom
import pytest
from common import Cell, exhaust


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


def told(look):
    """What `look` says in each execution."""
    seen = []

    def work(_):
        sleep(0.5)
        seen.append(look())

    result = drawloom.explore(Cell, [work, work], strategy="random", executions=5)
    assert result.verdict == "no_bug_found", result.reason
    return seen


@pytest.mark.parametrize("look", [
    time.time, time.monotonic, time.perf_counter, time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.localtime,
    time.gmtime, time.ctime, time.process_time, lambda: time.strftime("%c"), lambda: datetime.now(), date.today,
    lambda: datetime.now(timezone.utc), lambda: of_dates.datetime.utcnow(), datetime.today, time_ns, monotonic,
], ids=lambda look: getattr(look, "__name__", ""))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_clocks_are_virtual(look):
    assert len({str(each) for each in told(look)}) == 1
    assert str(look()) != str(told(look)[0]), "not outside"


@pytest.mark.parametrize("look", [
    lambda: os.urandom(8), lambda: urandom(8), lambda: uuid.uuid4(), lambda: secrets.token_hex(),
    lambda: random.SystemRandom().random(), lambda: secrets.randbelow(10**9),
], ids=["os.urandom", "urandom", "uuid4", "token_hex", "SystemRandom", "randbelow"])
def test_what_is_drawn_is_the_same_each_time(look):
    seen = [str(each) for each in told(look)]
    assert set(seen[:2]) == set(seen[2:4]) == set(seen[4:6])
    assert str(look()) not in seen, "not outside"


def test_no_two_threads_draw_the_same():
    assert len(set(told(lambda: uuid.uuid4()))) == 2


def test_identifiers_begin_anew():
    kinds = [uuid.uuid1]
    if sys.version_info >= (3, 14):
        kinds += [uuid.uuid6, uuid.uuid7]  # there were none before
    for kind in kinds:
        # Who asks later is told a later one, so which is told depends on the order; but on nothing else.
        seen = told(kind)
        assert seen == told(kind) and len(set(seen)) <= 4 and kind() not in seen


def test_random_numbers_depend_on_who_draws_first():
    def setup():
        return []

    def draw(drawn):
        drawn.append(random.random())

    first = random.Random(0).random()
    assert exhaust(setup, [draw, draw], lambda drawn: first in drawn).verdict == "holds"


def test_nobody_waits_for_real():
    def work(_):
        sleep(3600)

    began = time.monotonic()
    assert exhaust(Cell, [work, work]).verdict == "holds"
    assert time.monotonic() - began < 60


def test_queues_written_in_c():
    def put(queue):
        queue.put(1)

    def get(queue):
        assert queue.get() == 1

    assert exhaust(lambda: SimpleQueue(), [put, get]).verdict == "holds"
    assert exhaust(lambda: SimpleQueue(), [get, get, put]).verdict == "fails"
