"""Shorthands."""

import pytest

import drawloom

# Of tests that have their own idea of when threads are switched, or to which it makes no difference.
one_interval = pytest.mark.parametrize("switch_interval", [None], ids=["default"], indirect=True)


def exhaust(setup, workers, invariant=None, **options):
    options = {"shrink": False, "fixes": 0, **options}
    return drawloom.explore(setup, workers, invariant, strategy="exhaustive", **options)


class Cell:
    def __init__(self, value=0):
        self.value = value


class Box:
    """Attributes as they come."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)
