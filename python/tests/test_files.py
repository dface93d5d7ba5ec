"""Files: what threads do to each other by way of them."""

import fcntl
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
from os import replace as imported_by_name

import drawloom
import pytest
from common import exhaust


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def afresh(folder, **files):
    """A setup that makes `folder` what it was, with `files` in it."""

    def setup():
        for left in sorted(folder.rglob("*"), reverse=True):
            left.rmdir() if left.is_dir() else left.unlink()
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

    return setup


def claim_after_look(folder):
    if not os.path.exists(folder / "claim"):
        with open(folder / "claim", "w"):
            pass
        with open(folder / "winners", "a") as winners:
            winners.write("x")


def claim_exclusively(folder):
    try:
        with open(folder / "claim", "x"):
            pass
    except FileExistsError:
        return
    with open(folder / "winners", "a") as winners:
        winners.write("x")


def one_winner(folder):
    return (folder / "winners").read_text() == "x"


def test_two_threads_create_what_neither_finds(folder):
    result = exhaust(afresh(folder), claim_after_look, one_winner, count=2)
    assert result.verdict == "fails", result.reason
    assert result.coarse is None


def test_exclusive_creation_has_one_winner(folder):
    result = exhaust(afresh(folder), claim_exclusively, one_winner, count=2)
    assert (result.verdict, result.coarse, result.executions) == ("holds", None, 2)


def count_in_file(folder):
    with open(folder / "n") as file:
        seen = int(file.read())
    with open(folder / "n", "w") as file:
        file.write(str(seen + 1))


def count_under_a_lock(folder):
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        count_in_file(folder)


def counts_two(folder):
    return (folder / "n").read_text() == "2"


def test_an_update_of_a_file_gets_lost(folder):
    result = exhaust(afresh(folder, n="0"), count_in_file, counts_two, count=2)
    assert (result.verdict, result.coarse) == ("fails", None)
    assert "file" in result.explanation and f"{folder}/n" in result.explanation


def test_a_half_written_file_is_seen(folder):
    """Opening for writing empties it; what is written comes when the buffer is flushed."""
    seen = set()

    def writer(folder):
        with open(folder / "n", "w") as file:
            file.write("1")

    def reader(folder):
        with open(folder / "n") as file:
            seen.add(file.read())

    result = exhaust(afresh(folder, n="0"), [writer, reader])
    assert (result.verdict, seen) == ("holds", {"", "0", "1"})
    # Two writes of the file, and two reads of it.
    assert result.executions == 6


def test_a_lock_of_a_file_is_waited_for_in_the_engine(folder):
    result = exhaust(afresh(folder, n="0"), count_under_a_lock, counts_two, count=2)
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None)


def test_three_threads_wait_for_a_lock_of_a_file(folder):
    result = drawloom.explore(
        afresh(folder, n="0"), count_under_a_lock, lambda f: (f / "n").read_text() == "3", count=3, executions=30,
        strategy="random",
    )
    assert result.verdict == "no_bug_found", result.explanation


def test_locks_of_files_deadlock(folder):
    def both(first, second):
        def worker(folder):
            with open(folder / first, "w") as one, open(folder / second, "w") as other:
                fcntl.flock(one, fcntl.LOCK_EX)
                fcntl.flock(other, fcntl.LOCK_EX)

        return worker

    result = exhaust(afresh(folder), [both("a", "b"), both("b", "a")])
    assert [finding.kind for finding in result.findings] == ["deadlock"]


def test_locks_of_posix_keep_no_threads_apart(folder):
    def worker(folder):
        with open(folder / "lock", "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            count_in_file(folder)

    assert exhaust(afresh(folder, n="0"), worker, counts_two, count=2).verdict == "fails"


def test_separate_files_do_not_meet(folder):
    def worker(name):
        def write(folder):
            with open(folder / name, "w") as file:
                file.write("x")
            assert (folder / name).read_text() == "x"

        return write

    result = exhaust(afresh(folder), [worker("a"), worker("b"), worker("c")])
    assert (result.verdict, result.executions, result.coarse) == ("holds", 1, None)


def test_readers_do_not_meet(folder):
    result = exhaust(afresh(folder, n="7"), lambda folder: (folder / "n").read_text(), count=3)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 1, None)


def test_a_name_is_gone_after_a_look(folder):
    def look(folder):
        if os.path.exists(folder / "old"):
            with open(folder / "old") as file:
                file.read()

    def move(folder):
        os.rename(folder / "old", folder / "new")

    result = exhaust(afresh(folder, old="x"), [look, move])
    assert result.verdict == "fails" and "FileNotFoundError" in result.findings[0].message
    assert result.coarse is None


def test_a_file_is_replaced_at_once(folder):
    def write(folder):
        with open(folder / "new", "w") as file:
            file.write("1")
        imported_by_name(folder / "new", folder / "n")

    def read(folder):
        assert (folder / "n").read_text() in ("0", "1")

    result = exhaust(afresh(folder, n="0"), [write, read])
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation


def test_two_threads_make_a_directory(folder):
    def after_a_look(folder):
        if not (folder / "d").is_dir():
            os.mkdir(folder / "d")

    def whether_or_not(folder):
        os.makedirs(folder / "d", exist_ok=True)
        (folder / "d" / "x").touch()

    result = exhaust(afresh(folder), after_a_look, count=2)
    assert result.verdict == "fails" and "FileExistsError" in result.findings[0].message
    result = exhaust(afresh(folder), whether_or_not, count=2)
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation


def test_a_file_needs_its_directory(folder):
    def make(folder):
        (folder / "d").mkdir()

    def use(folder):
        (folder / "d" / "x").write_text("x")

    result = exhaust(afresh(folder), [make, use])
    assert result.verdict == "fails" and "FileNotFoundError" in result.findings[0].message


