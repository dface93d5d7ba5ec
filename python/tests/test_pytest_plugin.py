"""Explorations as tests: under pytest, in several processes, and without pytest."""

import importlib.metadata
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import drawloom

ROOT = Path(__file__).parent.parent
# Where it is installed, or the source.
PACKAGES = str(Path(drawloom.__file__).parent.parent)
# Where it is installed, pytest finds it without being told.
INSTALLED = any(entry.name == "drawloom" for entry in importlib.metadata.entry_points(group="pytest11"))
PLUGIN = [] if INSTALLED else ["-p", "drawloom.pytest_plugin"]

TESTS = '''
import drawloom


class Counter:
    def __init__(self, value=0):
        self.value = value


def increment(counter):
    temp = counter.value
    counter.value = temp + 1


def look(counter):
    return counter.value


@drawloom.test(workers=[increment, increment], invariant=lambda c: c.value == 2)
def test_racy():
    return Counter()


@drawloom.test(workers=[look, look], invariant=lambda c: c.value == 5, strategy="exhaustive", must_hold=True)
def test_right(request):
    assert request.node.name == "test_right"
    return Counter(5)


@drawloom.test(workers=increment, count=2, strategy="random", executions=3, must_hold=True)
def test_bounded():
    return Counter()


def test_second_of_two():
    assert drawloom.explore(Counter, [look, look], strategy="exhaustive").verdict == "holds"
    result = drawloom.explore(Counter, [increment, increment], lambda c: c.value == 2)
    assert result.verdict == "holds"


def test_fixture(drawloom_explore):
    assert drawloom_explore(Counter, [look, look], strategy="exhaustive").exhausted
'''


@pytest.fixture(autouse=True)
def switch_interval():
    """Processes of their own have an interval of their own."""


