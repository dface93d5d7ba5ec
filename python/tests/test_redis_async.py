"""Redis, by its asynchronous client: what commands of tasks do to each other by way of keys."""

import asyncio

import pytest
import servers
from common import exhaust, one_interval

# Servers take their time: once is enough.
pytestmark = one_interval


@pytest.fixture(scope="module")
def port():
    with servers.redis() as port:
        yield port


@pytest.fixture
def client(port):
    redis = servers.driver("redis")

    def setup():
        with redis.Redis(port=port) as made:
            made.flushall()
            made.set("n", 0)
        return redis.asyncio.Redis(port=port, decode_responses=True)

    return setup


def explored(client, workers, n=None, **options):
    async def invariant(redis):
        return n is None or int(await redis.get("n")) == n

    result = exhaust(client, workers, invariant, **options)
    assert (result.coarse, result.uncontrolled) == (None, None), result.reason
    return result


def test_an_update_gets_lost(client):
    async def worker(redis):
        await redis.set("n", int(await redis.get("n")) + 1)

    result = explored(client, [worker, worker], 2)
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("lost update of `n`"), result.reason
    assert result.replay().verdict == "fails"


def test_an_increment_does_not(client):
    async def worker(redis):
        await redis.incr("n")

    assert explored(client, [worker] * 3, 3).verdict == "holds"


def test_separate_keys_do_not_meet(client):
    def sets(key):
        async def worker(redis):
            await redis.set(key, 1)

        return worker

    result = explored(client, [sets("a"), sets("b")])
    assert (result.verdict, result.executions) == ("holds", 1), result.explanation


def test_a_watched_key_has_one_try_again(client):
    module = servers.driver("redis")

    async def worker(redis):
        while True:
            async with redis.pipeline() as pipe:
                await pipe.watch("n")
                seen = int(await pipe.get("n"))
                pipe.multi()
                pipe.set("n", seen + 1)
                try:
                    await pipe.execute()
                    return
                except module.WatchError:
                    pass

    result = explored(client, [worker, worker], 2, max_schedules=100)
    assert result.verdict in ("holds", "no_bug_found"), result.explanation


def test_a_list_is_awaited(client):
    async def take(redis):
        assert await redis.blpop("items") == ("items", "x")

    async def put(redis):
        await redis.rpush("items", "x")

    result = explored(client, [take, put])
    assert result.verdict == "holds", result.explanation
    result = explored(client, [take, take, put], max_schedules=50)
    assert [finding.kind for finding in result.findings] == ["starvation"]

    async def take_in_time(redis):
        assert await redis.blpop("items", timeout=1) is None

    assert explored(client, [take_in_time]).verdict == "holds"


def test_beside_threads_nothing_is_claimed(client):
    async def worker(redis):
        await asyncio.to_thread(int)
        await redis.incr("n")

    result = exhaust(client, [worker])
    assert result.verdict == "inconclusive" and "redis.asyncio" in result.reason
