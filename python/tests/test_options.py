"""Options are typed: a wrong one is an error before anything runs, for the type checker and at run time, and `help` lists them."""

import asyncio
import importlib.util
import inspect
import pydoc
import subprocess
import sys

import pytest

import drawloom
from drawloom._options import Options

RIGHT = """
import drawloom

result = drawloom.explore(list, [list.sort] * 2, strategy="pct", depth=3, seed=1, timeout="10s", shrink="full", clock="explore")
verdict: drawloom.Verdict = result.verdict


@drawloom.test(workers=lambda state: None, count=2, iterations=10)
def test_it() -> list[int]:
    return []
"""
WRONG = {
    'drawloom.explore(list, [], strategi="pct")': "strategi",
    'drawloom.explore(list, [], seed="one")': "seed",
    'drawloom.explore(list, [], clock="early")': "clock",
    "drawloom.test(workers=[], max_step=3)": "max_step",
    'drawloom.explore_async(list, [], backend="curio")': "backend",
    'drawloom.Finding.kid': "kid",
}


def explore_async(**options):
    return asyncio.run(drawloom.explore_async(list, [], **options))


def as_decorator(**options):
    return drawloom.test(workers=[], **options)


def explore(**options):
    return drawloom.explore(list, [], **options)


@pytest.mark.parametrize("function", [explore, explore_async, as_decorator])
def test_a_misspelt_option_is_a_type_error(function):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'strategi'"):
        function(strategi="random")


def test_a_similar_option_is_suggested():
    with pytest.raises(TypeError, match="did you mean 'strategy'"):
        drawloom.test(workers=[], strategi="random")


def test_help_lists_every_option_with_its_type_and_its_meaning():
    parameters = inspect.signature(drawloom.explore).parameters
    by_keyword = {name for name, given in parameters.items() if given.kind is inspect.Parameter.KEYWORD_ONLY}
    assert by_keyword == set(Options.__annotations__)
    shown = pydoc.plain(pydoc.render_doc(drawloom.explore))
    for name in by_keyword:
        assert parameters[name].annotation is not inspect.Parameter.empty
        assert f"{name}:" in shown.split(") ->")[0], f"{name} has no type in help(drawloom.explore)"
        assert f"        {name}: " in shown.split("Options:")[1], f"{name} is not explained in help(drawloom.explore)"


def test_help_says_something_of_every_public_name():
    for name in drawloom.__all__:
        if name != "Verdict":
            assert inspect.getdoc(getattr(drawloom, name)), f"help(drawloom.{name}) says nothing"


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is installed for the first version only")
def test_the_type_checker_knows_the_options(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    wrong = ["import drawloom", *WRONG]
    (tmp_path / "wrong.py").write_text("\n".join(wrong) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "right.py", "wrong.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = ran.stdout.splitlines()
    assert not [line for line in said if line.startswith("right.py")], ran.stdout + ran.stderr
    for number, (line, option) in enumerate(WRONG.items(), 2):
        assert any(found.startswith(f"wrong.py:{number}: error") and option in found for found in said), f"{line}\n{ran.stdout}"
