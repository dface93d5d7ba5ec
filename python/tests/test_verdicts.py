"""What holds holds: programs in their smallest form that were once said to hold and do not, with their workers in both
orders; and what is assumed where something cannot be told."""

from __future__ import annotations

import asyncio
import builtins
import ctypes
import json
import os
import queue
import sys
import threading
import time
import types
import weakref
from threading import active_count, current_thread
from types import SimpleNamespace

import pytest

import drawloom

def in_both_orders(setup, workers, invariant=None, **options):
    """The verdict, which does not depend on the order of the workers; and the results."""
    results = [drawloom.explore(setup, each, invariant, **options) for each in (workers, workers[::-1])]
    assert results[0].verdict == results[1].verdict, [result.reason for result in results]
    return results[0].verdict, results


def verdict_of(*arguments, **options):
    return in_both_orders(*arguments, **options)[0]


def sees_both(setup, write, read, before, after):
    """Whether the reader sees the state before the write as well as the state after it, whoever is named first."""

    def reader(s):
        s.seen = read(s)

    outcomes = []
    for one in (before, after):
        outcomes.append(verdict_of(setup, [write, reader], lambda s: s.seen != one))
    return outcomes == ["fails", "fails"]


def increment(s):
    seen = s.n
    s.n = seen + 1


def counter():
    return SimpleNamespace(n=0)


# Invariants.


@pytest.mark.parametrize("invariant", [
    lambda s: int(s.n == 2), lambda s: s.n & 2, lambda s: [2] if s.n == 2 else [], lambda s: "fine" if s.n == 2 else "",
    lambda s: 0.0 if s.n != 2 else 1.0,
])
def test_an_invariant_that_returns_something_false_does_not_hold(invariant):
    assert verdict_of(counter, [increment, increment], invariant) == "fails"


