"""Which interpreters are refused, and what they are told."""

import pytest

from drawloom._supported import refusal


@pytest.mark.parametrize("minor", range(10, 15))
def test_these_are_known(minor):
    assert refusal((3, minor, 2), False) is None


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 15, 0)])
def test_others_are_refused(version):
    name = ".".join(map(str, version))
    assert refusal(version, False) == f"drawloom does not support CPython {name}: it supports 3.10 to 3.14"


@pytest.mark.parametrize("version", [(3, 13, 1), (3, 14, 0)])
def test_free_threaded_ones_are_refused(version):
    assert "needs the interpreter's lock" in refusal(version, True) and "free-threaded" in refusal(version, True)
