"""asyncio under the engine: tasks are interleaved from await to await."""

import asyncio
import contextlib
import sys

import async_oracle
import drawloom
import pytest
from common import Box, Cell, exhaust


async def increment(counter):
    value = counter.value
    await asyncio.sleep(0)
    counter.value = value + 1


@pytest.mark.parametrize("tasks, classes", [(2, 4), (3, 36)])
def test_a_counter_has_as_many_executions_as_classes(tasks, classes):
    result = exhaust(Cell, [increment] * tasks, lambda c: True, keep_going=True)
    assert result.verdict == "holds"
    assert result.executions == classes


def test_a_lost_update_between_awaits_is_found_and_replayed():
    result = drawloom.explore(Cell, increment, lambda c: c.value == 2, count=2)
    assert result.verdict == "fails"
    assert result.findings[0].kind == "invariant"
    assert "test_async.py" in result.explanation
    assert result.replay().verdict == "fails"


def test_without_an_await_in_between_nothing_is_lost():
    async def increment(counter):
        await asyncio.sleep(0)
        counter.value += 1

    assert exhaust(Cell, [increment] * 3, lambda c: c.value == 3).verdict == "holds"


def test_a_lock_keeps_the_update():
    async def locked(state):
        async with state.lock:
            value = state.value
            await asyncio.sleep(0)
            state.value = value + 1

    result = exhaust(lambda: Box(lock=asyncio.Lock(), value=0), [locked] * 2, lambda s: s.value == 2)
    assert result.verdict == "holds"
    assert result.coarse is None


def test_a_deadlock_names_the_awaits():
    async def one(state):
        async with state.a:
            await asyncio.sleep(0)
            async with state.b:
                pass

    async def other(state):
        async with state.b:
            await asyncio.sleep(0)
            async with state.a:
                pass

    def setup():
        return Box(a=asyncio.Lock(), b=asyncio.Lock())

    for workers in ([one, other], [other, one]):
        result = exhaust(setup, workers)
        assert result.verdict == "fails"
        assert result.findings[0].kind in ("deadlock", "starvation")
        lines = [one.__code__.co_firstlineno + 3, other.__code__.co_firstlineno + 3]
        assert all(f"test_async.py:{line}" in result.explanation for line in lines), result.explanation


def test_a_task_that_nobody_wakes_is_a_finding():
    async def waits(event):
        await event.wait()

    async def sets(event):
        event.set()

    assert exhaust(asyncio.Event, [waits, sets]).verdict == "holds"
    assert exhaust(asyncio.Event, [waits, waits]).verdict == "fails"


def test_subtasks_are_interleaved_like_workers():
    async def both(counter):
        await asyncio.gather(increment(counter), increment(counter))

    async def group(counter):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(increment(counter))
            tasks.create_task(increment(counter))

    assert exhaust(Cell, [both], lambda c: c.value == 2).verdict == "fails"
    assert exhaust(Cell, [both], lambda c: c.value in (1, 2)).verdict == "holds"
    if sys.version_info >= (3, 11):
        assert exhaust(Cell, [group], lambda c: c.value == 2).verdict == "fails"


def test_time_passes_only_when_nobody_can_go_on():
    async def sleeps(log):
        await asyncio.sleep(3600)
        log.append("slept")

    async def runs(log):
        await asyncio.sleep(0)
        log.append("ran")

    result = exhaust(list, [sleeps, runs], lambda log: log == ["ran", "slept"])
    assert result.verdict == "holds"


def test_timeouts_and_cancellation():
    async def gives_up(log):
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 5)
        except asyncio.TimeoutError:
            log.append("timeout")

    async def cancels(log):
        async def child():
            try:
                await asyncio.sleep(10)
            finally:
                log.append("cleaned")

        task = asyncio.ensure_future(child())
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            log.append("cancelled")

    assert exhaust(list, [gives_up], lambda log: log == ["timeout"]).verdict == "holds"

    # A task that is cancelled before it has begun has nothing to clean.
    result = exhaust(list, [cancels], lambda log: log in (["cleaned", "cancelled"], ["cancelled"]))
    assert result.verdict == "holds"
    assert exhaust(list, [cancels], lambda log: "cleaned" in log).verdict == "fails"


