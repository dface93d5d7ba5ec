"""Textbook programs on which tools are compared, with what is known of them."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Queue
from typing import Any


@dataclass(frozen=True)
class Row:
    """A program: its threads, what must hold in the end, whether that can fail, and its Mazurkiewicz traces."""

    name: str
    setup: Callable[[], Any]
    workers: list[Callable[[Any], Any]]
    invariant: Callable[[Any], Any]
    fails: bool
    traces: int | None = None
    uses_files: bool = False


class State:
    """Attributes as they come."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def anything(_: Any) -> bool:
    return True


# ── counters ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Counter:
    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()

    def increment(self) -> None:
        seen = self.value
        self.value = seen + 1

    def increment_locked(self) -> None:
        with self.lock:
            self.value += 1


def counter(threads: int, traces: int) -> Row:
    return Row(f"counter, {threads} threads", Counter, [Counter.increment] * threads, lambda c: c.value == threads, True, traces)


def locked_counter(threads: int, traces: int) -> Row:
    workers = [Counter.increment_locked] * threads
    return Row(f"locked counter, {threads} threads", Counter, workers, lambda c: c.value == threads, False, traces)


# ── locks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def ab(s: Any) -> None:
    with s.a:
        with s.b:
            pass


def ba(s: Any) -> None:
    with s.b:
        with s.a:
            pass


def two_locks() -> State:
    return State(a=threading.Lock(), b=threading.Lock())


def philosopher(i: int) -> Callable[[Any], None]:
    def eat(s: Any) -> None:
        with s.forks[i]:
            with s.forks[(i + 1) % 3]:
                pass

    return eat


def there(s: Any) -> None:
    s.a -= 10
    s.b += 10


def back(s: Any) -> None:
    s.b -= 10
    s.a += 10


def there_locked(s: Any) -> None:
    with s.lock:
        there(s)


def back_locked(s: Any) -> None:
    with s.lock:
        back(s)


def bank() -> State:
    return State(a=100, b=100, lock=threading.Lock())


def is_whole(s: Any) -> bool:
    return (s.a, s.b) == (100, 100)


# ── what is made by whoever needs it first ───────────────────────────────────────────────────────────────────────


def lazy() -> State:
    return State(made=None, d={}, got0=None, got1=None, lock=threading.Lock())


def is_one(s: Any) -> bool:
    return s.got0 == s.got1


def first_by_key(s: Any) -> None:
    if "k" not in s.d:
        s.d["k"] = 0
    s.got0 = s.d["k"]


def second_by_key(s: Any) -> None:
    if "k" not in s.d:
        s.d["k"] = 1
    s.got1 = s.d["k"]


def first_checked_once(s: Any) -> None:
    if s.made is None:
        with s.lock:
            s.made = 0
    s.got0 = s.made


def second_checked_once(s: Any) -> None:
    if s.made is None:
        with s.lock:
            s.made = 1
    s.got1 = s.made


def first_checked_twice(s: Any) -> None:
    if s.made is None:
        with s.lock:
            if s.made is None:
                s.made = 0
    s.got0 = s.made


def second_checked_twice(s: Any) -> None:
    if s.made is None:
        with s.lock:
            if s.made is None:
                s.made = 1
    s.got1 = s.made


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────


def memory() -> State:
    return State(x=0, y=0, z=0, r1=None, r2=None, seen=None)


def independent(i: int) -> Callable[[Any], None]:
    def work(cells: Any) -> None:
        cell = cells[i]
        cell.value += 1
        cell.value += 1
        cell.value += 1

    return work


def independents(threads: int) -> Row:
    def setup() -> list[Counter]:
        return [Counter() for _ in range(threads)]

    workers = [independent(i) for i in range(threads)]
    return Row(f"independent, {threads} threads", setup, workers, lambda cells: cells[0].value == 3, False, 1)


def write_x(s: Any) -> None:
    s.x = 1


def read_x(s: Any) -> Any:
    return s.x


def store_left(s: Any) -> None:
    s.x = 1
    s.r1 = s.y


def store_right(s: Any) -> None:
    s.y = 1
    s.r2 = s.x


def send(s: Any) -> None:
    s.x = 1
    s.y = 1


def receive(s: Any) -> None:
    if s.y:
        assert s.x


def x_to_y(s: Any) -> None:
    s.y = s.x


def y_to_z(s: Any) -> None:
    s.z = s.y


def read_z(s: Any) -> Any:
    return s.z


def last_zero(cells: Any) -> None:
    i = 3
    while cells[i].value != 0:
        i -= 1


def next_cell(j: int) -> Callable[[Any], None]:
    def write(cells: Any) -> None:
        cells[j].value = cells[j - 1].value + 1

    return write


