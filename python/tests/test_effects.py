"""What functions that are not written in Python read and write: a sample of what `effects.py` holds against the truth."""

import io
import itertools
import re
import subprocess
import sys
import types
from pathlib import Path

import effects
import pytest
from common import exhaust, one_interval

pytestmark = one_interval


def test_a_sample_of_all_functions_touches_what_is_announced():
    oracle, (count, coarse, _) = effects.run(limit=5, step=12)
    assert [str(miss) for miss in oracle.misses] == []
    # It has seen something, and what is not known says so.
    assert count > 100 and oracle.reads > 100 and len(coarse) > 1000


# The forms of calls and the instructions that look at most.
@pytest.mark.parametrize(
    ("part", "limit"),
    [("builtins.any", 40), ("list.count", 40), ("_operator.contains", 80), ("Pattern.search", 700), ("a0 in a1", 40), ("'{.x}'.format(a0)", 40)],
)
def test_functions_that_look_at_elements_attributes_and_buffers(part, limit):
    oracle, (count, _, _) = effects.run(part, limit=limit)
    assert [str(miss) for miss in oracle.misses] == []
    assert count and oracle.reads


def test_functions_that_write():
    oracle, (count, _, _) = effects.run("list.append", limit=40)
    assert [str(miss) for miss in oracle.misses] == []
    assert count and oracle.writes


def test_an_entry_that_says_too_little_is_found():
    program = """
from drawloom import _types
for function in (any, sum):
    _types._BY_OBJECT[id(function)] = _types.EFFECTS["PURE"]
_types._METHODS[list]["PURE"] = "append"
del _types._METHODS[list]["STORE_SELF"]
import effects
for name in ("builtins.any", "builtins.sum", "builtins.list.append"):
    print(name, bool(effects.run(name, limit=60)[0].misses))
"""
    tests = str(Path(__file__).parent)
    found = subprocess.run([sys.executable, "-c", program], cwd=tests, capture_output=True, text=True, timeout=300, check=False)
    assert found.stdout.split() == ["builtins.any", "True", "builtins.sum", "True", "builtins.list.append", "True"], found.stderr


class Named:
    def __init__(self):
        self.x = 0


def set_first(buffer):
    buffer[0] = 49


def read_behind_the_table(read, write, made, bad):
    def setup():
        return types.SimpleNamespace(o=made(), seen=None)

    def writer(state):
        write(state.o)

    def reader(state):
        state.seen = read(state.o)

    return [exhaust(setup, workers, lambda state: state.seen != bad).verdict for workers in ([writer, reader], [reader, writer])]


@pytest.mark.parametrize(
    ("read", "write", "made", "bad"),
    [
        (lambda o: [0, 1] in o, lambda o: o[0].append(1), lambda: [[0]], True),
        (lambda o: o.count([0, 1]), lambda o: o[0].append(1), lambda: [[0]], 1),
        (lambda o: any(o), lambda o: o[0].append(1), lambda: [[], []], True),
        (lambda o: len(list(filter(None, o))), lambda o: o[0].append(1), lambda: [[], []], 1),
        (lambda o: list(itertools.chain.from_iterable(o)), lambda o: o[0].append(1), lambda: [[0]], [0, 1]),
        (lambda o: repr([[[[o]]]]), lambda o: o.append(1), lambda: [0], "[[[[[0, 1]]]]]"),
        (lambda o: str(o), lambda o: setattr(o, "args", ("b",)), lambda: ValueError("a"), "b"),
        (lambda o: "{.x}".format(o), lambda o: setattr(o, "x", 1), Named, "1"),
        (lambda o: "{a.x}".format(**{"a": o}), lambda o: setattr(o, "x", 1), Named, "1"),
        (lambda o: int(o), set_first, lambda: bytearray(b"0"), 1),
        (lambda o: re.search(b"1", o) is not None, set_first, lambda: bytearray(b"0"), True),
        (lambda o: io.BytesIO(o).read(), set_first, lambda: bytearray(b"0"), b"1"),
        (lambda o: list(o), lambda o: list(o), lambda: iter([0, 1]), []),
        (lambda o: set(o["a"]), lambda o: o["a"].append(1), lambda: types.MappingProxyType({"a": [0]}), {0, 1}),
        (lambda o: len(o[0]), lambda o: o[1].update(a=0), lambda: (lambda d: (types.MappingProxyType(d), d))({}), 1),
    ],
)
def test_what_is_read_within_arguments_is_seen(read, write, made, bad):
    assert read_behind_the_table(read, write, made, bad) == ["fails", "fails"]
