"""The pytest plugin: options for all explorations, and findings in the report of their test."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from . import _ci, _drawloom, _naming, _settings
from ._explore import explore
from ._result import Finding, Result
from ._testing import ExplorationFailed, check

_OPTIONS = {
    "strategy": "the strategy of all explorations: exhaustive, random, pos …",
    "seed": "the seed of all explorations",
    "iterations": "the number of schedules that each exploration tries",
    "replay": "the schedule to replay, as printed by a failing test",
}
_RESULTS = pytest.StashKey[list[Result]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("drawloom", "deterministic concurrency testing")
    for name, text in _OPTIONS.items():
        group.addoption(f"--drawloom-{name}", default=None, help=text)
    group.addoption("--drawloom-dir", default=None, help="folder for pages and traces of findings (.drawloom)")
    _ci.add_options(group)


def pytest_configure(config: pytest.Config) -> None:
    for name in _OPTIONS:
        value = config.getoption(f"drawloom_{name}")
        if value is not None:
            _settings.given[name] = value
    # A process of xdist sends its reports to another one.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_ci.Collected(config), "drawloom-ci")
        _show_progress(config)


def _show_progress(config: pytest.Config) -> None:
    """Progress is for whoever waits: it goes past pytest, which keeps what tests print."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None and config.getoption("capture") != "no":
        with capture.global_and_fixture_disabled():
            _drawloom.show_progress_on(os.dup(2))


def pytest_unconfigure(config: pytest.Config) -> None:
    _settings.given.clear()
    _drawloom.show_progress_on(-1)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    _naming.begin_test()
    before, _settings.results = _settings.results, []
    item.stash[_RESULTS] = _settings.results
    try:
        yield
    finally:
        _settings.results = before


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    results = item.stash.get(_RESULTS, [])
    if call.when != "call" or not results:
        return
    if not report.failed:
        _ci.note(item, report, results, {})
        return
    pages: dict[str, str] = {}
    findings = [finding for result in results if result.verdict == "fails" for finding in result.findings]
    texts = [_text(item, finding, pages) for finding in findings]
    if call.excinfo is not None and isinstance(call.excinfo.value, ExplorationFailed):
        # The traceback leads through the exploration, and says nothing that the report does not.
        report.longrepr = "\n".join(texts) or str(call.excinfo.value)
    elif texts:
        report.sections.append(("drawloom", "\n".join(texts)))
    _ci.note(item, report, results, pages)


def _text(item: pytest.Item, finding: Finding, pages: dict[str, str]) -> str:
    """The report of a finding, which is kept as a page, too: in `pages` is where."""
    root = item.config.rootpath
    directory = item.config.getoption("drawloom_dir") or _settings.setting("dir") or root / ".drawloom"
    page: str | None
    try:
        page = str(finding.save(directory, item.nodeid))
    except OSError as error:
        return f"{finding.report}the page could not be written: {error}\n"
    if Path(page).is_relative_to(root):
        page = str(Path(page).relative_to(root))
    pages[finding.record] = page
    return finding.render(page=page)


@pytest.fixture
def drawloom_explore() -> Callable[..., Result]:
    """`drawloom.explore`, and the test fails if something is found or nothing can be said."""

    def explored(*args: Any, must_hold: bool = False, **options: Any) -> Result:
        __tracebackhide__ = True
        return check(explore(*args, **options), must_hold)

    return explored