def alternation(k: int) -> Row:
    """Fails only if each read falls between two writes: so many preemptions does it take."""

    def write(s: Any) -> None:
        for i in range(k):
            s.x = i + 1

    def read(s: Any) -> None:
        seen = ()
        for _ in range(k):
            seen = seen + (s.x,)
        s.seen = seen

    expected = tuple(range(1, k + 1))
    traces = {3: 20, 4: 70}[k]
    return Row(f"alternation of {k} writes and reads", memory, [write, read], lambda s: s.seen != expected, True, traces)


# ── queues and files ─────────────────────────────────────────────────────────────────────────────────────────────


def queued() -> State:
    return State(q=Queue(), got=None)


def put_1(s: Any) -> None:
    s.q.put(1)


def put_2(s: Any) -> None:
    s.q.put(2)


def take(s: Any) -> None:
    s.got = s.q.get()


def file() -> State:
    path = os.path.join(tempfile.gettempdir(), f"compared-{os.getpid()}")
    for name in (path, path + "-2"):
        with open(name, "w") as out:
            out.write("0")
    return State(path=path)


def add_in_file(s: Any) -> None:
    with open(s.path) as lines:
        value = int(lines.read())
    with open(s.path, "w") as out:
        out.write(str(value + 1))


def add_in_other_file(s: Any) -> None:
    with open(s.path + "-2", "w") as out:
        out.write("1")


def write_file(s: Any) -> None:
    with open(s.path, "w") as out:
        out.write("1")


def is_2_in_file(s: Any) -> bool:
    with open(s.path) as lines:
        return lines.read() == "2"


COUNTED = [
    counter(2, 4), counter(3, 36), counter(4, 576),
    locked_counter(2, 2), locked_counter(3, 6), locked_counter(4, 24),
    Row("dict check-then-act (`in`)", lazy, [first_by_key, second_by_key], is_one, True, 6),
    Row("AB/BA deadlock", two_locks, [ab, ba], anything, True, 3),
    Row("same-order locks", two_locks, [ab, ab], anything, False, 2),
    Row("3 philosophers", lambda: State(forks=[threading.Lock() for _ in range(3)]),
        [philosopher(i) for i in range(3)], anything, True, 7),
    Row("bank transfer, racy", bank, [there, back], is_whole, True, 7),
    Row("bank transfer, locked", bank, [there_locked, back_locked], is_whole, False, 2),
    Row("queue, 1 producer, 1 consumer", queued, [put_1, take], lambda s: s.got == 1, False, 2),
    Row("queue, 2 producers, order assumed", queued, [put_1, put_2], lambda s: s.q.get() == 1, True, 2),
    Row("double-checked locking, broken", lazy, [first_checked_once, second_checked_once], is_one, True, 6),
    Row("double-checked locking, correct", lazy, [first_checked_twice, second_checked_twice], is_one, False, 4),
    *(independents(threads) for threads in (2, 3, 5, 8)),
    *(Row(f"1 writer, {n} readers", memory, [write_x] + [read_x] * n, anything, False, 2**n) for n in (1, 2, 3, 4)),
    Row("file read-modify-write (`open`)", file, [add_in_file, add_in_file], is_2_in_file, True, 16, uses_files=True),
    Row("separate files", file, [write_file, add_in_other_file], anything, False, 1, uses_files=True),
    Row("store buffer", memory, [store_left, store_right], lambda s: (s.r1, s.r2) != (0, 0), False, 3),
    Row("message passing", memory, [send, receive], anything, False, 2),
    Row("chain of 4", memory, [write_x, x_to_y, y_to_z, read_z], anything, False, 8),
    Row("lastzero(3), cells by index", lambda: [Counter() for _ in range(4)],
        [last_zero, next_cell(1), next_cell(2), next_cell(3)], anything, False, 12),
    alternation(3), alternation(4),
]


# ── programs of which a tool may say that they hold, and they do not; and some that do ───────────────────────────


def by_index(s: Any) -> None:
    s.cells[0].value += 1


def by_key(s: Any) -> None:
    s.accounts["a"].value += 1


def get(s: Any) -> Any:
    return s.cells[0]


def by_call(s: Any) -> None:
    get(s).value += 1


def cells() -> State:
    cell = Counter()
    return State(cells=[cell], accounts={"a": cell})


def is_2(s: Any) -> bool:
    return s.cells[0].value == 2


def closed_over() -> State:
    total = 0

    def add() -> None:
        nonlocal total
        seen = total
        total = seen + 1

    def read() -> int:
        return total

    return State(add=add, read=read)


def add_through_local(s: Any) -> None:
    items = s.items
    if len(items) == 0:
        items += [1]


def write_pair(s: Any) -> None:
    s.pair[0] = 1
    s.pair[1] = 1


def unpack_pair(s: Any) -> None:
    a, b = s.pair
    s.got = a == b


class OfClass:
    total = 0


def of_class() -> State:
    OfClass.total = 0
    return State(it=OfClass())


