"""What is installed is a whole wheel: these tests run with one that was built as those are that are published, but for the command.

`python/wheel` builds the published ones, with the `drawloom` command beside the extension, and tries them in a new environment.
"""

import importlib.metadata
import os
import sys

from common import one_interval

# What is installed does not depend on when threads are switched.
pytestmark = one_interval
WHEEL = importlib.metadata.distribution("drawloom")


def files():
    return [str(file) for file in WHEEL.files or []]


def test_it_has_the_extension_the_library_for_drivers_and_the_types():
    assert any(file.startswith("drawloom/_drawloom.") for file in files()), files()
    assert "drawloom/py.typed" in files() and "drawloom/_drawloom.pyi" in files()
    if sys.platform == "linux":
        assert "drawloom/_preload.so" in files()


def test_it_has_nothing_of_the_checkout():
    strangers = [file for file in files() if not file.startswith(("drawloom/", "drawloom-", "../../../bin/"))]
    assert not strangers
    assert not [file for file in files() if "/tests/" in file or file.endswith(("conftest.py", ".rs", ".toml"))]


def test_registries_are_told_what_they_ask_for():
    told = WHEEL.metadata
    assert told["Name"] == "drawloom" and told["Version"] == WHEEL.version
    assert told["License-Expression"] == "MIT OR Apache-2.0"
    assert told["Requires-Python"] == ">=3.10" and told["Description-Content-Type"].startswith("text/markdown")
    assert {url.split(",")[0] for url in told.get_all("Project-URL")} >= {"Repository", "Documentation", "Changelog", "Issues"}
    assert any(each == "Framework :: Pytest" for each in told.get_all("Classifier"))
    assert {"LICENSE-MIT", "LICENSE-APACHE"} <= {os.path.basename(file) for file in files()}


def test_it_needs_nothing_else():
    assert not WHEEL.requires


def test_pytest_finds_the_plugin():
    found = [each for each in importlib.metadata.entry_points(group="pytest11") if each.name == "drawloom"]
    assert [each.value for each in found] == ["drawloom.pytest_plugin"]


def test_it_is_for_this_interpreter():
    text = WHEEL.read_text("WHEEL") or ""
    tags = [line.split(": ")[1] for line in text.splitlines() if line.startswith("Tag: ")]
    assert tags and all(tag.startswith((f"cp{sys.version_info[0]}{sys.version_info[1]}-", "cp3")) for tag in tags)