def test_queues_conditions_and_semaphores():
    async def produce(state):
        for i in range(2):
            await state.queue.put(i)

    async def consume(state):
        for _ in range(2):
            state.got.append(await state.queue.get())

    result = exhaust(lambda: Box(queue=asyncio.Queue(1), got=[]), [produce, consume], lambda s: s.got == [0, 1])
    assert result.verdict == "holds"

    async def waits(state):
        async with state.condition:
            await state.condition.wait_for(lambda: state.flag)

    async def notifies(state):
        async with state.condition:
            state.flag = True
            state.condition.notify_all()

    setup = lambda: Box(condition=asyncio.Condition(), flag=False)  # noqa: E731
    assert exhaust(setup, [waits, notifies]).verdict == "holds"

    async def enters(state):
        async with state.gate:
            state.inside += 1
            state.most = max(state.most, state.inside)
            await asyncio.sleep(0)
            state.inside -= 1

    setup = lambda: Box(gate=asyncio.Semaphore(2), inside=0, most=0)  # noqa: E731
    assert exhaust(setup, [enters] * 3, lambda s: s.most <= 2).verdict == "holds"
    assert exhaust(setup, [enters] * 3, lambda s: s.most == 1).verdict == "fails"


def test_setup_and_invariant_may_be_coroutines():
    async def setup():
        await asyncio.sleep(1)
        return Cell()

    async def invariant(counter):
        await asyncio.sleep(0)
        return counter.value == 2

    assert exhaust(setup, [increment] * 2, invariant).verdict == "fails"

    async def at_once(counter):
        await asyncio.sleep(0)
        counter.value += 1

    async def looks_later(counter):
        await asyncio.sleep(1)
        return counter.value == 2

    assert exhaust(setup, [at_once] * 2, looks_later).verdict == "holds"


def test_an_exception_in_a_worker_is_a_finding():
    async def fails(counter):
        await increment(counter)
        if counter.value == 1:
            raise ValueError("only one")

    result = exhaust(Cell, [increment, fails])
    assert result.verdict == "fails"
    assert "only one" in result.findings[0].message


def test_an_exception_that_nobody_asks_for_is_a_finding():
    async def child():
        raise ValueError("unseen")

    async def parent(_):
        task = asyncio.ensure_future(child())
        await asyncio.sleep(1)
        assert task.done()

    result = exhaust(Cell, [parent])
    assert result.verdict == "fails"
    assert "unseen" in result.findings[0].message


def test_a_coroutine_that_is_never_awaited_is_a_finding():
    async def forgets(counter):
        increment(counter)

    result = exhaust(Cell, [forgets])
    assert result.verdict == "fails"
    assert "never awaited" in result.findings[0].message


def test_leaving_the_interpreter_is_a_finding_and_not_the_end():
    async def leaves(_):
        await asyncio.sleep(0)
        sys.exit(3)

    result = exhaust(Cell, [leaves, increment])
    assert result.verdict == "fails"
    assert "SystemExit" in result.findings[0].message


def test_tasks_that_are_left_are_cancelled_in_the_end():
    async def parent(log):
        async def child():
            try:
                await asyncio.Event().wait()
            finally:
                log.append("closed")

        log.append(asyncio.ensure_future(child()))
        await asyncio.sleep(0)

    result = exhaust(list, [parent], lambda log: log[1:] == ["closed"])
    assert result.verdict == "holds", result.explanation


def test_async_generators_are_torn_down():
    async def numbers(counter):
        try:
            for i in range(3):
                yield i
                await asyncio.sleep(0)
        finally:
            counter.value += 1

    async def looks(counter):
        async for i in numbers(counter):
            if i == 1:
                await asyncio.Event().wait()

    result = exhaust(Cell, [looks, increment])
    assert result.verdict == "fails"
    assert result.findings[0].kind in ("deadlock", "starvation")


