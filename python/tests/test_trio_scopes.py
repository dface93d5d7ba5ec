"""Time, cancel scopes and nurseries of trio under the engine."""

import pytest
from common import Box, Cell

trio = pytest.importorskip("trio")
pytest.importorskip("trio.testing")
test_trio = pytest.importorskip("test_trio")
explored, increment = test_trio.explored, test_trio.increment


def test_time_passes_only_when_nobody_can_go_on():
    async def sleeps(log):
        await trio.sleep(3600)
        log.append("slept")

    async def runs(log):
        await trio.sleep(0)
        log.append("ran")

    result = explored(list, [sleeps, runs], lambda log: log == ["ran", "slept"])
    assert (result.verdict, result.coarse) == ("holds", None)


def test_who_sleeps_as_long_wakes_in_any_order():
    async def sleeps(name, log):
        await trio.sleep(1)
        log.append(name)

    async def a(log):
        await sleeps("a", log)

    async def b(log):
        await sleeps("b", log)

    assert explored(list, [a, b], lambda log: log == ["a", "b"]).verdict == "fails"
    assert explored(list, [a, b], lambda log: sorted(log) == ["a", "b"]).verdict == "holds"


def test_deadlines_are_virtual():
    async def gives_up(log):
        begun = trio.current_time()
        with trio.move_on_after(5) as scope:
            await trio.sleep_forever()
        log.append((scope.cancelled_caught, scope.cancel_called, trio.current_time() - begun))

    async def raises(log):
        with trio.fail_after(5):
            await trio.sleep(6)

    async def is_in_time(log):
        with trio.fail_after(7):
            await trio.sleep(6)
        log.append("in time")

    assert explored(list, [gives_up], lambda log: log == [(True, True, 5.0)]).verdict == "holds"
    assert explored(list, [is_in_time], lambda log: log == ["in time"]).verdict == "holds"
    failed = explored(list, [raises])
    assert failed.verdict == "fails" and failed.findings[0].message == "trio.TooSlowError"


def test_a_deadline_and_what_it_waits_for_at_the_same_instant():
    async def waits(state):
        with trio.move_on_after(1):
            await state.event.wait()
            state.got.append("event")

    async def sets(state):
        await trio.sleep(1)
        state.event.set()

    def setup():
        return Box(event=trio.Event(), got=[])

    for workers in ([waits, sets], [sets, waits]):
        assert explored(setup, workers, lambda s: s.got == ["event"]).verdict == "fails"
        assert explored(setup, workers, lambda s: s.got == []).verdict == "fails"
        assert explored(setup, workers, lambda s: s.got in ([], ["event"])).verdict == "holds"


def test_whoever_wakes_a_task_or_cancels_it_may_be_first():
    async def waits(state):
        with state.scope:
            await state.event.wait()
            state.got.append("event")

    async def sets(state):
        await trio.sleep(0)
        state.event.set()

    async def cancels(state):
        await trio.sleep(0)
        state.scope.cancel()

    def setup():
        return Box(event=trio.Event(), scope=trio.CancelScope(), got=[])

    for workers in ([waits, sets, cancels], [cancels, sets, waits], [sets, waits, cancels]):
        assert explored(setup, workers, lambda s: s.got == ["event"]).verdict == "fails"
        assert explored(setup, workers, lambda s: s.got == []).verdict == "fails"
        assert explored(setup, workers, lambda s: s.got in ([], ["event"])).verdict == "holds"


def test_a_shield_keeps_a_cancellation_out():
    async def cleans(state):
        try:
            with state.scope:
                await trio.sleep_forever()
        finally:
            assert state.scope.cancelled_caught
        with trio.CancelScope(shield=True):
            await trio.sleep(1)
            state.got.append("cleaned")

    async def cancels(state):
        state.scope.cancel()

    result = explored(
        lambda: Box(scope=trio.CancelScope(), got=[]), [cleans, cancels], lambda s: s.got == ["cleaned"]
    )
    assert result.verdict == "holds", result.explanation


def test_tasks_of_a_nursery_are_interleaved_like_workers():
    async def both(counter):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(increment, counter)
            nursery.start_soon(increment, counter)

    assert explored(Cell, [both], lambda c: c.value == 2).verdict == "fails"
    assert explored(Cell, [both], lambda c: c.value in (1, 2)).verdict == "holds"


def test_a_child_that_fails_cancels_the_others():
    class Broken(Exception):
        pass

    async def fails(log):
        await trio.sleep(1)
        raise Broken("by its child")

    async def is_cancelled(log):
        try:
            await trio.sleep_forever()
        finally:
            log.append("cancelled")

    async def parent(log):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(is_cancelled, log)
            nursery.start_soon(fails, log)

    async def forgives(log):
        try:
            await parent(log)
        except BaseException as group:
            assert [type(each) for each in group.exceptions] == [Broken]
            log.append("told")

    failed = explored(list, [parent])
    assert (failed.verdict, failed.findings[0].kind) == ("fails", "exception")
    assert "Broken: by its child" in failed.findings[0].message
    assert f"test_trio_scopes.py:{fails.__code__.co_firstlineno + 2}" in failed.explanation
    assert explored(list, [forgives], lambda log: log == ["cancelled", "told"]).verdict == "holds"


def test_a_nursery_waits_until_a_task_has_started():
    async def serves(log, task_status=trio.TASK_STATUS_IGNORED):
        await trio.sleep(0)
        log.append("ready")
        task_status.started(len(log))
        await trio.sleep_forever()

    async def starts(log):
        async with trio.open_nursery() as nursery:
            log.append(await nursery.start(serves, log))
            nursery.cancel_scope.cancel()

    result = explored(list, [starts], lambda log: log == ["ready", 1])
    assert result.verdict == "holds", result.explanation


def test_system_tasks_end_with_the_workers():
    async def helper(log):
        try:
            await trio.sleep_forever()
        finally:
            log.append("ended")

    async def starts(log):
        trio.lowlevel.spawn_system_task(helper, log)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.current_trio_token().run_sync_soon(log.append, "called")
        await trio.testing.wait_all_tasks_blocked()

    result = explored(list, [starts], lambda log: log == ["called", "ended"])
    assert result.verdict == "holds", result.explanation


def test_nothing_is_left_over_from_failing_executions():
    async def waits_in_nurseries(_state):
        async with trio.open_nursery() as outer:
            outer.start_soon(trio.sleep_forever)
            async with trio.open_nursery() as inner:
                inner.start_soon(trio.sleep_forever)

    result = explored(Cell, [waits_in_nurseries] * 2)
    assert (result.verdict, result.findings[0].kind) == ("fails", "starvation"), result.explanation
    assert trio.run(trio.sleep, 0) is None
