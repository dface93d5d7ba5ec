"""`functools.lru_cache`: calls of what a library remembers, and of what the program does."""

import collections
import datetime
import functools
import heapq
import hmac
import threading
import unicodedata
import urllib.parse
import zlib

import pytest
from common import Box, exhaust

import drawloom

Pair = collections.namedtuple("Pair", "a b")


def test_a_cached_function_of_a_library_hides_nothing():
    def sell(shop):
        urllib.parse.urlsplit("http://shop/items")
        shop.stock -= 1

    result = drawloom.explore(lambda: Box(stock=2), sell, lambda shop: shop.stock == 0, count=2)
    assert (result.verdict, result.coarse) == ("fails", None)
    assert "reads `Box.stock`" in result.explanation
    assert "everything" not in result.explanation


def cached_loads():
    state = []

    @functools.lru_cache
    def load(key):
        state[0].loads += 1
        return key

    def setup():
        state[:] = [Box(loads=0)]
        return state[0]

    return setup, lambda _: load("key")


def test_two_threads_that_both_miss_call_the_function_twice():
    setup, worker = cached_loads()
    result = exhaust(setup, worker, lambda state: state.loads == 1, count=2)
    assert (result.verdict, result.coarse) == ("fails", None)
    assert "`cache of load`" in result.explanation


def test_each_execution_begins_with_an_empty_cache():
    setup, worker = cached_loads()
    assert exhaust(setup, worker, lambda state: state.loads in (1, 2), count=2).verdict == "holds"
    assert exhaust(setup, [worker], lambda state: state.loads == 1).verdict == "holds"


def test_a_cached_function_that_touches_nothing_holds():
    @functools.lru_cache
    def square(x):
        return x * x

    result = exhaust(lambda: Box(got=[]), lambda box: box.got.append(square(3)), lambda box: box.got == [9, 9], count=2)
    assert (result.verdict, result.coarse) == ("holds", None)


def test_who_clears_a_cache_is_noticed():
    setup, worker = cached_loads()
    clear = worker.__closure__[0].cell_contents.cache_clear
    result = exhaust(setup, [lambda _: (worker(_), worker(_)), lambda _: clear()], lambda state: state.loads == 1)
    assert (result.verdict, result.coarse) == ("fails", None)


def test_what_c_code_is_not_known_is_called_c_code():
    def sell(shop):
        zlib.compressobj()
        shop.stock -= 1

    result = drawloom.explore(lambda: Box(stock=2), sell, lambda shop: shop.stock == 0, count=2)
    assert result.verdict == "fails" and "compressobj" in result.coarse
    assert "reads `Box.stock`" in result.explanation and "everything" not in result.explanation


@pytest.mark.parametrize("call", [
    lambda: datetime.datetime.strptime("2020-01-01", "%Y-%m-%d"), lambda: zlib.decompress(zlib.compress(b"a")),
    lambda: hmac.new(b"k", b"m", "sha256").hexdigest(), lambda: functools.reduce(lambda a, b: a + b, [1, 2]),
    lambda: heapq.nsmallest(2, [3, 1, 2]), lambda: unicodedata.normalize("NFC", "a"), lambda: collections.Counter("aba"),
    lambda: Pair(1, 2)._replace(a=3),
], ids=["strptime", "zlib", "hmac", "reduce", "nsmallest", "normalize", "Counter", "_replace"])
def test_what_programs_call_every_day_is_known(call):
    def sell(shop):
        call()
        with shop.lock:
            shop.stock -= 1

    call()
    result = exhaust(lambda: Box(stock=2, lock=threading.Lock()), sell, lambda shop: shop.stock == 0, count=2)
    assert (result.verdict, result.coarse) == ("holds", None)
