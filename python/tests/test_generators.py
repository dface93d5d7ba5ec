"""A generator that threads share is changed by whoever goes on with it, and cannot run twice at a time."""

import contextlib
import threading
import types

import pytest

import drawloom


def numbers():
    n = 0
    while True:
        n += 1
        yield n


def state():
    return types.SimpleNamespace(numbers=numbers(), mine=0, yours=0)


def by_next(state):
    state.mine = next(state.numbers)


def by_loop(state):
    for number in state.numbers:
        state.mine = number
        break


def by_send(state):
    state.mine = state.numbers.send(None)


def by_unpacking(state):
    state.mine, _ = zip(range(2), state.numbers)


def other(state):
    state.yours = next(state.numbers)


def explored(workers, invariant=lambda _: True, setup=state):
    return drawloom.explore(setup, workers, invariant, strategy="exhaustive", keep_going=True, shrink=False, fixes=0)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("worker", [by_next, by_loop, by_send])
def test_who_comes_first_and_who_comes_in_between_are_told_apart(worker, backwards):
    workers = [other, worker] if backwards else [worker, other]
    result = explored(workers, lambda s: s.mine == 1)
    # Each of them first; and each in the midst of the other, which raises.
    assert result.executions == 4
    messages = [finding.message.splitlines()[0] for finding in result.findings]
    assert sum("generator already executing" in message for message in messages) == 2
    assert any("invariant" in message for message in messages)


def test_a_generator_within_an_iterator_is_shared_too():
    assert explored([by_unpacking, other]).verdict == "fails"


def test_a_generator_that_is_closed_gives_nothing_more():
    result = explored([lambda s: s.numbers.close(), other])
    messages = [finding.message for finding in result.findings]
    assert result.executions == 3
    assert any("StopIteration" in message for message in messages) and any("already executing" in message for message in messages)


def test_one_that_is_guarded_is_right():
    def setup():
        return types.SimpleNamespace(numbers=numbers(), lock=threading.Lock(), got=[])

    def take(state):
        with state.lock:
            state.got.append(next(state.numbers))

    result = explored([take, take], lambda s: s.got == [1, 2], setup)
    assert (result.verdict, result.executions) == ("holds", 2)


@contextlib.contextmanager
def context():
    yield


def test_what_threads_have_for_themselves_is_no_matter():
    def work(state):
        with context():
            state.mine += sum(number for number in range(3))

    assert explored([work, work]).executions == 4
