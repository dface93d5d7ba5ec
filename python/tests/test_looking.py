"""Others who look on while an exploration does: trace functions, and tools of `sys.monitoring`."""

import contextlib
import sys
from types import SimpleNamespace

import pytest
from common import exhaust
from test_verdicts import verdict_of

ONE, OTHER = 1, 3


def counter():
    return SimpleNamespace(n=0)


def increment(s):
    n = s.n
    s.n = n + 1


@pytest.mark.parametrize("function", [None, lambda *_: None])
def test_a_worker_that_sets_a_trace_function_blinds_nobody(function):
    def worker(s):
        sys.settrace(function)
        increment(s)

    try:
        seen = verdict_of(counter, [worker, worker], lambda s: s.n == 2)
    finally:
        sys.settrace(None)
    # One that is to be called cannot be, where the interpreter has but one.
    assert seen == ("fails" if function is None or sys.version_info >= (3, 12) else "inconclusive")
    assert verdict_of(counter, [increment, increment], lambda s: s.n == 2) == "fails"


def test_a_trace_function_that_is_put_back_is_no_harm():
    def worker(s):
        before = sys.gettrace()
        sys.settrace(None)
        sys.settrace(before)
        increment(s)

    assert verdict_of(counter, [worker, worker], lambda s: s.n == 2) == "fails"


def test_a_setup_that_ends_tracing_blinds_nobody():
    def setup():
        sys.settrace(None)
        return counter()

    assert verdict_of(setup, [increment, increment], lambda s: s.n == 2) == "fails"


@contextlib.contextmanager
def tool(number, heard=lambda *_: None, events="LINE", freed_only=False):
    """A tool that hears of lines or the like while it lasts; or for ever, if it is freed without a word."""
    monitoring = sys.monitoring
    monitoring.use_tool_id(number, "other")
    monitoring.register_callback(number, getattr(monitoring.events, events), heard)
    monitoring.set_events(number, getattr(monitoring.events, events))
    try:
        yield
    finally:
        if not freed_only:
            monitoring.set_events(number, 0)
        monitoring.register_callback(number, getattr(monitoring.events, events), None)
        monitoring.free_tool_id(number)


monitored = pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring before 3.12")


def returning_itself(*_):
    return returning_itself


@monitored
@pytest.mark.parametrize("function", [lambda *_: None, returning_itself])
def test_a_trace_function_beside_another_tool_blinds_nobody(function):
    def worker(s):
        sys.settrace(function)
        increment(s)

    with tool(ONE):
        try:
            assert verdict_of(counter, [worker, worker], lambda s: s.n == 2) == "fails"
        finally:
            sys.settrace(None)
        assert verdict_of(counter, [increment, increment], lambda s: s.n == 2) == "fails"


@monitored
def test_a_tool_that_was_freed_without_a_word_blinds_nobody():
    def worker(s):
        sys.settrace(lambda *_: None)
        increment(s)

    with tool(OTHER, freed_only=True):
        increment(counter())
    try:
        assert verdict_of(counter, [worker, worker], lambda s: s.n == 2) == "fails"
    finally:
        sys.settrace(None)


@monitored
@pytest.mark.parametrize("events", ["LINE", "INSTRUCTION", "CALL"])
def test_a_worker_that_begins_to_monitor_blinds_nobody(events):
    def worker(s):
        if sys.monitoring.get_tool(OTHER) is None:
            sys.monitoring.use_tool_id(OTHER, "of the program")
        sys.monitoring.set_events(OTHER, getattr(sys.monitoring.events, events))
        increment(s)
        sys.monitoring.set_events(OTHER, 0)

    with tool(ONE):
        try:
            assert verdict_of(counter, [worker, increment], lambda s: s.n == 2) == "fails"
        finally:
            sys.monitoring.free_tool_id(OTHER)


@monitored
def test_a_tool_that_hears_of_a_line_but_once_takes_nothing_away():
    """Each line of a new function begins with what is a step: the first time is as good as any other."""
    heard = []

    def hear(code, line):
        heard.append((code.co_name, line))
        return sys.monitoring.DISABLE

    made = {"shared": 0}
    exec("def worker(_):\n    global shared\n    shared = (\n        shared +\n        1)\n    shared\n    shared\n", made)  # noqa: S102
    worker = made["worker"]

    def setup():
        made["shared"] = 0

    classes = exhaust(setup, [worker, worker]).executions
    worker.__code__ = worker.__code__.replace()
    with tool(ONE, hear):
        result = exhaust(setup, [worker, worker])
        assert (result.verdict, result.executions) == ("holds", classes)
        of_lines = [each for each in heard if each[0] == "worker"]
        assert len(of_lines) == len(set(of_lines)) > 0
