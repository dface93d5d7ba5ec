"""Redis: what commands do to each other by way of keys."""

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
        made = redis.Redis(port=port, decode_responses=True)
        made.flushall()
        made.set("n", 0)
        return made

    return setup


def test_an_update_gets_lost(client):
    def worker(redis):
        redis.set("n", int(redis.get("n")) + 1)

    result = exhaust(client, worker, lambda redis: int(redis.get("n")) == 2, count=2)
    assert (result.verdict, result.coarse, result.uncontrolled) == ("fails", None, None), result.reason
    assert result.findings[0].anomaly.startswith("lost update of `n`")


def test_an_increment_does_not(client):
    result = exhaust(client, lambda redis: redis.incr("n"), lambda redis: int(redis.get("n")) == 3, count=3)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 6, None), result.explanation


def test_separate_keys_do_not_meet(client):
    result = exhaust(client, [lambda redis: redis.set("a", 1), lambda redis: redis.set("b", 1)])
    assert (result.verdict, result.executions, result.coarse) == ("holds", 1, None), result.explanation


def test_a_watched_key_has_one_try_again(client):
    module = servers.driver("redis")

    def worker(redis):
        while True:
            with redis.pipeline() as pipe:
                pipe.watch("n")
                seen = int(pipe.get("n"))
                pipe.multi()
                pipe.set("n", seen + 1)
                try:
                    pipe.execute()
                    return
                except module.WatchError:
                    pass

    result = exhaust(client, worker, lambda redis: int(redis.get("n")) == 2, count=2)
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation


def test_a_lock_that_is_taken_without_a_look(client):
    def worker(redis):
        if redis.set("lock", 1, nx=True):
            redis.incr("n")

    result = exhaust(client, worker, lambda redis: int(redis.get("n")) == 1, count=2)
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation

    def looks(redis):
        if not redis.exists("lock"):
            redis.set("lock", 1)
            redis.incr("n")

    assert exhaust(client, looks, lambda redis: int(redis.get("n")) == 1, count=2).verdict == "fails"


def test_a_list_is_waited_for_in_the_engine(client):
    def take(redis):
        assert redis.blpop("items") == ("items", "x")

    def put(redis):
        redis.rpush("items", "x")

    result = exhaust(client, [take, put])
    assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation
    assert [finding.kind for finding in exhaust(client, [take, take, put]).findings] == ["starvation"]