def pytest_in(directory, *arguments, **environment):
    (directory / "test_it.py").write_text(TESTS)
    (directory / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", *arguments]
    # Where pytest knows that it runs in CI it tells long messages twice.
    left_out = ("PYTEST", "DRAWLOOM", "CI", "BUILD_NUMBER", "GITHUB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    environment = {**kept, "PYTHONPATH": PACKAGES, **environment}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True).stdout


def replays(text):
    return re.findall(r"replay: DRAWLOOM_REPLAY='(.*)' python -m pytest (.*)", text)


def test_findings_are_told_beneath_the_test(tmp_path):
    told = pytest_in(tmp_path)
    assert "3 failed, 2 passed" in told
    assert 'BROKEN INVARIANT in test "test_it.py::test_racy":' in told
    assert "task 0.1 (increment)" in told and "temp = counter.value" in told and "with value_lock:" in told
    assert "not every behaviour was explored" in told
    # The test's own assertion stays, and the report is a section.
    assert "assert result.verdict == \"holds\"" in told and "- drawloom -" in told
    assert "_testing.py" not in told
    pages = sorted(path.name for path in (tmp_path / ".drawloom").glob("*.html"))
    named = [page.rsplit(".", 2)[0] for page in pages]
    assert named == ["test_it.py-test_racy", "test_it.py-test_second_of_two"]
    assert all(f"page: .drawloom/{page}" in told for page in pages)
    assert (tmp_path / ".drawloom" / pages[0]).read_text().startswith("<!doctype html>")

    (token, node), (second, node_of_second) = replays(told)
    assert node == "test_it.py::test_racy"
    again = pytest_in(tmp_path, node, DRAWLOOM_REPLAY=token)
    assert "1 failed" in again and "iteration 1 of replay" in again
    by_option = pytest_in(tmp_path, f"--drawloom-replay={token}")
    assert "iteration 1 of replay" in by_option and by_option.count("iteration 1 of replay") == 1
    assert node_of_second == "test_it.py::test_second_of_two"
    again = pytest_in(tmp_path, node_of_second, DRAWLOOM_REPLAY=second)
    assert "1 failed" in again and "iteration 1 of replay" in again


def test_options_go_before_what_tests_say(tmp_path):
    told = pytest_in(tmp_path, "-k", "racy or bounded", "--drawloom-strategy=exhaustive")
    assert "1 failed, 1 passed" in told and "of exhaustive" in told
    told = pytest_in(tmp_path, "-k", "racy", "--drawloom-strategy=random", "--drawloom-seed=7", "--drawloom-dir=found")
    assert "seed 0x7" in told and list((tmp_path / "found").glob("*.json"))
    told = pytest_in(tmp_path, "-k", "right", "--drawloom-strategy=random", "--drawloom-iterations=4")
    assert "explored 4 executions" in told


def test_several_processes_find_the_same(tmp_path):
    pytest.importorskip("xdist")
    told = pytest_in(tmp_path, "-n", "2")
    assert "3 failed, 2 passed" in told and len(replays(told)) == 2
    assert len(list((tmp_path / ".drawloom").glob("*.html"))) == 2


def test_without_pytest(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(TESTS + "\nif __name__ == '__main__':\n    test_right.__wrapped__\n    test_racy()\n")
    environment = {**os.environ, "PYTHONPATH": PACKAGES, "PYTEST_CURRENT_TEST": ""}
    told = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert told.returncode == 1 and "drawloom._testing.ExplorationFailed: BROKEN INVARIANT" in told.stderr
    token, again = re.search(r"replay: DRAWLOOM_REPLAY='(.*)' (.*)", told.stderr).groups()
    assert again == f"python {script}"
    environment["DRAWLOOM_REPLAY"] = token
    told = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert "iteration 1 of replay" in told.stderr


def test_the_plugin_is_an_entry_point():
    text = (ROOT / "pyproject.toml").read_text()
    module = re.search(r'pytest11\]\ndrawloom = "(.*)"', text).group(1)
    assert hasattr(importlib.import_module(module), "pytest_addoption")


def in_ci(directory, *options):
    """What pytest prints, the SARIF and the step summary, as on GitHub."""
    summary = directory / "summary.md"
    summary.write_text("before\n")
    ci = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(directory)}
    told = pytest_in(directory, "--drawloom-sarif", "found.sarif", "--junitxml", "junit.xml", *options, **ci)
    return told, json.loads((directory / "found.sarif").read_text()), summary.read_text()


def test_ci_gets_sarif_annotations_and_a_summary(tmp_path):
    told, sarif, summary = in_ci(tmp_path)
    assert sarif["version"] == "2.1.0"
    results = sarif["runs"][0]["results"]
    racy = next(r for r in results if r["properties"]["test"].endswith("::test_racy"))
    place = racy["locations"][0]["physicalLocation"]
    source = (tmp_path / place["artifactLocation"]["uri"]).read_text().splitlines()
    assert ".value" in source[place["region"]["startLine"] - 1]
    annotations = [line for line in told.splitlines() if line.startswith("::error ")]
    assert len(annotations) >= len(results)
    assert any(",title=" in line and "test_racy" in line and "%0Areplay: DRAWLOOM_REPLAY=" in line for line in annotations)
    assert summary.startswith("before\n## Drawloom: ") and "test_racy` | ✗ failed |" in summary
    assert "::test_right` | ✓ passed |" in summary
    junit = ElementTree.parse(tmp_path / "junit.xml").getroot()
    properties = {p.get("name"): p.get("value") for p in junit.iter("property")}
    assert properties["drawloom.replay"].startswith("dl1")


def test_ci_is_told_nothing_that_nobody_asked_for(tmp_path):
    told, _, summary = in_ci(tmp_path, "--drawloom-github", "never")
    assert "::error" not in told and summary == "before\n"


LONG = '''
import drawloom, threading


class Counters:
    def __init__(self):
        self.values, self.lock = [0] * 6, threading.Lock()


def count(counters):
    for at in range(6):
        with counters.lock:
            counters.values[at] += 1


def test_long():
    drawloom.explore(Counters, count, count=3, strategy="random", executions=10**6, timeout=600)
'''


def begun(directory, terminal):
    """A run of pytest that takes long, from when it has told how far it is; and how to read what it tells."""
    (directory / "test_long.py").write_text(LONG)
    (directory / "pytest.ini").write_text("[pytest]\n")
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", "-q", "test_long.py"]
    ran = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True,
                           env={**environment, "PYTHONPATH": PACKAGES, "TERM": "xterm"})
    os.close(theirs)
    told = ""

    def read_until(wanted):
        nonlocal told
        while wanted not in told:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # so a terminal ends
                piece = b""
            if not piece:
                break
            told += piece.decode(errors="replace")
        return told

    return ran, read_until


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "lines"])
def test_how_far_it_is_is_shown_and_ctrl_c_says_what_is_kept(tmp_path, terminal):
    ran, read_until = begun(tmp_path, terminal)
    try:
        told = read_until(" of 1,000,000 ")
        # On a terminal a line of its own, which is cleared; else one now and then.
        assert ("\x1b[2K" if terminal else "drawloom: test_long.py::test_long") in told, told
        ran.send_signal(signal.SIGINT)
        told = read_until("the next run starts again")
        assert "nothing is saved: the next run starts again" in told, told
        assert ran.wait(60) == 2
    finally:
        ran.kill()
