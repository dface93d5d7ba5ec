"""Workers that end in unusual ways: findings or clean exits, and the next execution begins as if nothing had been."""

import asyncio
import gc
import sys
import threading
import types

import drawloom
import pytest
from common import Box, Cell, exhaust


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


LOCAL = threading.local()


def add(cell):
    value = cell.value
    cell.value = value + 1


def idle(_):
    """So that there is a choice."""


def kind_of(result):
    assert result.verdict == "fails", result.reason
    return result.findings[0].kind, result.findings[0].message


@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError, GeneratorExit, StopIteration, Exception])
def test_what_a_worker_raises_is_a_finding(raised):
    def work(cell):
        add(cell)
        if cell.value == 2:
            raise raised("as asked")

    kind, message = kind_of(exhaust(Cell, [work, work]))
    assert kind == "exception" and raised.__name__ in message


def test_leaving_by_sys_exit():
    def leave(code):
        def work(cell):
            add(cell)
            sys.exit(code)

        return work

    assert exhaust(Cell, [leave(0), idle], lambda c: c.value == 1).verdict == "holds"
    assert exhaust(Cell, [leave(None), idle]).verdict == "holds"
    assert kind_of(exhaust(Cell, [leave(3), idle])) == ("exception", "SystemExit: 3")

    def start(cell):
        thread = threading.Thread(target=leave(3), args=[cell])
        thread.start()
        thread.join()

    assert exhaust(Cell, [start, idle], lambda c: c.value == 1).verdict == "holds", "as in Python"


def test_too_deep_a_recursion():
    def dive(cell):
        return dive(cell) + 1

    kind, message = kind_of(exhaust(Cell, [dive, idle]))
    assert kind == "exception" and "RecursionError" in message
    # Nothing is left of it.
    assert exhaust(Cell, [add, idle], lambda c: c.value == 1).verdict == "holds"


def generator(cell):
    try:
        yield 1
    finally:
        add(cell)


def test_a_generator_that_tidies_up():
    def once(cell):
        for _ in generator(cell):
            break

    assert exhaust(Cell, [once, idle], lambda c: c.value == 1).verdict == "holds"
    assert exhaust(Cell, [once, once], lambda c: c.value == 2).verdict == "fails", "the two race in `finally`"

    def blocked(s):
        with s.lock:
            for _ in generator(s):
                s.other.acquire()

    def setup():
        s = Box(lock=threading.Lock(), other=threading.Lock(), value=0)
        s.other.acquire()
        return s

    assert kind_of(exhaust(setup, [blocked, idle]))[0] in ("deadlock", "starvation")


def test_a_generator_that_is_closed_by_another_thread():
    def setup():
        s = Box(value=0)
        s.generator = generator(s)
        next(s.generator)
        return s

    def close(s):
        s.generator.close()

    assert exhaust(setup, [close, idle], lambda s: s.value == 1).verdict == "holds"
    assert exhaust(setup, [close, add], lambda s: s.value == 2).verdict == "fails"


@types.coroutine
def pause():
    yield


def test_a_coroutine_that_is_closed():
    async def work(cell):
        try:
            await pause()
        finally:
            add(cell)

    def close(cell):
        waiting = work(cell)
        waiting.send(None)
        waiting.close()

    assert exhaust(Cell, [close, idle], lambda c: c.value == 1).verdict == "holds"
    assert exhaust(Cell, [close, close], lambda c: c.value == 2).verdict == "fails"

    async def wait(cell):
        try:
            await asyncio.Event().wait()
        finally:
            add(cell)

    assert kind_of(exhaust(Cell, [wait, wait]))[0] in ("deadlock", "starvation")


class Loud:
    """Something whose destructor is heard."""

    def __del__(self):
        add(HEARD_BY[0])
        raise ValueError("nobody hears it")


HEARD_BY = [None]


def heard():
    HEARD_BY[0] = Cell()
    return HEARD_BY[0]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_exceptions_of_destructors_are_nobodys():
    def work(cell):
        Loud()

    assert exhaust(heard, [work, idle], lambda c: c.value == 1).verdict == "holds"
    assert exhaust(heard, [work, work], lambda c: c.value == 2).verdict == "fails"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_destructors_of_what_a_thread_has_its_own_of():
    def work(cell):
        LOCAL.loud = Loud()

    def start(cell):
        thread = threading.Thread(target=work, args=[cell])
        thread.start()
        thread.join()

    bound = {"max_schedules": 300}
    assert exhaust(heard, [start, idle], lambda c: c.value == 1, **bound).verdict in ("holds", "no_bug_found")
    assert exhaust(heard, [start, add], lambda c: c.value == 2, **bound).verdict == "fails"


def test_who_will_not_be_unwound_is_held():
    def setup():
        s = Box(lock=threading.Lock())
        s.lock.acquire()
        return s

    def stubborn(s):
        while True:
            try:
                s.lock.acquire()
            except BaseException:
                pass

    assert kind_of(exhaust(setup, [stubborn, idle]))[0] in ("deadlock", "starvation")
    assert exhaust(Cell, [add, idle], lambda c: c.value == 1).verdict == "holds"


def test_garbage_is_collected_between_executions_only():
    seen = []

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            seen.append(drawloom._drawloom.is_controlled())

    def work(cell):
        Cycle()
        add(cell)

    assert gc.isenabled()
    result = drawloom.explore(Cell, [work, work], strategy="random", executions=300)
    assert result.verdict == "no_bug_found"
    assert gc.isenabled()
    assert len(seen) > 300 and not any(seen)