def add_to_class(s: Any) -> None:
    OfClass.total = s.it.total + 1


GLOBAL = 0
THIS = sys.modules[__name__]


def with_global() -> State:
    THIS.GLOBAL = 0  # type: ignore[attr-defined]
    return State()


def add_to_global(_: Any) -> None:
    global GLOBAL
    GLOBAL = GLOBAL + 1


def add_to_module(_: Any) -> None:
    THIS.GLOBAL = THIS.GLOBAL + 1  # type: ignore[attr-defined]


def add_in_dict(s: Any) -> None:
    s.__dict__["x"] = s.__dict__["x"] + 1


def section_then_read(s: Any) -> None:
    with s.lock:
        s.x = 1
    s.r = s.x


def section_then_write(s: Any) -> None:
    with s.lock:
        s.v = s.x
    s.x = 2


def sections() -> State:
    return State(x=0, r=None, v=None, lock=threading.Lock())


def starts_a_thread(s: Any) -> None:
    def add() -> None:
        s.x += 1

    other = threading.Thread(target=add)
    other.start()
    s.x += 1
    other.join()


def uses_a_pool(s: Any) -> None:
    def add() -> None:
        s.x += 1

    with ThreadPoolExecutor(2) as pool:
        pool.submit(add)
        pool.submit(add)


def conditional() -> State:
    return State(ready=False, got=None, condition=threading.Condition())


def waits(s: Any) -> None:
    with s.condition:
        while not s.ready:
            s.condition.wait()
        s.got = 1


def waits_without_looking(s: Any) -> None:
    with s.condition:
        s.condition.wait()
        s.got = 1


def tells(s: Any) -> None:
    with s.condition:
        s.ready = True
        s.condition.notify()


def at_barrier(s: Any) -> None:
    s.barrier.wait()


def with_semaphore(s: Any) -> None:
    with s.semaphore:
        s.x += 1


TRUSTED = [
    Row("`cells[0].value += 1`", cells, [by_index] * 2, is_2, True),
    Row("`accounts[\"a\"].value += 1`", cells, [by_key] * 2, is_2, True),
    Row("`get(s).value += 1`", cells, [by_call] * 2, is_2, True),
    Row("`k in d`, then a store", lazy, [first_by_key, second_by_key], is_one, True),
    Row("a variable that two functions close over", closed_over, [lambda s: s.add()] * 2, lambda s: s.read() == 2, True),
    Row("`items += [x]` through a local", lambda: State(items=[]), [add_through_local] * 2, lambda s: len(s.items) == 1, True),
    Row("`a, b = pair` while it changes", lambda: State(pair=[0, 0], got=None), [write_pair, unpack_pair], lambda s: s.got, True),
    Row("a class attribute, read through an instance", of_class, [add_to_class] * 2, lambda s: OfClass.total == 2, True),
    Row("a global and an attribute of its module", with_global, [add_to_global, add_to_module], lambda _: GLOBAL == 2, True),
    Row("`s.__dict__[\"x\"]`", memory, [add_in_dict] * 2, lambda s: s.x == 2, True),
    Row("`lock{x=1}; r=x` and `lock{v=x}; x=2`: v=1", sections, [section_then_read, section_then_write], lambda s: s.v != 1, True),
    Row("the same: v=0", sections, [section_then_read, section_then_write], lambda s: s.v != 0, True),
    Row("the same: r=1, v=0, x=2", sections, [section_then_read, section_then_write],
        lambda s: (s.r, s.v, s.x) != (1, 0, 2), True),
    Row("queue, 2 producers, order assumed", queued, [put_1, put_2], lambda s: s.q.get() == 1, True),
    Row("queue, 1 producer, 1 consumer", queued, [put_1, take], lambda s: s.got == 1, False),
    Row("a thread that a worker starts", memory, [starts_a_thread], lambda s: s.x == 2, True),
    Row("ThreadPoolExecutor", memory, [uses_a_pool], lambda s: s.x == 2, True),
    Row("`Condition.wait` in a loop", conditional, [waits, tells], lambda s: s.got == 1, False),
    Row("`Condition.wait` without a loop (lost wake-up)", conditional, [waits_without_looking, tells], anything, True),
    Row("`Barrier(2)`", lambda: State(barrier=threading.Barrier(2)), [at_barrier] * 2, anything, False),
    Row("`Semaphore(2)` around a counter", lambda: State(x=0, semaphore=threading.Semaphore(2)), [with_semaphore] * 2,
        lambda s: s.x == 2, True),
    alternation(3), alternation(4),
]

SAMPLED = [COUNTED[0], COUNTED[2], COUNTED[6], COUNTED[10], COUNTED[14], COUNTED[-1]]

TABLES = {"counted": COUNTED, "trusted": TRUSTED, "sampled": SAMPLED}
