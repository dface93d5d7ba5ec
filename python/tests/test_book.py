"""The Python of the tutorial runs as it is, and comes out as the tutorial says."""

import pathlib
import re
import runpy

TUTORIAL = pathlib.Path(__file__).parents[2] / "book" / "src" / "tutorials" / "python.md"


def test_the_tutorial_runs_as_it_is(tmp_path):
    page = TUTORIAL.read_text(encoding="utf-8")
    bug, fix, under_pytest, coroutines = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    program = tmp_path / "tutorial.py"
    explored_again = re.search(r"^result = .*\n", bug, re.MULTILINE).group()
    program.write_text(
        f"{bug}\nlost = result\n{fix}\n{explored_again}\nfixed = result\n{under_pytest}\n{coroutines}", encoding="utf-8"
    )
    names = runpy.run_path(str(program))
    assert names["lost"].verdict == "fails"
    assert "lost update" in names["lost"].explanation.lower()
    assert names["fixed"].verdict == "holds"
    assert names["result"].verdict == "fails"
    # Made from the fixed counter, so it passes.
    names["test_counter"]()
