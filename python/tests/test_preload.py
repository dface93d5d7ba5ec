"""C code under the preloaded library: the programs are those of `preloaded.py`."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import subprocess
import sys

import drawloom
import pytest

HERE = pathlib.Path(__file__).parent
LIBRARY = pathlib.Path(drawloom.__file__).parent / "_preload.so"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can preload the library")


def preloaded(*command):
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def told():
    done = preloaded(sys.executable, str(HERE / "preloaded.py"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def classes(operations):
    """How many ways there are for two threads to do these to one file, as far as they differ."""
    seen = set()
    for first in itertools.combinations(range(2 * len(operations)), len(operations)):
        at, word = [0, 0], []
        for position in range(2 * len(operations)):
            thread = 0 if position in first else 1
            word.append((thread, at[thread]))
            at[thread] += 1
        conflicts = (
            (one, other)
            for number, one in enumerate(word)
            for other in word[number + 1 :]
            if one[0] != other[0] and "write" in (operations[one[1]], operations[other[1]])
        )
        seen.add(frozenset(conflicts))
    return len(seen)


def test_files_that_c_code_reads_and_writes_are_explored_exactly(told):
    files = told["files"]
    # It is opened, read and written.
    assert (files["verdict"], files["executions"]) == ("fails", classes(["read", "read", "write"]))
    assert files["coarse"] is None
    assert "pwrite(fd, text, len(text), 0)" in told["found"]["text"]
    assert "writes `file " in told["found"]["text"]


def test_what_is_found_is_found_again(told):
    assert told["found"]["again"]


def test_a_lock_of_a_file_is_waited_for_and_holds(told):
    assert (told["locked"]["verdict"], told["locked"]["coarse"]) == ("holds", None)


def test_files_are_the_same_whoever_uses_them(told):
    assert told["mixed"]["verdict"] == "fails"


def test_a_name_that_is_taken_away_between_two_looks(told):
    assert (told["renamed"]["verdict"], told["renamed"]["kinds"]) == ("fails", ["exception"])
    assert "it was there, and is gone" in told["renamed"]["text"]


def test_reading_from_a_pipe_waits_for_the_one_who_writes(told):
    assert (told["conversation"]["verdict"], told["conversation"]["uncontrolled"]) == ("holds", None)


def test_two_who_wait_for_each_other_are_found_at_once(told):
    assert (told["crossed"]["verdict"], told["crossed"]["kinds"]) == ("fails", ["starvation"])
    assert told["crossed"]["uncontrolled"] is None


def test_time_is_virtual(told):
    assert (told["late"]["verdict"], told["late"]["kinds"]) == ("fails", ["exception"])
    assert "nothing within an hour" in told["late"]["text"]
    assert told["in time"]["verdict"] == "holds"


def test_who_sends_much_waits_for_room(told):
    assert told["much"]["verdict"] == "no_bug_found", told["much"]


def test_connections_within_the_program(told):
    assert told["served"]["verdict"] == "holds", told["served"]
    assert (told["unserved"]["verdict"], told["unserved"]["kinds"]) == ("fails", ["starvation"])


def test_who_waits_for_another_process_waits_for_real_and_says_so(told):
    assert told["outside"]["verdict"] == "no_bug_found", told["outside"]
    assert told["outside"]["uncontrolled"] == "pipe 2"


def test_a_database_library_loses_an_update_unless_transactions_begin_with_a_lock(told):
    assert (told["database"]["verdict"], told["database"]["kinds"]) == ("fails", ["invariant"])
    assert told["transaction"]["verdict"] == "no_bug_found", told["transaction"]


def test_without_an_exploration_nothing_is_changed(tmp_path):
    file = tmp_path / "file"
    done = preloaded("sh", "-c", f"echo text > {file}; cat {file}; rm {file}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "text\n", "")