def test_what_is_not_controlled_is_named():
    async def connects(_):
        await asyncio.open_connection("localhost", 1)

    result = exhaust(Cell, [connects])
    assert result.verdict == "inconclusive"
    assert "a peer, which is not part of the exploration" in result.reason

    async def starts_a_process(_):
        await asyncio.create_subprocess_exec("true")

    result = exhaust(Cell, [starts_a_process])
    assert result.verdict == "inconclusive"
    assert "subprocess_exec" in result.reason


def test_an_exploration_within_a_running_loop():
    async def main():
        inner = await drawloom.explore_async(Cell, [increment] * 2, lambda c: c.value == 2, strategy="exhaustive")
        await asyncio.sleep(0)
        return inner.verdict

    assert asyncio.run(main()) == "fails"


def test_sampling_finds_it_too():
    for strategy in ("random", "pos", "pct"):
        result = drawloom.explore(Cell, [increment] * 2, lambda c: c.value == 2, strategy=strategy, executions=200)
        assert result.verdict == "fails", strategy


@pytest.mark.parametrize("seed", range(30))
def test_outcomes_are_those_of_every_order_of_pieces(seed):
    async_oracle.compare(seed)


def test_a_callback_that_calls_itself_again_lets_others_go_on():
    def spins(state):
        state.rounds += 1
        if not state.done:
            asyncio.get_running_loop().call_soon(spins, state)

    async def begins(state):
        asyncio.get_running_loop().call_soon(spins, state)

    async def ends(state):
        await asyncio.sleep(0)
        state.done = True

    def setup():
        return Box(rounds=0, done=False)

    for workers in ([begins, ends], [ends, begins], [begins, begins, ends]):
        result = exhaust(setup, workers, lambda s: s.done and s.rounds > 0)
        assert (result.verdict, result.exhausted) == ("holds", True), result.explanation
    # It is called before the other one has ended, and after it has.
    assert exhaust(setup, [begins, ends], lambda s: s.rounds == 1).verdict == "fails"
    assert exhaust(setup, [begins, ends], lambda s: s.rounds > 1).verdict == "fails"


def test_a_callback_that_counts_is_called_until_it_has_counted():
    def counts(state):
        state.left -= 1
        if state.left:
            asyncio.get_running_loop().call_soon(counts, state)
        else:
            state.event.set()

    async def waits(state):
        asyncio.get_running_loop().call_soon(counts, state)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(state.other.wait(), state.seconds)
        await state.event.wait()

    def setup(left, seconds):
        return lambda: Box(left=left, event=asyncio.Event(), other=asyncio.Event(), seconds=seconds)

    assert exhaust(setup(20, 0.001), [waits]).verdict == "holds"
    # Of one that goes on for ever it is not known whether it will end.
    result = exhaust(setup(-1, 1), [waits])
    assert result.verdict == "inconclusive" and "called again 200 times" in result.reason


def test_timers_of_one_instant_fire_in_any_order():
    async def waits(state):
        try:
            await asyncio.wait_for(state.event.wait(), 1)
            state.log.append("in time")
        except asyncio.TimeoutError:
            state.log.append("too late")

    async def sets(state):
        await asyncio.sleep(1)
        state.event.set()

    def setup():
        return Box(event=asyncio.Event(), log=[])

    assert exhaust(setup, [waits, sets], lambda s: s.log in (["in time"], ["too late"])).verdict == "holds"
    for one in ("in time", "too late"):
        assert exhaust(setup, [waits, sets], lambda s: s.log == [one]).verdict == "fails"


def test_a_task_that_never_ends_does_not_keep_the_others():
    async def starts(counter):
        async def beats():
            while True:
                await asyncio.sleep(1)
                counter.value += 1

        counter.task = asyncio.ensure_future(beats())
        await asyncio.sleep(0)

    assert exhaust(Cell, [starts], lambda c: c.task.cancelled()).verdict == "holds"
