"""Nothing of an exploration depends on when the interpreter switches threads: the tests have it do so all the time. And
no test may hang: each has a time limit, which shows all stacks and ends the run.

Where several versions are tested, in `DRAWLOOM_TEST_VERSIONS`, each of these tests is one of their tests: what is done with threads
switched all the time, and what takes long and has nothing to do with how a version works inside. Which one is a matter of the
test's name. All else is tested with all of them.
"""

import contextlib
import faulthandler
import os
import sys
import zlib

import pytest

LIMIT = 900
"""Seconds that a test may take: far more than any does, on a busy machine, too."""
STDERR = pytest.StashKey()
# They wait for servers, for other processes or for time to pass, or are thousands of instructions of installed packages: what they
# look at is above the interpreter.
LONG = ("test_frameworks.py", "test_hangs.py", "test_perturbed.py", "test_postgres.py", "test_postgres_async.py", "test_redis.py",
        "test_redis_async.py", "test_real_time.py", "test_polling.py", "test_pytest_plugin.py", "test_transactions.py", "test_tls.py")


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


def pytest_collection_modifyitems(config, items):
    versions = os.environ.get("DRAWLOOM_TEST_VERSIONS", "").split()
    own = "%d.%d" % sys.version_info[:2]
    if len(versions) < 2 or own not in versions:
        return

    def is_own(item):
        busy = getattr(item, "callspec", None) is not None and "busy" in item.callspec.id.split("-")
        if not busy and item.path.name not in LONG:
            return True
        return versions[zlib.crc32(item.nodeid.encode()) % len(versions)] == own

    chosen = [item for item in items if is_own(item)]
    config.hook.pytest_deselected(items=[item for item in items if not is_own(item)])
    items[:] = chosen
