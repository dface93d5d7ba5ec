"""What is not under test is told by where it is installed, never by the name of somebody's folder or function."""

import importlib.util

import pytest

import drawloom

COUNTER = """
class Counter:
    value = 0

def _compile(counter):
    seen = counter.value
    counter.value = seen + 1
"""


@pytest.mark.parametrize("folder", ["redis", "psycopg", "outcome", "_pytest", "pluggy", "repository", "trio/_core"])
def test_code_in_a_folder_of_any_name_is_seen(tmp_path, folder):
    file = tmp_path / folder / "_run.py"
    file.parent.mkdir(parents=True)
    file.write_text(COUNTER)
    spec = importlib.util.spec_from_file_location("counter", file)
    counter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(counter)
    result = drawloom.explore(counter.Counter, [counter._compile] * 2, lambda c: c.value == 2, strategy="exhaustive", keep_going=True)
    assert (result.verdict, result.executions) == ("fails", 4)
