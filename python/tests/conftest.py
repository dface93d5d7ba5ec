"""Nothing of an exploration depends on when the interpreter switches threads: the tests have it do so all the time."""

import sys

import pytest


@pytest.fixture(autouse=True, params=[None, 1e-6], ids=["default", "busy"])
def switch_interval(request):
    before = sys.getswitchinterval()
    if request.param is not None:
        sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)
