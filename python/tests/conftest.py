"""Nothing of an exploration depends on when the interpreter switches threads: the tests have it do so all the time. And
no test may hang: each has a time limit, which shows all stacks and ends the run."""

import contextlib
import faulthandler
import os
import sys

import pytest

LIMIT = 900
"""Seconds that a test may take: far more than any does, on a busy machine, too."""
STDERR = pytest.StashKey()


def pytest_configure(config):
    capture = config.pluginmanager.getplugin("capturemanager")
    # What a test prints is captured, and would be lost with the process.
    with capture.global_and_fixture_disabled() if capture is not None else contextlib.nullcontext():
        config.stash[STDERR] = os.fdopen(os.dup(2), "w")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    limit = float(os.environ.get("DRAWLOOM_TEST_LIMIT", LIMIT))
    # It needs nothing of the interpreter, not even its lock.
    faulthandler.dump_traceback_later(limit, exit=True, file=item.config.stash[STDERR])
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True, params=[None, 1e-6], ids=["default", "busy"])
def switch_interval(request):
    before = sys.getswitchinterval()
    if request.param is not None:
        sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)