def test_a_listing_depends_on_what_is_created(folder):
    seen = set()

    def look(folder):
        seen.add(tuple(sorted(os.listdir(folder))))

    def create(folder):
        (folder / "a").write_text("")

    assert exhaust(afresh(folder), [look, create]).verdict == "holds"
    assert seen == {(), ("a",)}


def test_removing_what_is_listed(folder):
    def clear(folder):
        for path in folder.iterdir():
            path.unlink()

    result = exhaust(afresh(folder, a=""), clear, count=2)
    assert result.verdict == "fails" and "FileNotFoundError" in result.findings[0].message
    assert result.coarse is None


@pytest.mark.parametrize("read, write", [
    (lambda p: json.loads(p.read_text()), lambda p, v: p.write_text(json.dumps(v))),
    (lambda p: json.load(p.open()), lambda p, v: json.dump(v, p.open("w"))),
    (lambda p: int(os.read(os.open(p, os.O_RDONLY), 9)), lambda p, v: os.write(os.open(p, os.O_WRONLY), str(v).encode())),
    (lambda p: int(next(iter(open(p)))), lambda p, v: print(v, file=open(p, "w", buffering=1))),
    (lambda p: int(io.open(p, "rb", buffering=0).read()), lambda p, v: io.open(p, "r+b", buffering=0).write(b"%d" % v)),
    (lambda p: int(open(p).readline()), lambda p, v: shutil.copy(made(p, v), p)),
    # From 3.14 on a path copies its file itself.
    *([(lambda p: int(open(p).readline()), lambda p, v: pathlib.Path(made(p, v)).copy(p))]
      if sys.version_info >= (3, 14) else []),
])
def test_an_update_gets_lost_however_it_is_written(folder, read, write):
    def worker(folder):
        path = folder / "n"
        write(path, read(path) + 1)

    result = exhaust(afresh(folder, n="0"), worker, lambda folder: int((folder / "n").read_text()) == 2, count=2)
    assert result.verdict == "fails" and result.findings[0].kind in ("invariant", "exception")
    assert result.coarse is None


if sys.version_info >= (3, 14):
    # Until then a path remembers nothing of its file.
    def test_what_a_path_remembers_is_shared_by_its_users(folder):
        def setup():
            return [afresh(folder, a="")() / "a"]

        def asks(paths):
            paths.append(paths[0].info.exists())

        def removes(paths):
            os.unlink(paths[0])

        result = exhaust(setup, [asks, removes], lambda paths: paths[1:] == [True])
        assert result.verdict == "fails" and result.coarse is None
        # Who has asked before is told the same again.
        assert exhaust(lambda: [path for path in setup() if path.info.exists()], [asks, removes],
                       lambda paths: paths[1:] == [True]).verdict == "holds"


def made(path, value):
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(str(value))
    return file.name


def test_a_file_object_that_threads_share(folder):
    """Its position is shared, too: who reads a line takes it from the others."""

    def setup():
        return afresh(folder, lines="1\n2\n")().joinpath("lines").open()

    seen = []

    def worker(lines):
        seen.append(lines.readline())

    result = exhaust(setup, worker, lambda lines: lines.close(), count=2)
    assert (result.verdict, result.coarse) == ("holds", None)
    assert {tuple(sorted(seen[i : i + 2])) for i in range(0, len(seen), 2)} == {("1\n", "2\n")}


def test_a_file_object_that_a_thread_hands_on(folder):
    class Log:
        file = None

        def write(self, text):
            if self.file is None:
                self.file = open(folder / "log", "w")
            self.file.write(text)

    def lines(log):
        log.file.close()
        return sorted((folder / "log").read_text()) == ["a", "b"]

    result = exhaust(lambda: afresh(folder)() and Log(), [lambda log: log.write("a"), lambda log: log.write("b")], lines)
    assert result.verdict == "fails", "two files are opened"


def test_a_pipe_is_read_when_somebody_has_written(folder):
    def setup():
        return os.pipe()

    def read(pipe):
        assert os.read(pipe[0], 10) == b"x"

    def write(pipe):
        os.write(pipe[1], b"x")

    def close(pipe):
        os.close(pipe[0])
        os.close(pipe[1])

    assert exhaust(setup, [read, write], close).verdict == "holds"
    assert [finding.kind for finding in exhaust(setup, [read]).findings] == ["starvation"]


def test_tasks_of_a_loop_meet_in_files(folder):
    import asyncio

    async def worker(folder):
        seen = int((folder / "n").read_text())
        await asyncio.sleep(0)
        (folder / "n").write_text(str(seen + 1))

    async def at_once(folder):
        (folder / "n").write_text(str(int((folder / "n").read_text()) + 1))

    assert exhaust(afresh(folder, n="0"), worker, counts_two, count=2).verdict == "fails"
    result = exhaust(afresh(folder, n="0"), at_once, counts_two, count=2)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 2, None)


def test_a_lost_update_of_a_file_is_replayed(folder):
    result = drawloom.explore(afresh(folder, n="0"), count_in_file, counts_two, count=2)
    assert result.verdict == "fails"
    assert result.replay().verdict == "fails"
    moved = exhaust(afresh(folder, a="x"), [lambda f: os.rename(f / "a", f / "b"), lambda f: (f / "a").read_text()])
    assert moved.verdict == "fails" and moved.replay().verdict == "fails"


def test_nothing_is_replaced_afterwards(folder):
    before = open, io.open, os.rename, os.stat, imported_by_name
    exhaust(afresh(folder), claim_exclusively, count=2)
    assert (open, io.open, os.rename, os.stat, imported_by_name) == before
