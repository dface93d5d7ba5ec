"""trio under the engine: which task goes on at a checkpoint is chosen, and time is virtual."""

import asyncio

import drawloom
import pytest
from common import Box, Cell, exhaust, one_interval

trio = pytest.importorskip("trio")
pytest.importorskip("trio.testing")
trio_oracle = pytest.importorskip("trio_oracle")


def explored(setup, workers, invariant=None, **options):
    return exhaust(setup, workers, invariant, backend="trio", **options)


async def increment(counter):
    value = counter.value
    await trio.lowlevel.checkpoint()
    counter.value = value + 1


async def increment_locked(state):
    async with state.lock:
        await increment(state)


@pytest.mark.parametrize("tasks, classes", [(2, 4), (3, 36)])
def test_a_counter_has_as_many_executions_as_classes(tasks, classes):
    result = explored(Cell, [increment] * tasks, lambda c: True, keep_going=True)
    assert (result.verdict, result.executions) == ("holds", classes)


def test_a_lost_update_over_a_checkpoint_is_found_shrunk_and_replayed():
    def explored(**options):
        return drawloom.explore(
            Cell, increment, lambda c: c.value == 2, count=2, backend="trio", name="counter", **options
        )

    result = explored()
    assert (result.verdict, result.findings[0].kind) == ("fails", "invariant")
    assert result.findings[0].preemptions == 1
    assert f"test_trio.py:{increment.__code__.co_firstlineno + 1}" in result.explanation
    assert f"test_trio.py:{increment.__code__.co_firstlineno + 3}" in result.explanation
    assert result.replay().verdict == "fails"
    again = explored(replay=result.findings[0].token)
    assert (again.verdict, again.executions) == ("fails", 1)


@pytest.mark.parametrize("strategy", ["random", "pos", "pct"])
def test_strategies_that_sample_find_it_too(strategy):
    result = drawloom.explore(Cell, increment, lambda c: c.value == 2, count=2, backend="trio", strategy=strategy)
    assert result.verdict == "fails"


def test_one_piece_is_not_torn():
    async def at_once(counter):
        await trio.sleep(0)
        counter.value += 1

    # The order of three steps that all change the same.
    result = explored(Cell, [at_once] * 3, lambda c: c.value == 3)
    assert (result.verdict, result.executions) == ("holds", 6)


def test_a_lock_keeps_the_update():
    # The second asks for the lock while the first has it, or when it has given it back.
    result = explored(lambda: Box(lock=trio.Lock(), value=0), [increment_locked] * 2, lambda s: s.value == 2)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 4, None)


def test_a_deadlock_names_the_checkpoints():
    async def one(state):
        async with state.a:
            async with state.b:
                pass

    async def other(state):
        async with state.b:
            async with state.a:
                pass

    def setup():
        return Box(a=trio.Lock(), b=trio.Lock())

    for workers in ([one, other], [other, one]):
        result = explored(setup, workers)
        assert (result.verdict, result.findings[0].kind) == ("fails", "deadlock"), result.explanation
        lines = [one.__code__.co_firstlineno + 2, other.__code__.co_firstlineno + 2]
        assert all(f"test_trio.py:{line}" in result.explanation for line in lines), result.explanation


def test_who_has_a_lock_is_known_when_it_has_been_handed_over():
    async def passes_on(state):
        async with state.a:
            await trio.sleep(0)

    async def one(state):
        async with state.a:
            async with state.b:
                pass

    async def other(state):
        async with state.b:
            async with state.a:
                pass

    result = explored(lambda: Box(a=trio.Lock(), b=trio.Lock()), [passes_on, one, other], keep_going=True)
    assert {finding.kind for finding in result.findings} == {"deadlock"}


async def sends(state):
    await state.channel[0].send(1)


async def receives(state):
    state.got.append(await state.channel[1].receive())


async def waits(state):
    await state.event.wait()
    state.got.append(state.value)


async def sets(state):
    state.value = 1
    state.event.set()


async def sets_too_early(state):
    state.event.set()
    await trio.sleep(0)
    state.value = 1


async def waits_for_value(state):
    async with state.condition:
        while not state.value:
            await state.condition.wait()
        state.got.append(state.value)


async def notifies(state):
    async with state.condition:
        state.value = 1
        state.condition.notify()


async def forgets_to_notify(state):
    async with state.condition:
        state.value = 1


async def borrows(state):
    async with state.limit:
        state.within += 1
        assert state.within <= state.most
        await trio.sleep(0)
        state.within -= 1


def got_one(state):
    return state.got == [1]


