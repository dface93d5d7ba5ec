"""Waits that nobody ends: reports say for what, who has it, and where it was taken; a circle is claimed if there is one."""

import asyncio
import os
import pathlib
import re

import pytest
import waits_programs as programs

import drawloom

_HERE = pathlib.Path(__file__).parent
_REPORTS = _HERE / "data" / "waits"


def explored(program, **options):
    setup, workers = program()
    return drawloom.explore(setup, workers, **options)


def the_kind(program, **options):
    result = explored(program, **options)
    assert result.verdict == "fails", result.reason
    return result.findings[0].kind


def shown(report):
    """What a user reads of it, but for what depends on where it lies and how it was found."""
    report = report.replace(f"{_HERE}{os.sep}", "").split("\nseed ")[0]
    report = re.sub(r'in test ".*":', "in a test:", report)
    # How many steps a loop within a thread makes is another matter in each version.
    report = re.sub(r"… \d+ unrelated steps? …", "… unrelated steps …", report)
    # And so is how many executions were looked at for it.
    parts = [part for part in report.split("\n\n") if not part.startswith("Shared state")]
    return "\n\n".join(parts).rstrip() + "\n"


def is_as_before(name, report):
    """Holds a report against the one that is kept; writes the new one beside it, to be read, if it is another one."""
    kept, new = _REPORTS / f"{name}.txt", _REPORTS / f"{name}.txt.new"
    if not kept.exists() or kept.read_text() != report:
        if os.access(_REPORTS, os.W_OK):
            new.write_text(report)
        expected = kept.read_text() if kept.exists() else ""
        assert report == expected, f"{new} is to be read, and then to be moved to {kept.name}"


TOLD = {
    programs.locks_in_two_orders: "deadlock",
    programs.a_permit_that_is_kept: "starvation",
    programs.an_event_that_nobody_sets: "starvation",
    programs.a_queue_that_nobody_fills: "starvation",
    programs.queues_in_a_circle: "deadlock",
    programs.tasks_that_await_each_other: "deadlock",
    programs.a_condition_that_was_notified_before: "starvation",
    programs.children_of_who_has_the_lock: "deadlock",
    programs.threads_that_receive_from_each_other: "deadlock",
    programs.coroutines_that_receive_from_each_other: "deadlock",
    programs.a_pipe_that_nobody_writes_to: "starvation",
    programs.a_queue_of_threads_in_a_task: "deadlock",
    programs.locks_in_a_loop_beside_a_thread: "deadlock",
    programs.an_event_in_a_loop_beside_a_thread: "starvation",
}


@pytest.mark.parametrize("program", TOLD, ids=lambda program: program.__name__)
def test_a_report_says_who_waits_for_what(program):
    result = explored(program)
    finding = result.findings[0]
    assert (result.verdict, finding.kind) == ("fails", TOLD[program]), finding.report
    assert "drawloom/_" not in finding.report and "condvar" not in finding.report
    is_as_before(program.__name__, shown(finding.report))


@pytest.mark.parametrize("program", [program for program in TOLD if "beside" not in program.__name__], ids=lambda program: program.__name__)
def test_the_kind_does_not_depend_on_the_strategy(program):
    assert the_kind(program, strategy="exhaustive") == TOLD[program]


def test_a_replay_tells_the_same(monkeypatch):
    # The same test, both times.
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    first = explored(programs.threads_that_receive_from_each_other).findings[0]
    again = explored(programs.threads_that_receive_from_each_other, replay=first.token).findings[0]
    assert (first.kind, again.kind) == ("deadlock", "deadlock")
    assert again.report.split("\n\n")[:2] == first.report.split("\n\n")[:2]


def test_a_pair_of_locks_of_trio():
    trio = pytest.importorskip("trio")

    async def forwards(s):
        async with s.a:
            async with s.b:
                pass

    async def backwards(s):
        async with s.b:
            async with s.a:
                pass

    def setup():
        bank = programs.SimpleNamespace()
        bank.a, bank.b = trio.Lock(), trio.Lock()
        return bank

    finding = drawloom.explore(setup, [forwards, backwards], backend="trio").findings[0]
    assert finding.kind == "deadlock"
    line = forwards.__code__.co_firstlineno
    assert f"blocked on acquire() of lock `b` at {__file__}:{line + 2}, held by task 0.2 since {__file__}:{line + 6}" in finding.report
    assert "holds `a` and waits for `b`" in finding.report and "join() for task 0.2" not in finding.report


def test_an_event_of_trio_that_nobody_sets():
    trio = pytest.importorskip("trio")

    async def waits(s):
        await s.ready.wait()

    finding = drawloom.explore(lambda: programs.SimpleNamespace(ready=trio.Event()), [waits, waits], backend="trio").findings[0]
    assert finding.kind == "starvation" and "blocked on wait() of event `ready`" in finding.report


def test_an_event_of_threads_keeps_the_loop_from_who_would_set_it():
    finding = explored(programs.an_event_of_threads_in_a_task).findings[0]
    assert finding.kind == "deadlock" and "waits for the event loop" in finding.report


@pytest.mark.parametrize("program", [
    programs.a_queue_of_threads_that_no_task_fills,
    programs.a_lock_whose_holder_has_ended,
    programs.a_lock_whose_holder_waits_for_ever,
    programs.permits_that_are_signals,
    programs.a_socket_whose_other_end_nobody_uses,
    programs.a_socket_whose_peer_has_ended,
    programs.a_server_that_waits_for_something_else,
], ids=lambda program: program.__name__)
def test_what_is_no_circle_is_starvation(program):
    result = explored(program)
    assert (result.verdict, {finding.kind for finding in result.findings}) == ("fails", {"starvation"}), result.explanation
    assert "Dependency cycle" not in result.explanation


@pytest.mark.parametrize("program", [
    programs.locks_that_are_given_back,
    programs.a_circle_that_a_timeout_breaks,
], ids=lambda program: program.__name__)
def test_what_ends_holds(program):
    result = explored(program, strategy="exhaustive")
    assert result.verdict == "holds", result.explanation


def test_a_lock_is_held_by_who_took_it_last():
    """Whoever took it first, and lost it to another one, is not to blame."""
    result = explored(programs.a_lock_that_another_task_gives_back)
    report = result.findings[0].report
    assert "Dependency cycle" not in report and "held by task 0.2" in report and "held by task 0.1" not in report, report


def test_a_waiter_that_was_cancelled_holds_nothing():
    result = explored(programs.a_waiter_that_is_cancelled, strategy="exhaustive")
    assert result.verdict == "holds", result.explanation


def test_a_coroutine_that_nobody_awaits_is_the_librarys_not_ours():
    async def forgets(s):
        s.lock.acquire()

    result = drawloom.explore(lambda: programs.SimpleNamespace(lock=asyncio.Lock()), [forgets])
    assert "'Lock.acquire' was never awaited" in result.explanation
    assert "drawloom/_async" not in result.explanation