class Doubtful:
    """As the booleans of numpy: equal to False, and another object."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


def test_a_boolean_of_another_library_is_asked_whether_it_is_true():
    assert verdict_of(counter, [increment, increment], lambda s: Doubtful(s.n == 2)) == "fails"
    assert verdict_of(counter, [increment], lambda s: Doubtful(s.n == 1), strategy="exhaustive") != "fails"


def test_an_invariant_that_returns_nothing_holds_unless_it_raises():
    def invariant(s):
        assert s.n in (1, 2)

    assert verdict_of(counter, [increment, increment], invariant) == "holds"


def test_so_does_the_invariant_of_coroutines():
    async def worker(s):
        import asyncio

        seen = s.n
        await asyncio.sleep(0)
        s.n = seen + 1

    async def invariant(s):
        return int(s.n == 2)

    assert verdict_of(counter, [worker, worker], lambda s: int(s.n == 2)) == "fails"
    assert verdict_of(counter, [worker, worker], invariant) == "fails"


def test_so_does_the_invariant_of_markers():
    from drawloom.markers import explore_marker_interleavings

    class Counter:
        def __init__(self):
            self.value = 0

        def increment(self):
            seen = self.value  # drawloom: read
            self.value = seen + 1  # drawloom: write

    workers = {"a": Counter.increment, "b": Counter.increment}
    assert explore_marker_interleavings(Counter, workers, lambda c: int(c.value == 2)).verdict == "fails"


# Instructions.


def test_an_instruction_with_a_long_argument_is_seen():
    body = "\n".join(f"        if v == 7: out.append({i})" for i in range(60))
    names = {}
    exec(f"def reader(s):\n    out = []\n    for v in s.l:\n        out.append(v)\n{body}\n    s.seen = out\n", names)

    def writer(s):
        s.l[0] = 1
        s.l[1] = 1

    setup = lambda: SimpleNamespace(l=[0, 0])  # noqa: E731
    for impossible in ([0, 1], [1, 1], [0, 0]):
        assert verdict_of(setup, [writer, names["reader"]], lambda s: s.seen != impossible) == "fails", impossible


def test_a_name_with_a_long_number_is_seen():
    first = "\n".join(f"    s.a{i} = {i}" for i in range(300))
    names = {}
    exec(f"def worker(s):\n{first}\n    seen = s.n\n    s.n = seen + 1\n", names)
    assert verdict_of(counter, [names["worker"], increment], lambda s: s.n == 2, strategy="exhaustive") == "fails"


def test_the_encoder_of_json_is_seen_to_go_through_a_dict():
    def writer(s):
        s.d["a"] = 1
        s.d["b"] = 1

    def reader(s):
        s.seen = json.loads(json.dumps(s.d, indent=1))

    setup = lambda: SimpleNamespace(d={"a": 0, "b": 0})  # noqa: E731
    # Where the encoder is not written in Python, nobody comes in between.
    in_python = sys.version_info < (3, 13)
    verdict = verdict_of(setup, [writer, reader], lambda s: s.seen != {"a": 0, "b": 1}, strategy="exhaustive")
    assert verdict == ("fails" if in_python else "holds")


def test_a_generator_that_delegates_is_found_running_by_others():
    def items():
        yield from range(4)

    def worker(s):
        s.got.append(next(s.items))

    verdict, results = in_both_orders(lambda: SimpleNamespace(items=items(), got=[]), [worker, worker])
    assert verdict == "fails"
    assert "generator already executing" in results[0].findings[0].message


# Other names for the same.


class Thing:
    def __init__(self):
        self.x = 0


def test_what_is_reached_by_a_weak_proxy_is_the_object():
    def setup():
        thing = Thing()
        return SimpleNamespace(o=thing, p=weakref.proxy(thing))

    assert sees_both(setup, lambda s: setattr(s.o, "x", 1), lambda s: s.p.x, 0, 1)
    assert sees_both(setup, lambda s: setattr(s.p, "x", 1), lambda s: s.o.x, 0, 1)

    def write(s):
        s.p.x = 1

    assert sees_both(setup, write, lambda s: getattr(s.o, "x"), 0, 1)


def test_what_is_reached_by_a_weak_proxy_of_a_container_is_the_container():
    class Items(list):
        pass

    def setup():
        items = Items([0])
        return SimpleNamespace(o=items, p=weakref.proxy(items))

    def write(s):
        s.o[0] = 1

    assert sees_both(setup, write, lambda s: s.p[0], 0, 1)
    assert sees_both(setup, write, lambda s: list(s.p), [0], [1])
    assert sees_both(setup, lambda s: s.p.append(1), lambda s: len(s.o), 1, 2)


def test_what_is_reached_by_a_read_only_view_of_a_dict_is_the_dict():
    def setup():
        d = {"a": 0}
        return SimpleNamespace(d=d, p=types.MappingProxyType(d))

    def write(s):
        s.d["a"] = 1

    assert sees_both(setup, write, lambda s: s.p["a"], 0, 1)
    assert sees_both(setup, write, lambda s: s.p.get("a"), 0, 1)
    assert sees_both(setup, write, lambda s: list(s.p.values()), [0], [1])
    assert sees_both(setup, write, lambda s: dict(s.p), {"a": 0}, {"a": 1})
    assert sees_both(setup, lambda s: s.d.update(b=1), lambda s: "b" in s.p, False, True)
    assert sees_both(setup, lambda s: s.d.update(b=1), lambda s: len(s.p), 1, 2)


def test_names_of_builtins_are_globals_of_all_modules():
    def setup():
        builtins.SHARED_BY_ALL = 0
        return SimpleNamespace()

    def by_attribute(s):
        builtins.SHARED_BY_ALL = 1

    def by_dict(s):
        vars(builtins)["SHARED_BY_ALL"] = 1

    def by_setattr(s):
        setattr(builtins, "SHARED_BY_ALL", 1)

    try:
        for write in (by_attribute, by_dict, by_setattr):
            assert sees_both(setup, write, lambda s: SHARED_BY_ALL, 0, 1), write  # noqa: F821
            assert sees_both(setup, write, lambda s: builtins.SHARED_BY_ALL, 0, 1), write
    finally:
        del builtins.SHARED_BY_ALL


def test_what_a_pointer_of_c_points_at_is_changed_by_it():
    def setup():
        i = ctypes.c_int(0)
        return SimpleNamespace(i=i, p=ctypes.pointer(i))

    def by_item(s):
        s.p[0] = 1

    def by_contents(s):
        s.p.contents.value = 1

    def by_itself(s):
        s.i.value = 1

    for write in (by_item, by_contents, by_itself):
        assert sees_both(setup, write, lambda s: s.i.value, 0, 1), write
        assert sees_both(setup, write, lambda s: s.p[0], 0, 1), write
        assert sees_both(setup, write, lambda s: s.p.contents.value, 0, 1), write
        assert sees_both(setup, write, lambda s: bytes(s.i)[0], 0, 1), write


def test_structures_and_arrays_of_c_share_their_memory():
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int)]

    def setup():
        pair = Pair(0, 0)
        return SimpleNamespace(pair=pair, array=ctypes.cast(ctypes.pointer(pair), ctypes.POINTER(ctypes.c_int * 2)).contents)

    def write(s):
        s.pair.b = 1

    assert sees_both(setup, write, lambda s: s.array[1], 0, 1)
    assert sees_both(setup, write, lambda s: list(s.array), [0, 0], [0, 1])


# Of the process.


def test_the_mask_of_files_is_the_whole_process_s():
    before = os.umask(0o022)
    try:
        def setup():
            os.umask(0o022)
            return SimpleNamespace()

        def one(s):
            s.a = os.umask(0o077)

        def other(s):
            s.b = os.umask(0o027)

        assert verdict_of(setup, [one, other], lambda s: s.a == 0o022) == "fails"
        assert verdict_of(setup, [one, other], lambda s: s.b == 0o022) == "fails"
    finally:
        os.umask(before)


def test_how_many_threads_there_are_changes_when_one_is_started():
    def counts(s):
        s.seen = (threading.active_count(), threading.active_count())

    def starts(s):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

    assert verdict_of(SimpleNamespace, [counts, starts], lambda s: s.seen[0] == s.seen[1]) == "fails"
    assert verdict_of(SimpleNamespace, [counts, starts], lambda s: s.seen[0] >= s.seen[1]) == "fails"
    assert verdict_of(SimpleNamespace, [counts, starts], lambda s: s.seen[0] <= s.seen[1]) == "fails"


def test_all_threads_are_other_ones_when_one_is_started():
    def looks(s):
        s.seen = len(threading.enumerate())
        s.again = len(threading.enumerate())

    def starts(s):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

    assert verdict_of(SimpleNamespace, [looks, starts], lambda s: s.seen >= s.again) == "fails"
    assert verdict_of(SimpleNamespace, [looks, starts], lambda s: s.seen <= s.again) == "fails"


def test_functions_of_threads_that_were_imported_by_name_are_the_same():
    def counts(s):
        s.seen = (active_count(), active_count())
        s.is_same = current_thread() is threading.current_thread()

    def starts(s):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

    assert verdict_of(SimpleNamespace, [counts, starts], lambda s: s.seen[0] >= s.seen[1]) == "fails"
    assert verdict_of(SimpleNamespace, [counts, starts], lambda s: s.is_same) == "holds"


def test_who_only_starts_threads_is_not_in_the_way_of_others_who_do():
    def starts(s):
        thread = threading.Thread(target=int, name="one")
        thread.start()
        thread.join()

    _, results = in_both_orders(SimpleNamespace, [starts, starts], strategy="exhaustive")
    assert [result.executions for result in results] == [1, 1]


# Weak references.


def test_an_object_dies_under_a_weak_reference():
    def setup():
        thing = Thing()
        return SimpleNamespace(o=thing, r=weakref.ref(thing))

    def drop(s):
        s.o = None

    assert sees_both(setup, drop, lambda s: s.r() is None, False, True)


def test_an_object_dies_in_a_dict_of_weak_references():
    def setup():
        thing = Thing()
        return SimpleNamespace(o=thing, d=weakref.WeakValueDictionary(a=thing))

    def drop(s):
        s.o = None

    assert sees_both(setup, drop, lambda s: s.d.get("a") is None, False, True)


# What is assumed.


def kinds(result):
    return [assumption.kind for assumption in result.assumptions]


def test_what_holds_without_assumptions_says_so():
    def worker(s):
        with s.lock:
            s.n += 1

    result = drawloom.explore(lambda: SimpleNamespace(n=0, lock=threading.Lock()), [worker, worker], lambda s: s.n == 2)
    assert (result.verdict, result.assumptions) == ("holds", [])
    assert "assum" not in result.reason


def test_that_time_passes_only_when_nobody_can_go_on_is_an_assumption():
    def sets(s):
        s.n += 1
        s.e.set()

    def waits(s):
        s.seen = s.e.wait(timeout=0.001)

    setup = lambda: SimpleNamespace(n=0, e=threading.Event())  # noqa: E731
    verdict, results = in_both_orders(setup, [sets, waits], lambda s: s.seen)
    assert verdict == "holds"
    for result in results:
        assert kinds(result) == ["time"]
        assert "time passes only when no task can run" in result.reason.splitlines()[-1]
        assert "assuming" in repr(result)
    # Where the clock is explored it is none.
    assert verdict_of(setup, [sets, waits], lambda s: s.seen, clock="explore") == "fails"


READERS = [lambda s: setattr(s, "a", time.monotonic()), lambda s: setattr(s, "b", time.monotonic())]


@pytest.mark.parametrize("strategy", ["auto", "exhaustive"])
def test_nothing_orders_two_readings_of_a_clock(strategy):
    verdict, results = in_both_orders(SimpleNamespace, READERS, lambda s: s.a <= s.b, strategy=strategy)
    assert verdict == "fails"
    for result in results:
        again = result.replay()
        assert (again.verdict, again.executions) == ("fails", 1)
    assert verdict_of(SimpleNamespace, READERS, lambda s: s.a <= s.b, clock="explore") == "fails"


def test_two_readings_of_a_clock_may_be_the_same():
    verdict, _ = in_both_orders(SimpleNamespace, READERS, lambda s: s.a != s.b)
    assert verdict == "fails"


def test_tasks_read_clocks_in_any_order():
    async def a(s):
        s.a = time.monotonic()

    async def b(s):
        s.b = time.monotonic()

    verdict, _ = in_both_orders(SimpleNamespace, [a, b], lambda s: s.a <= s.b)
    assert verdict == "fails"


def test_that_clocks_stand_still_is_an_assumption():
    verdict, results = in_both_orders(SimpleNamespace, READERS, lambda s: abs(s.a - s.b) < 1, strategy="exhaustive")
    assert verdict == "holds"
    assert [kinds(result) for result in results] == [["time"], ["time"]]
    assert [kinds(drawloom.explore(SimpleNamespace, READERS, clock="explore"))] == [[]]


def test_who_sleeps_while_the_other_one_works_is_alone_whoever_is_named_first():
    def writes(s):
        s.n = 1

    def reads(s):
        time.sleep(0.1)
        s.seen = s.n

    verdict, results = in_both_orders(counter, [writes, reads], lambda s: s.seen == 1)
    assert verdict == "holds"
    assert [kinds(result) for result in results] == [["time"], ["time"]]


def test_tasks_that_sleep_as_threads_do_hold_each_other_up():
    async def worker(s):
        time.sleep(1)
        s.n += 1

    verdict, results = in_both_orders(counter, [worker, worker], lambda s: s.n == 2)
    assert verdict == "holds"
    assert all("time" in kinds(result) for result in results)


@pytest.mark.parametrize("waits", [
    lambda s: s.lock.acquire(timeout=1), lambda s: time.sleep(1), lambda s: s.condition.wait(1),
    lambda s: s.native.acquire(timeout=1),
])
def test_every_wait_for_a_while_only_is_a_matter_of_time(waits):
    def worker(s):
        with s.condition:
            waits(s)
        s.n += 1

    native = threading.Lock()

    def setup():
        return SimpleNamespace(n=0, lock=threading.Lock(), condition=threading.Condition(), native=native)

    def other(s):
        s.n

    result = drawloom.explore(setup, [worker, other], strategy="exhaustive")
    if native.locked():
        native.release()
    assert kinds(result) == ["time"], result


def test_timers_of_an_event_loop_are_a_matter_of_time():
    async def worker(s):
        import asyncio

        await asyncio.sleep(1)
        s.n += 1

    result = drawloom.explore(counter, [worker, worker], lambda s: s.n == 2)
    assert result.verdict == "holds"
    assert kinds(result) == ["time"]


_instance = None


def test_what_the_first_execution_has_left_behind_keeps_the_others_from_being_alike():
    global _instance
    _instance = None

    def get(s):
        global _instance
        if _instance is None:
            _instance = object()
        s.append(_instance)

    verdict, results = in_both_orders(list, [get, get], lambda s: s[0] is s[1])
    assert verdict in ("fails", "inconclusive")
    for result in results:
        if result.verdict == "inconclusive":
            assert kinds(result) == ["module state"]
            assert "_instance" in result.reason and "setup" in result.reason


def test_state_that_setup_resets_is_none_of_that():
    def setup():
        global _instance
        _instance = None
        return []

    def get(s):
        global _instance
        if _instance is None:
            _instance = object()
        s.append(_instance)

    assert verdict_of(setup, [get, get], lambda s: s[0] is s[1]) == "fails"


_cache = {}


def test_a_cache_that_is_full_from_the_second_execution_on_is_left_behind():
    _cache.clear()

    def get(s):
        if "a" not in _cache:
            _cache["a"] = object()
        s.append(_cache["a"])

    verdict, results = in_both_orders(list, [get, get], lambda s: s[0] is s[1])
    assert verdict in ("fails", "inconclusive")


class Registry:
    instance = None
    members: list = []


def test_an_attribute_of_a_class_is_left_behind_as_well():
    Registry.instance = None

    def get(s):
        if Registry.instance is None:
            Registry.instance = object()
        s.append(Registry.instance)

    assert verdict_of(list, [get, get], lambda s: s[0] is s[1]) in ("fails", "inconclusive")


_settings = SimpleNamespace(loaded=False)


def test_so_is_an_attribute_of_an_object_of_a_module_and_what_a_function_has_around_it():
    _settings.loaded = False
    loaded = False

    def of_module(s):
        if not _settings.loaded:
            s.append(1)
            _settings.loaded = True

    def of_closure(s):
        nonlocal loaded
        if not loaded:
            s.append(1)
            loaded = True

    assert drawloom.explore(list, [of_module, of_module], lambda s: len(s) <= 1).verdict in ("fails", "inconclusive")
    assert drawloom.explore(list, [of_closure, of_closure], lambda s: len(s) <= 1).verdict in ("fails", "inconclusive")


_ready = threading.Event()
_queue = queue.Queue()


def test_an_event_of_a_module_that_stays_set_is_left_behind():
    _ready.clear()

    def looks(s):
        s.n = _ready.is_set()

    def sets(s):
        _ready.set()

    # In the very first execution it was not set.
    assert verdict_of(counter, [looks, sets], lambda s: s.n) in ("fails", "inconclusive")

    def setup():
        _ready.clear()
        return counter()

    assert sees_both(setup, sets, lambda s: _ready.is_set(), False, True)


def test_a_queue_of_a_module_that_is_not_emptied_is_left_behind():
    def looks(s):
        s.n = _queue.qsize()

    def puts(s):
        _queue.put(1)

    assert verdict_of(counter, [looks, puts], lambda s: s.n < 100) in ("fails", "inconclusive")


def test_who_only_gathers_what_executions_come_to_leaves_nothing_behind_that_matters():
    seen, last = [], None

    def worker(s):
        nonlocal last
        increment(s)
        seen.append(s.n)
        last = s.n

    result = drawloom.explore(counter, [worker, worker], lambda s: s.n in (1, 2))
    assert result.verdict == "holds", result.reason
    assert seen


def test_what_a_library_remembers_is_an_assumption():
    code = "_known = {}\ndef remembered(key):\n    if key not in _known:\n        _known[key] = object()\n    return _known[key]\n"
    names = {}
    exec(compile(code, os.path.join(os.path.dirname(os.__file__), "site-packages", "remembers.py"), "exec"), names)
    remembered = names["remembered"]

    def worker(s):
        s.n = remembered("a") is not None

    result = drawloom.explore(counter, [worker, worker], lambda s: s.n)
    assert result.verdict == "holds"
    assert kinds(result) == ["module state"]


def test_that_unknown_code_is_one_step_is_an_assumption():
    import zlib  # of which not all is in the table

    def worker(s):
        s.n = zlib.compressobj()

    result = drawloom.explore(counter, [worker, worker], strategy="exhaustive")
    assert result.verdict == "holds" and result.coarse is not None
    assert kinds(result) == ["C code"]
    assert "compressobj" in str(result.assumptions[0])


def test_a_worker_that_only_makes_a_coroutine_has_not_held_anything():
    class Counter:
        def __init__(self):
            self.n = 0

        async def increment(self):
            value = self.n
            await asyncio.sleep(0)
            self.n = value + 1

    wrapped = lambda counter: counter.increment()  # noqa: E731
    result = drawloom.explore(Counter, [wrapped, wrapped])
    assert result.verdict == "fails" and "that is never awaited" in result.findings[0].message, result.reason
    result = drawloom.explore(Counter, [Counter.increment] * 2, lambda counter: counter.n == 2)
    assert result.verdict == "fails" and result.findings[0].kind == "invariant"
