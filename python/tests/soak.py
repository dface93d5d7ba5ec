"""100,000 executions in one process, with memory that stays where it is: `soak.py [executions]`.

Threads and event loops, explorations that find something and such that do not, one after the other. Every tenth part it
prints how much memory the process has; in the end it fails if that has grown by more than a tenth since the first.
"""

from __future__ import annotations

import asyncio
import gc
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import drawloom


class State:
    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()
        self.condition = threading.Condition()
        self.queue: queue.Queue[int] = queue.Queue()
        self.items: dict[str, int] = {}


def add(state: State) -> None:
    seen = state.value
    state.value = seen + 1


def add_with_lock(state: State) -> None:
    with state.lock:
        add(state)


def fill(state: State) -> None:
    state.queue.put(1)


def drain(state: State) -> None:
    state.items[threading.current_thread().name] = state.queue.get()


def start(state: State) -> None:
    thread = threading.Thread(target=add, args=[state])
    thread.start()
    thread.join()


def share(state: State) -> None:
    with ThreadPoolExecutor(2) as pool:
        pool.submit(add_with_lock, state)


def fall(state: State) -> None:
    raise ValueError(state)


def wait(state: State) -> None:
    with state.condition:
        state.condition.wait()


async def step(state: State) -> None:
    seen = state.value
    await asyncio.sleep(0)
    state.value = seen + 1


async def gather(state: State) -> None:
    await asyncio.gather(step(state), asyncio.sleep(1))


async def in_thread(state: State) -> None:
    await asyncio.to_thread(add_with_lock, state)


PROGRAMS: list[tuple[list[Any], int, str]] = [
    ([add, add], 2, "fails"),
    ([add_with_lock, add_with_lock, add_with_lock], 3, "holds"),
    ([fill, drain], 0, "holds"),
    ([start, add], 2, "fails"),
    ([share, share], 2, "holds"),
    ([fall, add], 0, "fails"),
    ([wait, add], 0, "fails"),
    ([step, step], 2, "fails"),
    ([gather, gather], 2, "fails"),
    ([step], 1, "holds"),
    ([in_thread], 1, "holds"),
]


def resident() -> float:
    """Megabytes of memory that the process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main(wanted: int) -> int:
    made = explorations = 0
    told: list[float] = []
    while made < wanted:
        workers, value, verdict = PROGRAMS[explorations % len(PROGRAMS)]
        strategy = "random" if explorations // len(PROGRAMS) % 2 else "exhaustive"
        bound = {"executions": 100, "seed": explorations} if strategy == "random" else {"max_schedules": 100}
        result = drawloom.explore(State, workers, lambda s, value=value: s.value == value, strategy=strategy,
                                  keep_going=True, shrink=False, fixes=0, **bound)
        expected = {"holds": ("holds", "no_bug_found", "inconclusive"), "fails": ("fails", "no_bug_found")}[verdict]
        if result.verdict not in expected:
            print(result.explanation)
            return 1
        explorations += 1
        before, made = made, made + result.executions
        if made * 10 // wanted > before * 10 // wanted:
            gc.collect()
            told.append(resident())
            print(f"{made:>7} executions, {explorations:>5} explorations, {threading.active_count()} threads, {told[-1]:.1f} MB",
                  flush=True)
    return int(told[-1] > told[0] * 1.1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
