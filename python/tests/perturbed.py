"""Nothing of a result is chance: explorations of the suite are made again in a process that is disturbed.

`python tests/perturbed.py` makes each of them several times: between them, and within executions whenever a task begins,
memory of many sizes is held and freed, files are opened, threads are counted on, garbage is left or collected, and other
explorations are made. With `--across` it is done in several processes as well, which hash texts otherwise and have their
memory from elsewhere. All must come to the same, byte for byte: counts, tokens, records and reports. What else is given
goes to pytest: `python tests/perturbed.py test_async.py -k gather`.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import drawloom
from drawloom import _explore

TESTS = Path(__file__).parent
AGAIN = 3
"""Times that each exploration is made in a process."""
PROCESSES: list[dict[str, str]] = [
    {"PYTHONHASHSEED": "0"},
    {"PYTHONHASHSEED": "1", "PYTHONMALLOC": "malloc"},
    {"PYTHONHASHSEED": "2", "PYTHONMALLOC": "debug", "UNUSED": "x" * 5000},
]
# What these are about is real time, servers, or the process itself.
LEFT_OUT = ("soak", "preload", "real_time", "postgres", "redis", "fuzz", "perturbed", "frontrun", "markers", "plugin")
# Options of explorations that are what they are because of the time that they take, or are no explorations.
NOT_COMPARED = {"timeout", "stuck_after", "replay"}
# Options that all strategies have.
OF_ALL = {"count", "backend", "max_steps", "clock"}
# Of one test; and of one exploration.
MOST_EXPLORATIONS, MOST_EXECUTIONS = 6, 50

_native = drawloom.explore
# Not under test, by the name of its file: what it does is no step.
_names: dict[str, Any] = {"__name__": "disturbance"}
exec(compile((TESTS / "disturbance.py").read_text(), "<frozen importlib of disturbances>", "exec"), _names)
Disturbance = _names["Disturbance"]


def told(result: Any) -> dict[str, Any]:
    """All that an exploration says."""
    findings = [
        {"kind": f.kind, "message": f.message, "token": f.token, "schedule": f.schedule, "occurrences": f.occurrences,
         "preemptions": f.preemptions, "record": {**json.loads(f.record), "command": None}, "anomaly": f.anomaly,
         "report": [line for line in f.report.splitlines() if not line.startswith("replay: ")]}
        for f in result.findings
    ]
    of_result = ("verdict", "reason", "executions", "steps", "exhausted", "failing", "coarse", "uncontrolled")
    return {**{name: getattr(result, name) for name in of_result}, "findings": findings}


def explored(seed: int, setup: Any, workers: Any, invariant: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What an exploration says in a process that is disturbed as `seed` has it."""
    disturbance = Disturbance(seed)

    def disturbed(native: Any) -> Any:
        if not hasattr(native, "__name__"):
            return native
        return functools.wraps(native)(disturbance.before(native, _explore.is_async(native)))

    disturbance.between()
    if seed:
        _native(list, [lambda s: s.append(1)] * 2, strategy="random", executions=seed * 23)
    workers = disturbed(workers) if callable(workers) else [disturbed(worker) for worker in workers]
    return told(_native(disturbed(setup), workers, invariant, **options))


