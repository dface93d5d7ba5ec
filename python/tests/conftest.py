"""Nothing of an exploration depends on when the interpreter switches threads: the tests have it do so all the time."""

import sys

import pytest


def pytest_generate_tests(metafunc):
    # Servers take their time: once is enough.
    once = metafunc.module.__name__ in ("test_postgres", "test_redis")
    intervals = {"default": None} if once else {"default": None, "busy": 1e-6}
    metafunc.parametrize("switch_interval", list(intervals.values()), ids=list(intervals), indirect=True)


@pytest.fixture(autouse=True)
def switch_interval(request):
    before = sys.getswitchinterval()
    if request.param is not None:
        sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)
