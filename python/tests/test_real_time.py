"""What happens in real time: threads that stand still out of sight, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import drawloom
import pytest
from common import Cell, exhaust

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


@pytest.fixture(autouse=True)
def switch_interval():
    """Once is enough."""


def read_from(descriptor):
    return os.read(descriptor, 1)


def test_a_thread_that_blocks_for_real_is_reported():
    reading, writing = os.pipe()

    def wait(_):
        read_from(reading)

    def write(_):
        os.write(writing, b"x")

    began = time.monotonic()
    result = exhaust(Cell, [wait, write], stuck_after=0.5)
    assert result.verdict == "inconclusive"
    assert "uncontrolled blocking in `return os.read(descriptor, 1)` in `read_from`" in result.reason
    assert "test_real_time.py:" in result.reason and "left behind" in result.reason
    assert time.monotonic() - began < 30
    # The thread is given up; should it come back, it is stopped, and nobody notices.
    os.write(writing, b"x")
    time.sleep(0.2)
    assert exhaust(Cell, [lambda c: None, lambda c: None]).verdict == "holds"
    os.close(writing)
    os.close(reading)


def test_who_blocks_in_the_standard_library_is_named_by_both():
    def wait(_):
        subprocess.run(["sleep", "30"], check=True)

    result = exhaust(Cell, [wait, lambda c: None], stuck_after=0.5)
    assert result.verdict == "inconclusive"
    # Of what class a function is, code objects know from 3.11 on.
    blocks_in = "`Popen." if sys.version_info >= (3, 11) else "`_try_wait`"
    assert blocks_in in result.reason and "called by `subprocess.run(" in result.reason


def test_a_slow_computation_is_not_blamed():
    def compute(cell):
        end = time.thread_time_ns  # virtual, as all clocks
        assert callable(end)
        for _ in range(20):
            sum(range(400_000))

    assert exhaust(Cell, [compute, lambda c: None], stuck_after=0.3).verdict == "holds"


def test_a_wait_that_ends_by_itself_is_none():
    def wait(_):
        subprocess.run(["sleep", "0.3"], check=True)

    # Nothing is known of what it does, but it is waited for.
    result = drawloom.explore(Cell, [wait, lambda c: None], strategy="random", executions=2, stuck_after=0)
    assert result.verdict == "no_bug_found", result.reason


def run(arguments, text, tmp_path, after):
    script = tmp_path / "test_interrupted.py"
    script.write_text(textwrap.dedent(text))
    process = subprocess.Popen([sys.executable, *arguments, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, cwd=tmp_path, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    seen = ""
    while after not in seen:
        line = process.stdout.readline()
        assert line, seen
        seen += line
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert time.monotonic() - began < 30
    return process.returncode, seen + rest


LONG = """
    import sys, drawloom

    class Counter:
        value = 0

    def increment(counter):
        for _ in range(20):
            value = counter.value
            counter.value = value + 1

    def explore():
        print("begins", file=sys.__stderr__, flush=True)
        return drawloom.explore(Counter, [increment] * 4, strategy="exhaustive")
"""


def test_ctrl_c_in_a_script(tmp_path):
    text = LONG + """
    try:
        explore()
    except KeyboardInterrupt as interrupt:
        print("interrupted:", interrupt, interrupt.result.verdict, interrupt.result.executions > 10)
        print("handler:", __import__("signal").getsignal(2))
    print("goes on")
"""
    code, said = run([], text, tmp_path, "begins")
    assert code == 0, said
    assert "interrupted: the exploration was interrupted after " in said, said
    assert "executions: nothing found; nothing is saved: the next run starts again no_bug_found True" in said
    assert "default_int_handler" in said and "goes on" in said


def test_ctrl_c_in_a_script_that_does_not_care(tmp_path):
    code, said = run([], LONG + "\n    explore()\n", tmp_path, "begins")
    assert code in (-signal.SIGINT, 130, 1)
    assert "KeyboardInterrupt: the exploration was interrupted after " in said


def test_ctrl_c_under_pytest(tmp_path):
    text = LONG + """
    def test_long():
        explore()

    def test_not_reached():
        raise AssertionError
"""
    code, said = run(["-m", "pytest", "-s", "-p", "no:cacheprovider"], text, tmp_path, "begins")
    assert code == 2, said
    assert "KeyboardInterrupt: the exploration was interrupted after " in said, said
    assert "no tests ran" in said and "AssertionError" not in said


def test_ctrl_c_while_a_worker_is_stuck(tmp_path):
    text = """
    import os, sys, drawloom

    # Nobody knows of it in the exploration.
    made_before = os.pipe()

    def wait(_):
        print("begins", file=sys.__stderr__, flush=True)
        os.read(made_before[0], 1)

    drawloom.explore(object, [wait, wait], strategy="random", stuck_after=0)
"""
    code, said = run([], text, tmp_path, "begins")
    assert code in (-signal.SIGINT, 130, 1)
    assert "KeyboardInterrupt: the exploration was interrupted after 0 executions" in said, said


def test_ctrl_c_while_the_setup_is_stuck(tmp_path):
    text = """
    import os, sys, drawloom

    def setup():
        print("begins", file=sys.__stderr__, flush=True)
        os.read(os.pipe()[0], 1)

    drawloom.explore(setup, [print, print], strategy="random")
"""
    code, said = run([], text, tmp_path, "begins")
    assert code in (-signal.SIGINT, 130, 1)
    assert "KeyboardInterrupt: the exploration was interrupted after 0 executions" in said, said


def test_from_another_thread_ctrl_c_is_left_alone():
    before = signal.getsignal(signal.SIGINT)
    results = []
    thread = threading.Thread(target=lambda: results.append(exhaust(Cell, [lambda c: None] * 2)))
    thread.start()
    thread.join()
    assert results[0].verdict == "holds"
    assert signal.getsignal(signal.SIGINT) is before
