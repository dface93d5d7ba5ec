"""Executions of an exhaustive exploration are the Mazurkiewicz traces of a program: no more, no less."""

import threading

import pytest
from common import Box, Cell, exhaust


class Counter:
    def __init__(self):
        self.value = 0
        self.lock = threading.Lock()

    def increment(self):
        temp = self.value
        self.value = temp + 1

    def increment_locked(self):
        with self.lock:
            self.value += 1


@pytest.mark.parametrize(("threads", "traces"), [(2, 4), (3, 36), (4, 576)])
def test_counter(threads, traces):
    result = exhaust(Counter, Counter.increment, lambda c: c.value == threads, count=threads)
    assert (result.verdict, result.executions, result.exhausted) == ("fails", traces, True)


@pytest.mark.parametrize(("threads", "traces"), [(2, 2), (3, 6), (4, 24)])
def test_locked_counter(threads, traces):
    result = exhaust(Counter, Counter.increment_locked, lambda c: c.value == threads, count=threads)
    assert (result.verdict, result.executions) == ("holds", traces)


class Locks:
    def __init__(self, n=2):
        self.locks = [threading.Lock() for _ in range(n)]
        self.a, self.b = self.locks[:2]

    def ab(self):
        with self.a:
            with self.b:
                pass

    def ba(self):
        with self.b:
            with self.a:
                pass


def test_opposite_orders_of_locks():
    result = exhaust(Locks, [Locks.ab, Locks.ba])
    assert (result.verdict, result.executions, result.findings[0].kind) == ("fails", 3, "deadlock")


def test_same_order_of_locks():
    result = exhaust(Locks, [Locks.ab, Locks.ab])
    assert (result.verdict, result.executions) == ("holds", 2)


def test_three_philosophers():
    def philosopher(i):
        def eat(table):
            with table.locks[i]:
                with table.locks[(i + 1) % 3]:
                    pass

        return eat

    result = exhaust(lambda: Locks(3), [philosopher(i) for i in range(3)])
    assert (result.verdict, result.executions, result.findings[0].kind) == ("fails", 7, "deadlock")


class Bank:
    def __init__(self):
        self.a, self.b, self.lock = 100, 100, threading.Lock()

    def there(self):
        self.a -= 10
        self.b += 10

    def back(self):
        self.b -= 10
        self.a += 10

    def there_locked(self):
        with self.lock:
            self.there()

    def back_locked(self):
        with self.lock:
            self.back()


def test_transfers_there_and_back():
    def is_whole(bank):
        return (bank.a, bank.b) == (100, 100)

    result = exhaust(Bank, [Bank.there, Bank.back], is_whole)
    assert (result.verdict, result.executions) == ("fails", 7)
    result = exhaust(Bank, [Bank.there_locked, Bank.back_locked], is_whole)
    assert (result.verdict, result.executions) == ("holds", 2)


class Lazy:
    """What is made by whoever needs it first."""

    def __init__(self):
        self.made, self.lock, self.got = None, threading.Lock(), [None, None]

    def get_broken(self, me):
        if self.made is None:
            with self.lock:
                self.made = me
        self.got[me] = self.made

    def get(self, me):
        if self.made is None:
            with self.lock:
                if self.made is None:
                    self.made = me
        self.got[me] = self.made

    def is_one(self):
        return self.got[0] == self.got[1]


@pytest.mark.parametrize(("get", "verdict", "traces"), [(Lazy.get_broken, "fails", 6), (Lazy.get, "holds", 4)])
def test_double_checked_locking(get, verdict, traces):
    result = exhaust(Lazy, [lambda lazy: get(lazy, 0), lambda lazy: get(lazy, 1)], Lazy.is_one)
    assert (result.verdict, result.executions) == (verdict, traces)


def test_a_key_that_is_asked_for_and_then_added():
    def get(me):
        def run(box):
            if "k" not in box.d:
                box.d["k"] = me
            box.got[me] = box.d["k"]

        return run

    result = exhaust(lambda: Box(d={}, got=[None, None]), [get(0), get(1)], lambda box: box.got[0] == box.got[1])
    assert (result.verdict, result.executions) == ("fails", 6)


def test_one_writer_and_readers():
    for readers in (1, 2, 3, 4):
        def write(cell):
            cell.value = 1

        def read(cell):
            return cell.value

        result = exhaust(Cell, [write] + [read] * readers)
        assert (result.verdict, result.executions) == ("holds", 2**readers)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_independent_threads(threads):
    def work(i):
        def run(cells):
            cells[i].value += 1
            cells[i].value += 1

        return run

    result = exhaust(lambda: [Cell() for _ in range(threads)], [work(i) for i in range(threads)])
    assert (result.verdict, result.executions) == ("holds", 1)


class Memory:
    def __init__(self):
        self.x = self.y = self.z = 0
        self.seen = {}


def test_store_buffer():
    def left(m):
        m.x = 1
        m.r1 = m.y

    def right(m):
        m.y = 1
        m.r2 = m.x

    result = exhaust(Memory, [left, right], lambda m: (m.r1, m.r2) != (0, 0))
    assert (result.verdict, result.executions) == ("holds", 3)


def test_message_passing():
    def send(m):
        m.x = 1
        m.y = 1

    def receive(m):
        if m.y:
            assert m.x

    assert exhaust(Memory, [send, receive]).executions == 2


@pytest.mark.parametrize("reversed_", [False, True])
def test_chain_of_four(reversed_):
    def first(m):
        m.x = 1

    def second(m):
        m.y = m.x

    def third(m):
        m.z = m.y

    def fourth(m):
        return m.z

    workers = [first, second, third, fourth]
    result = exhaust(Memory, workers[::-1] if reversed_ else workers)
    assert (result.verdict, result.executions) == ("holds", 8)


@pytest.mark.parametrize("reversed_", [False, True])
def test_lastzero_of_three(reversed_):
    def last_zero(cells):
        i = 3
        while cells[i].value != 0:
            i -= 1

    def writer(j):
        def write(cells):
            cells[j].value = cells[j - 1].value + 1

        return write

    workers = [last_zero] + [writer(j) for j in (1, 2, 3)]
    result = exhaust(lambda: [Cell() for _ in range(4)], workers[::-1] if reversed_ else workers)
    assert (result.verdict, result.executions) == ("holds", 12)


@pytest.mark.parametrize(("k", "traces"), [(3, 20), (4, 70)])
def test_alternation_that_needs_many_preemptions(k, traces):
    # As many writes as reads of one place: C(2k, k) orders.
    def write(cell):
        for i in range(k):
            cell.value = i

    def also(cell):
        for i in range(k):
            cell.value = -i

    assert exhaust(Cell, [write, also]).executions == traces
