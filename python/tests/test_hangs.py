"""Workers that never come to an end: the exploration does, and says where they stand."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import drawloom
import pytest
from common import Box, one_interval

pytestmark = [one_interval, pytest.mark.skipif(sys.platform == "win32", reason="no such signals")]


def state():
    return Box(n=0, lock=threading.Lock())


def go(box):
    box.n = 1


def increment(box):
    value = box.n
    box.n = value + 1


def wait_for_it(box):
    while not box.n:
        pass


def sleep_for_ever(box):
    with box.lock:
        while True:
            time.sleep(1)


def spin(box):
    with box.lock:
        while True:
            pass


def spin_on(box):
    while True:
        try:
            spin(box)
        except BaseException:
            pass


def others_go_on():
    """What came before has left nothing behind."""
    result = drawloom.explore(state, [increment, increment], lambda box: box.n == 2)
    assert result.verdict == "fails" and result.findings[0].kind == "invariant", result.reason
    return True


@pytest.mark.parametrize("strategy", ["auto", "random"])
def test_a_flag_that_is_spun_on_is_written_sooner_or_later(strategy):
    result = drawloom.explore(state, [wait_for_it, go], strategy=strategy, executions=50, timeout=60)
    assert result.verdict in ("holds", "no_bug_found"), result.reason
    result = drawloom.explore(state, [wait_for_it, go], lambda box: False, strategy=strategy, timeout=60)
    assert result.verdict == "fails", result.reason


def test_who_spins_on_what_is_written_only_then_is_let_go_on():
    def first(box):
        while not box.n:
            pass
        box.other = 1

    def second(box):
        box.n = 1
        while not getattr(box, "other", 0):
            pass

    result = drawloom.explore(state, [first, second], executions=20, timeout=60)
    assert result.verdict in ("holds", "no_bug_found"), result.reason


@pytest.mark.parametrize("timeout", [2, 2.0, "2s"])
def test_a_timeout_is_heeded_in_the_midst_of_an_execution(timeout):
    assert others_go_on()  # What is looked at only once has been.
    began = time.monotonic()
    result = drawloom.explore(state, [sleep_for_ever, go], timeout=timeout, max_steps=10**12)
    assert time.monotonic() - began < 60
    assert result.verdict == "inconclusive" and result.executions == 0
    assert "the time was up during an execution: task 0.1 `sleep_for_ever` runs" in result.reason
    assert "test_hangs.py" in result.reason and "in `sleep_for_ever`: " in result.reason
    assert "holds mutex, taken at" in result.reason
    assert others_go_on()


@pytest.mark.parametrize("worker", [spin, spin_on])
def test_who_makes_no_step_is_ended_when_the_time_is_up(worker):
    result = drawloom.explore(state, [worker, go], timeout=1)
    assert result.verdict == "inconclusive"
    assert "in `spin`: " in result.reason and "holds mutex" in result.reason, result.reason
    assert others_go_on()


def test_who_makes_no_step_is_ended_without_a_timeout():
    result = drawloom.explore(state, [spin, go])
    assert result.verdict == "inconclusive"
    assert "an execution does not end: task 0.1 `spin` runs" in result.reason
    assert "in `spin`: " in result.reason
    assert others_go_on()


def test_a_setup_that_does_not_end_is_ended():
    def endless():
        while True:
            pass

    result = drawloom.explore(endless, [go, go], timeout=1)
    assert result.verdict == "inconclusive" and "main runs" in result.reason and "in `test_" in result.reason
    assert others_go_on()


def test_a_setup_that_blocks_for_real_is_ended():
    reading, writing = os.pipe()

    def blocking():
        os.read(reading, 1)

    for options in ({"timeout": 1}, {"stuck_after": 0.5}):
        result = drawloom.explore(blocking, [go, go], **options)
        assert result.verdict == "inconclusive" and "os.read(reading, 1)" in result.reason, result.reason
    os.close(reading)
    os.close(writing)
    assert others_go_on()


def test_a_coroutine_that_awaits_nothing_is_ended():
    async def endless(_):
        while True:
            pass

    result = drawloom.explore(state, [endless, endless], timeout=1)
    assert result.verdict == "inconclusive" and "`endless` runs" in result.reason, result.reason
    assert others_go_on()


def test_what_was_found_before_the_time_was_up_is_told():
    def sometimes(box):
        value = box.n
        box.n = value + 1
        if box.n > 1:
            while True:
                pass

    result = drawloom.explore(state, [sometimes, increment], lambda box: box.n == 2, strategy="random",
                              keep_going=True, timeout=1)
    assert result.verdict == "fails" and {finding.kind for finding in result.findings} == {"invariant"}, result.reason
    assert "1 found; the time was up during an execution" in result.reason


def test_a_timeout_between_executions_is_no_hang():
    result = drawloom.explore(state, [increment] * 3, executions=10**9, strategy="random", timeout=1)
    assert result.verdict == "no_bug_found" and "out of time" in result.reason, result.reason


def interrupted(box):
    signal.raise_signal(signal.SIGINT)
    spin(box)


def test_ctrl_c_ends_an_exploration_whose_worker_spins():
    with pytest.raises(KeyboardInterrupt, match="interrupted after 0 executions"):
        drawloom.explore(state, [interrupted, go])
    assert others_go_on()


def test_what_was_found_before_ctrl_c_stays_found_whatever_it_says():
    made = itertools.count()

    def setup():
        if next(made) > 40:
            signal.raise_signal(signal.SIGINT)
        return state()

    def gives_up(box):
        raise KeyboardInterrupt("of the program's own")

    with pytest.raises(KeyboardInterrupt, match="1 found") as interrupt:
        drawloom.explore(setup, [gives_up, go], strategy="random", keep_going=True, shrink=False)
    result = interrupt.value.result
    assert result.verdict == "fails"
    assert ["of the program's own" in finding.message for finding in result.findings] == [True]


def run(script, text):
    script.write_text(textwrap.dedent(text))
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("markers", [False, True])
def test_ctrl_c_ends_a_worker_that_nobody_sees(markers, tmp_path):
    explored = "drawloom.explore(object, [spin, print])"
    if markers:
        explored = "explore_marker_interleavings(object, {'a': spin}, lambda state: True, timeout=None)"
    process = run(tmp_path / "unseen.py", f"""
        import signal, sys, drawloom
        from drawloom.markers import explore_marker_interleavings

        def spin(_):
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
            while True:
                pass

        try:
            {explored}
        except KeyboardInterrupt:
            print("ended")
    """)
    assert process.communicate(timeout=300)[0] == "ended\n"


def test_ctrl_c_ends_an_exploration_whose_setup_spins():
    def endless():
        interrupted(state())

    with pytest.raises(KeyboardInterrupt, match="interrupted after 0 executions"):
        drawloom.explore(endless, [go, go])
    assert others_go_on()


def test_ctrl_c_ends_the_process_if_nothing_else_helps(tmp_path):
    process = run(tmp_path / "kept.py", """
        import itertools, drawloom

        def keep(_):
            print("begins", flush=True)
            sum(itertools.repeat(0))

        drawloom.explore(object, [keep, keep])
    """)
    assert process.stdout.readline() == "begins\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGINT, said
    # Unless the machine is so slow that it has not come to the call: then it is ended as any other.
    is_kept = "keeps the interpreter's lock" in said and "kept.py:6" in said
    assert is_kept or "KeyboardInterrupt: the exploration was interrupted" in said, said


def test_a_setup_that_blocks_for_real_is_ended_in_the_background(tmp_path):
    """There Ctrl-C is ignored, and does not wake anybody."""
    process = run(tmp_path / "background.py", """
        import os, signal, drawloom

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        reading, writing = os.pipe()
        for options in ({"timeout": 1}, {"stuck_after": 0.5}):
            result = drawloom.explore(lambda: os.read(reading, 1), [lambda _: None] * 2, **options)
            print(result.verdict, "os.read(reading, 1)" in result.reason)
        print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, signal.getsignal(signal.SIGURG) is signal.SIG_DFL)
    """)
    told, said = process.communicate(timeout=300)
    assert told.split() == ["inconclusive", "True"] * 2 + ["True", "True"], said


def test_a_setup_that_blocks_in_a_thread_that_nobody_can_wake_ends_the_process(tmp_path):
    process = run(tmp_path / "thread.py", """
        import os, threading, drawloom

        reading, writing = os.pipe()

        def blocks():
            os.read(reading, 1)

        def explore():
            drawloom.explore(blocks, [lambda _: None] * 2, stuck_after=0.5)

        thread = threading.Thread(target=explore)
        thread.start()
        thread.join()
    """)
    _, said = process.communicate(timeout=300)
    assert process.returncode != 0 and "thread.py:7" in said and "the process ends" in said, said
