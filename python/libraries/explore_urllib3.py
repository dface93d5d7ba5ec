"""urllib3: the pool of connections, without a connection being made."""

from __future__ import annotations

from urllib3 import HTTPConnectionPool
from urllib3._collections import RecentlyUsedContainer
from urllib3.exceptions import ClosedPoolError

from cases import Case, explore_all


class Pool:
    def __init__(self, size: int, block: bool = False) -> None:
        self.pool = HTTPConnectionPool("localhost", timeout=1.0, maxsize=size, block=block)


def use(state: Pool) -> None:
    connection = state.pool._get_conn()
    assert connection is not None
    state.pool._put_conn(connection)


def use_unless_closed(state: Pool) -> None:
    try:
        use(state)
    except ClosedPoolError:
        pass


def hold(state: Pool) -> None:
    state.pool._get_conn()


def close(state: Pool) -> None:
    state.pool.close()


def put(key: str):
    def run(recent: RecentlyUsedContainer) -> None:
        recent[key] = key

    return run


def get(key: str):
    def run(recent: RecentlyUsedContainer) -> None:
        assert recent.get(key, key) == key

    return run


explore_all("urllib3", [
    Case("a pool of one that blocks: two threads share the connection", lambda: Pool(1, True), [use, use],
         lambda s: s.pool.num_connections == 1),
    Case("a pool of two: there are never more than two", lambda: Pool(2), [use, use], lambda s: s.pool.pool.qsize() == 2),
    Case("num_connections counts the connections", lambda: Pool(2), [hold, hold],
         lambda s: s.pool.num_connections == 2, expected="fails"),
    Case("a pool that is closed during use: a task uses it, or learns of it", lambda: Pool(1), [use_unless_closed, close]),
    Case("a blocking pool that is closed during use: a waiting task learns of it", lambda: Pool(1, True),
         [use_unless_closed, use_unless_closed, close], expected="fails"),
    Case("RecentlyUsedContainer: no more than it is to hold", lambda: RecentlyUsedContainer(1),
         [put("a"), put("b"), get("a")], lambda r: len(r) == 1),
])
