"""cachetools: caches that say of themselves that they need a lock, and the decorator that takes one."""

from __future__ import annotations

import threading

from cachetools import LRUCache, TTLCache, cached

from cases import Case, explore_all


def fill(key: str):
    def run(cache) -> None:
        cache[key] = key

    return run


def look(key: str):
    def run(cache) -> None:
        assert cache.get(key, key) == key

    return run


def drop(key: str):
    return lambda cache: cache.pop(key, None)


def filled(cache):
    cache["a"] = "a"
    return cache


def consistent(cache) -> bool:
    return cache.currsize == len(cache) <= cache.maxsize


class Decorated:
    """A function with a cache around it."""

    def __init__(self, **options) -> None:
        self.calls = 0
        self.cache: LRUCache = LRUCache(maxsize=2)

        def square(n: int) -> int:
            self.calls += 1
            return n * n

        self.square = cached(self.cache, **options)(square)


def ask(n: int):
    def run(decorated: Decorated) -> None:
        assert decorated.square(n) == n * n

    return run


explore_all("cachetools", [
    Case("an LRU cache without a lock: its size is the number of its items", lambda: LRUCache(maxsize=1),
         [fill("a"), fill("b")], consistent, expected="fails"),
    Case("an LRU cache without a lock: a lookup finds an existing entry", lambda: filled(LRUCache(maxsize=2)),
         [look("a"), drop("a")], None, expected="fails"),
    Case("a TTL cache without a lock: its size is the number of its items", lambda: TTLCache(maxsize=1, ttl=10), [fill("a"), fill("b")], consistent, expected="fails"),
    Case("@cached without a lock: the cache is in order", Decorated, [ask(2), ask(3)], lambda d: consistent(d.cache), expected="fails"),
    Case("@cached(lock=…): the cache is in order", lambda: Decorated(lock=threading.Lock()), [ask(2), ask(3)], lambda d: consistent(d.cache)),
    Case("@cached(lock=…): the function is called once for one argument",
         lambda: Decorated(lock=threading.Lock()), [ask(2), ask(2)], lambda d: d.calls == 1, expected="fails"),
    Case("@cached(condition=…): the function is called once for one argument",
         lambda: Decorated(condition=threading.Condition()), [ask(2), ask(2)], lambda d: d.calls == 1),
    Case("@cached(info=True) without a lock: each call is a hit or a miss",
         lambda: Decorated(info=True), [ask(2), ask(2)], lambda d: sum(d.square.cache_info()[:2]) == 2, expected="fails"),
    Case("@cached(info=True, lock=…): each call is a hit or a miss",
         lambda: Decorated(info=True, lock=threading.Lock()), [ask(2), ask(2)],
         lambda d: sum(d.square.cache_info()[:2]) == 2),
])