def difference(one: Any, other: Any, at: str = "result") -> str:
    """Where two results differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if one.get(key) != other.get(key):
                return difference(one.get(key), other.get(key), f"{at}.{key}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, (a, b) in enumerate(zip(one, other)):
            if a != b:
                return difference(a, b, f"{at}[{n}]")
    return f"{at}: {one!r} != {other!r}"[:1500]


class Comparing:
    """In place of `drawloom.explore`: makes each exploration several times, and compares."""

    def __init__(self, again: int, folder: Path | None = None) -> None:
        self.again, self.folder = again, folder
        self.explorations = self.comparisons = 0
        self.of_test: dict[str, int] = {}
        self.differences: list[str] = []

    def explore(self, setup: Any, workers: Any, invariant: Any = None, **options: Any) -> Any:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        number = self.of_test[test] = self.of_test.get(test, 0) + 1
        if not NOT_COMPARED & options.keys() and number <= MOST_EXPLORATIONS:
            for strategy in ("exhaustive", "random"):
                given = {name: value for name, value in options.items() if name in OF_ALL}
                limited = given | limits(strategy, MOST_EXECUTIONS)
                self.compare(f"{test}, {number}, {strategy}", setup, workers, invariant, limited)
        return _native(setup, workers, invariant, **options)

    def compare(self, name: str, setup: Any, workers: Any, invariant: Any, options: dict[str, Any]) -> None:
        """Makes one of them, with these options."""
        options = {**options, "name": name}
        results = [explored(seed, setup, workers, invariant, options) for seed in range(self.again)]
        self.explorations += 1
        self.comparisons += len(results) - 1
        for other in results[1:]:
            if other != results[0]:
                self.differences.append(f"{name}: {difference(results[0], other)}")
                break
        if self.folder is not None:
            (self.folder / str(self.explorations)).write_text(json.dumps([name, results[0]]))


def limits(strategy: str, executions: int) -> dict[str, Any]:
    """Options by which an exploration ends soon, but not because of the time that it takes: who minimises for less than
    the whole looks at the clock."""
    if strategy == "exhaustive":
        return {"strategy": strategy, "max_schedules": executions, "shrink": False, "fixes": 0}
    return {"strategy": strategy, "executions": min(executions, 20), "keep_going": True, "seed": 7, "shrink": "full",
            "fixes": 0}


def compared(arguments: list[str], folder: Path | None = None, again: int = AGAIN) -> Comparing:
    """Makes the explorations of tests; whether these pass does not matter here."""
    comparing = Comparing(again, folder)
    drawloom.explore = comparing.explore  # type: ignore[assignment]
    try:
        pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", "--no-summary", "-k", "not busy", *arguments])
    finally:
        drawloom.explore = _native
    return comparing


def across(arguments: list[str]) -> int:
    """The same in several processes, whose results are compared as well. How many differ."""
    different = comparisons = 0
    with tempfile.TemporaryDirectory() as found:
        folders = [Path(found) / str(n) for n in range(len(PROCESSES))]
        for folder, environment in zip(folders, PROCESSES):
            folder.mkdir()
            command = [sys.executable, __file__, f"--folder={folder}", *arguments]
            different += subprocess.run(command, env={**os.environ, **environment}, check=False).returncode != 0
        first, *others = map(dict, map(read, folders))
        for other in others:
            for name, result in first.items():
                comparisons += 1
                if result != other.get(name):
                    different += 1
                    print(f"{name}: {difference(result, other.get(name))}", file=sys.stderr)
    print(f"{comparisons} comparisons across {len(PROCESSES)} processes, {different} differ")
    return different


def read(folder: Path) -> Iterator[tuple[str, Any]]:
    for file in sorted(folder.iterdir(), key=lambda file: int(file.name)):
        yield tuple(json.loads(file.read_text()))


def main() -> None:
    own = [argument for argument in sys.argv[1:] if argument == "--across" or argument.startswith("--folder=")]
    rest = [argument for argument in sys.argv[1:] if argument not in own]
    if "--across" in own:
        sys.exit(across(rest) > 0)
    if not any(argument.startswith("test_") for argument in rest):
        rest += [file.name for file in sorted(TESTS.glob("test_*.py")) if not any(part in file.name for part in LEFT_OUT)]
    rest = [str(TESTS / argument) if argument.startswith("test_") else argument for argument in rest]
    folder = next((Path(argument.partition("=")[2]) for argument in own), None)
    comparing = compared(rest, folder)
    print(*comparing.differences, sep="\n")
    print(f"{comparing.explorations} explorations, {comparing.comparisons} comparisons, {len(comparing.differences)} differ")
    sys.exit(bool(comparing.differences))


if __name__ == "__main__":
    main()
