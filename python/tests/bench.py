"""CPU time per execution of the racy counter; beside Frontrun's, where that is installed.

`python tests/bench.py [threads]`; Frontrun is to be run under its own command: `frontrun python tests/bench.py`.
"""

import sys
import time

import drawloom


class Counter:
    def __init__(self):
        self.value = 0

    def increment(self):
        temp = self.value
        self.value = temp + 1


def increment(counter):
    counter.increment()


def measured(what, explore):
    explore()  # what is done once
    began = time.process_time()
    executions = explore()
    spent = time.process_time() - began
    print(f"{what:28} {executions:6} executions, {spent / executions * 1000:.3f} ms CPU each")


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    workers = [increment] * threads
    options = {"shrink": False, "fixes": 0}

    def ours(strategy, invariant=None):
        return drawloom.explore(Counter, workers, invariant, strategy=strategy, **options).executions

    measured("drawloom, all schedules", lambda: ours("exhaustive"))
    measured("drawloom, all, failing", lambda: ours("exhaustive", lambda c: c.value == threads))
    measured("drawloom, random", lambda: ours("random"))
    try:
        import frontrun
    except ImportError:
        return
    theirs = {"preemption_bound": None, "stop_on_first": False, "reproduce_on_failure": 0, "detect_io": False}
    measured("frontrun, DPOR", lambda: frontrun.explore(Counter, workers, lambda c: True, **theirs).num_explored)


if __name__ == "__main__":
    main()
