"""A short version of `perturbed.py`: what explorations say is the same, byte for byte, in a process that is disturbed."""

import asyncio
import queue
import random
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest
from catalogue import PROGRAMS
from common import Box, one_interval
from fuzz_programs import random_program
from perturbed import Comparing, limits

pytestmark = one_interval


def compared(setup, workers, invariant=None):
    comparing = Comparing(again=2)
    for strategy in ("exhaustive", "random"):
        comparing.compare("perturbed", setup, workers, invariant, limits(strategy, 8))
    assert not comparing.differences


@pytest.mark.parametrize("name", [*PROGRAMS][::9])
def test_programs_of_the_catalogue(name):
    compared(*PROGRAMS[name][:3])


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(seed):
    program = random_program(f"perturbed {seed}")
    compared(program.setup, program.workers(), lambda s: random.random() < 0.5)


def test_frames_that_exceptions_leave_and_functions_that_are_called_back():
    def sorts(s):
        for items in (s.items, 1, s.items):
            try:
                items.sort(key=lambda item: 6 // (item - s.least))
            except (AttributeError, ZeroDivisionError):
                s.items.extend(item + 1 for item in range(2))

    def adds(s):
        s.items.append(2)
        s.least = 2

    compared(lambda: Box(items=[3, 1], least=1), [sorts, adds], lambda s: s.items != [3, 1, 1, 2, 2, 1, 2])


def test_pools_queues_and_threads():
    def works(s):
        with ThreadPoolExecutor(2) as pool:
            for future in as_completed([pool.submit(s.got.put, n) for n in range(2)]):
                s.order.append(future.result())
        thread = threading.Thread(target=lambda: s.order.append(threading.current_thread().name))
        thread.start()
        thread.join()

    compared(lambda: Box(got=queue.Queue(), order=[]), [works], lambda s: s.got.get() == 0)


def test_tasks_of_an_event_loop():
    async def works(s, n):
        await asyncio.sleep(0)
        s.done.append(n)
        if n == 2:
            raise ValueError(s)

    async def waits(s):
        done, pending = await asyncio.wait([asyncio.create_task(works(s, n)) for n in range(3)],
                                           return_when=asyncio.FIRST_EXCEPTION)
        s.done += [len(done), len(pending)]
        for task in done:
            task.exception()

    compared(lambda: Box(done=[]), [waits, waits], lambda s: len(s.done) == 10)