@pytest.mark.parametrize(
    ("setup", "workers", "invariant", "verdict"),
    [
        (lambda: Box(got=[], channel=trio.open_memory_channel(0)), [sends, receives], got_one, "holds"),
        (lambda: Box(got=[], channel=trio.open_memory_channel(1)), [sends, receives], got_one, "holds"),
        (lambda: Box(got=[], channel=trio.open_memory_channel(1)), [receives], None, "fails"),
        (lambda: Box(got=[], channel=trio.open_memory_channel(1)), [sends, sends], None, "fails"),
        (lambda: Box(got=[], value=0, event=trio.Event()), [waits, sets], got_one, "holds"),
        (lambda: Box(got=[], value=0, event=trio.Event()), [waits, sets_too_early], got_one, "fails"),
        (lambda: Box(got=[], value=0, condition=trio.Condition()), [waits_for_value, notifies], got_one, "holds"),
        (lambda: Box(got=[], value=0, condition=trio.Condition()), [waits_for_value, forgets_to_notify], None, "fails"),
        (lambda: Box(limit=trio.Semaphore(1), within=0, most=1), [borrows] * 2, None, "holds"),
        (lambda: Box(limit=trio.Semaphore(2), within=0, most=1), [borrows] * 2, None, "fails"),
        (lambda: Box(limit=trio.CapacityLimiter(1), within=0, most=1), [borrows] * 2, None, "holds"),
        (lambda: Box(limit=trio.CapacityLimiter(2), within=0, most=1), [borrows] * 2, None, "fails"),
        (lambda: Box(limit=trio.StrictFIFOLock(), within=0, most=1), [borrows] * 2, None, "holds"),
    ],
    ids=[
        "channel", "channel with room", "channel that nobody fills", "channel that nobody empties", "event",
        "event that comes too early", "condition", "condition that nobody notifies", "semaphore", "semaphore for two",
        "limiter", "limiter for two", "fair lock",
    ],
)
def test_what_tasks_wait_at(setup, workers, invariant, verdict):
    for each in (workers, workers[::-1]):
        result = explored(setup, each, invariant)
        assert (result.verdict, result.exhausted, result.coarse) == (verdict, True, None), result.explanation


def test_setup_and_invariant_may_wait():
    async def setup():
        await trio.sleep(1)
        return Cell()

    async def once(counter):
        await trio.sleep(0)
        counter.value += 1

    async def invariant(counter):
        await trio.sleep(1)
        return counter.value == 2

    assert explored(setup, [once, once], invariant).verdict == "holds"
    assert explored(setup, [once], invariant).verdict == "fails"


def test_a_coroutine_that_is_never_awaited_is_a_finding():
    async def forgets(_state):
        trio.sleep(0)
        await trio.sleep(0)

    result = explored(Cell, [forgets])
    assert result.verdict == "fails" and "never awaited" in result.findings[0].message


@one_interval
@pytest.mark.parametrize("seed", range(20))
def test_random_programs_come_to_the_outcomes_of_every_order(seed):
    trio_oracle.compare(seed)


def test_results_are_the_same_each_time():
    async def both(counter):
        with trio.move_on_after(1):
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(increment, counter)
                await trio.sleep(2)

    def once():
        result = explored(Cell, [both, increment], lambda c: c.value == 3, keep_going=True, name="once")
        return result.executions, result.failing, [finding.token for finding in result.findings]

    assert once() == once()


def test_what_is_not_modelled_is_said():
    async def uses(_state):
        trio.lowlevel.add_instrument(trio.abc.Instrument())

    assert explored(Cell, [uses]).verdict == "inconclusive"


def test_a_run_within_a_thread_is_one_of_its_own():
    def runs(counter):
        trio.run(increment_later, counter)

    async def increment_later(counter):
        value = counter.value
        await trio.sleep(1)
        counter.value = value + 1

    def explored():
        return drawloom.explore(
            Cell, [runs, runs], lambda c: c.value == 2, strategy="random", executions=20, keep_going=True, name="runs",
            shrink=False, fixes=0,
        )

    first, second = explored(), explored()
    assert {finding.kind for finding in first.findings} == {"invariant"}, first.explanation
    assert first.failing == second.failing and first.steps == second.steps
    assert first.replay().verdict == "fails"


def test_the_library_that_runs_is_the_one_that_is_explored():
    async def main():
        result = await drawloom.explore_async(Cell, increment, lambda c: c.value == 2, count=2)
        await trio.sleep(0)
        return result

    assert trio.run(main).verdict == "fails"

    async def waits(_state):
        await asyncio.sleep(0)

    async def other():
        return drawloom.explore(Cell, [waits, waits], backend="asyncio", strategy="exhaustive")

    assert trio.run(other).verdict == "holds"


def test_a_backend_that_is_not_known_is_an_error():
    with pytest.raises(ValueError, match="'asyncio', 'trio'"):
        drawloom.explore(Cell, [increment], backend="curio")
