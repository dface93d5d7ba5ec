"""A finding is reproduced by its token, in this process and in another one."""

import os
import re
import subprocess
import sys

import drawloom
import pytest
from common import Cell


def add(cell):
    seen = cell.value
    cell.value = seen + 1


def test_a_finding_is_replayed():
    result = drawloom.explore(Cell, [add, add], lambda c: c.value == 2)
    assert result.verdict == "fails"
    again = result.replay()
    assert (again.verdict, again.executions) == ("fails", 1)
    assert again.findings[0].message == result.findings[0].message
    assert again.counterexample == result.counterexample
    assert "seen = cell.value" in result.explanation
    assert "Cell.value" in result.explanation


def explored(**options):
    return drawloom.explore(Cell, [add, add], lambda c: c.value == 2, name="damaged", **options)


def test_a_damaged_token_is_an_error_that_nobody_can_overlook(monkeypatch):
    token = explored().findings[0].token
    assert explored(replay=f" {token}\n").verdict == "fails"
    schedule, _, known = token.partition("~")
    flipped = schedule[:-1] + ("A" if schedule[-1] != "A" else "B")
    damaged = ["", "x", schedule, schedule[:-3], token[:-6], f"{schedule[:-2]}~{known}", f"{flipped}~{known}",
               f"{schedule}~", token.replace("~", " "), f"{schedule}\"~{known}", f"ä{token}"]
    for one in damaged:
        with pytest.raises(drawloom.ReplayError):
            explored(replay=one)
        if one:
            monkeypatch.setenv("DRAWLOOM_REPLAY", one)
            with pytest.raises(drawloom.ReplayError):
                explored()
            monkeypatch.delenv("DRAWLOOM_REPLAY")


def test_a_token_of_something_else_is_an_error_where_it_is_asked_for(monkeypatch):
    token = drawloom.explore(Cell, [add, add], lambda c: c.value == 2, name="other").findings[0].token
    with pytest.raises(drawloom.ReplayError, match="belongs to another test"):
        explored(replay=token)
    # The environment asks it of all explorations: the others go on.
    monkeypatch.setenv("DRAWLOOM_REPLAY", token)
    assert explored().verdict == "fails"


PROGRAM = """
import drawloom

class Cell:
    value = 0

def add(cell):
    seen = cell.value
    cell.value = seen + 1

result = drawloom.explore(Cell, [add, add], lambda c: c.value == 2)
print(result.verdict, result.executions, result.counterexample)
print(result.explanation)
"""


# What is a step depends on what is known of the containers.
WITH_CONTAINERS = """
import drawloom

class State:
    def __init__(self):
        self.d, self.log, self.total = {}, [], 0

def add(s):
    if "k" not in s.d:
        s.d["k"] = 1
        s.d[len(s.log)] = 2
        s.log.append(1)

result = drawloom.explore(State, [add, add], lambda s: len(s.log) == 1)
print(result.verdict, result.executions, result.counterexample)
print(result.explanation)
"""


@pytest.mark.parametrize("program", [PROGRAM, WITH_CONTAINERS], ids=["attributes", "containers"])
def test_a_finding_is_replayed_in_another_process(tmp_path, program):
    script = tmp_path / "program.py"
    script.write_text(program)
    path = os.pathsep.join([os.path.dirname(os.path.dirname(drawloom.__file__)), *sys.path])

    def run(**environment):
        environment = {**os.environ, "PYTHONPATH": path, **environment}
        environment.pop("PYTEST_CURRENT_TEST", None)
        ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        return ran.stdout

    first = run()
    token = re.search("replay: DRAWLOOM_REPLAY='([^']*)'", first).group(1)
    again = run(DRAWLOOM_REPLAY=token)
    schedule = first.split("\n")[0].split(" ", 2)[2]
    assert again.split("\n")[0] == f"fails 1 {schedule}"
