"""Where objects lie, what the process did before and what the system hands out reaches no result."""

import asyncio
import ctypes
import gc
import json
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import weakref
from _thread import get_ident

import pytest
from common import Box, exhaust, one_interval

import drawloom

pytestmark = one_interval


def resources(result):
    return [resource["name"] for resource in json.loads(result.findings[0].record)["resources"]]


def test_an_attribute_of_a_list_is_called_by_its_name():
    class Named(list):
        count_of = 0

    def adds(s):
        s.count_of += 1

    result = exhaust(Named, [adds, adds], lambda s: s.count_of == 2)
    assert resources(result) == ["Named.count_of"]


def test_a_dict_with_the_names_of_a_module_is_none():
    def adds(s):
        s["a"] += 1

    result = exhaust(lambda: {"__name__": "x", "a": 0}, [adds, adds], lambda s: s["a"] == 2)
    assert resources(result) == ["dict['a']"]


@pytest.mark.parametrize("first", [object, tuple])
def test_what_makes_objects_of_one_type_says_nothing_of_others(first):
    """All types have one and the same `__new__`, as the interpreter knows it."""
    program = """if True:
        import drawloom
        from common import Box, exhaust
        made = {object: lambda s: object.__new__(Box), tuple: lambda s: tuple.__new__(tuple, s.items)}
        exhaust(lambda: Box(items=[]), [made[FIRST]])
        print(exhaust(lambda: Box(items=[], n=0), [made[tuple], lambda s: s.items.append(1)]).executions)
        print(exhaust(lambda: Box(items=[], n=0), [made[object], lambda s: s.items.append(1)]).executions)
    """.replace("FIRST", first.__name__)
    assert output_of(program).split() == ["2", "1"]


def output_of(program, **environment):
    found = {**os.environ, "PYTHONPATH": os.path.dirname(__file__), **environment}
    done = subprocess.run([sys.executable, "-c", program], env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def twice(explore):
    """What it returns, with another number of threads and executions before."""
    first = explore()
    threading.Thread(target=int)
    exhaust(Box, [bool])
    assert explore() == first
    return first


def test_threads_have_the_same_names_and_numbers_in_each_execution():
    def starts(s):
        def notes():
            s.seen[threading.current_thread().name] = s.seen[get_ident()] = threading.get_native_id()

        thread = threading.Thread(target=notes)
        thread.start()
        thread.join()

    def explore():
        seen = []
        exhaust(lambda: Box(seen={}), [starts], lambda s: seen.append(list(s.seen.items())))
        assert all(one == seen[0] for one in seen)
        return seen[0]

    (name, number), (ident, again) = twice(explore)
    assert name.startswith("Thread-1") and number == ident == again


def test_who_wants_a_seed_of_the_system_gets_the_same_one_each_time():
    def draws(s):
        own = random.Random()
        s.drawn.append(own.random())
        own.seed()
        s.drawn.append(own.random())
        random.seed()
        s.drawn.append(random.random())

    def explore():
        seen = set()
        exhaust(lambda: Box(drawn=[]), [draws], lambda s: seen.add(tuple(s.drawn)))
        return seen

    seen = twice(explore)
    assert len(seen) == 1 and len(set(*seen)) == 3


def test_a_database_in_memory_is_called_by_a_number():
    def asks(s):
        connection = sqlite3.connect(":memory:")
        connection.execute("create table t (a)")
        s.n += 1

    found = twice(lambda: resources(exhaust(lambda: Box(n=0), [asks, asks], lambda s: s.n == 2)))
    assert {name for name in found if "memory" in name} == {"database in memory 2_1", "database in memory 3_1"}


def test_a_call_that_is_not_known_is_called_by_its_name():
    library = ctypes.CDLL(None)
    result = exhaust(lambda: Box(n=0), [lambda s: library.abs(s.n)] * 2)
    assert result.coarse.startswith("a call of `abs`,")


def test_where_an_object_lies_is_no_part_of_a_message():
    kept = []

    def raises(s):
        kept.append(object())
        raise KeyError(kept[-1], s.folder)

    def setup():
        return Box(folder=tempfile.mkdtemp())

    result = drawloom.explore(setup, [raises], strategy="random", executions=10, keep_going=True)
    (finding,) = result.findings
    assert re.fullmatch(r"KeyError: \(<object object at 0x…>, '.*tmp…0_1'\)", finding.message), finding.message
    assert finding.occurrences == 10


def test_temporary_files_are_called_the_same_in_each_execution():
    def setup():
        return Box(folder=tempfile.mkdtemp(), n=0)

    def writes(s):
        with open(os.path.join(s.folder, "a"), "w"):
            s.n += 1

    def explore():
        return sorted(resources(exhaust(setup, [writes, writes], lambda s: s.n == 2)))

    assert any(name.endswith("tmp…0_1/a") for name in twice(explore))


def test_tasks_are_gone_through_in_the_order_in_which_they_were_made():
    kept, draw = [], random.Random(0)

    async def works(s, n):
        await asyncio.sleep(0)
        s.begun.append(n)

    def disturbed(coroutines):
        for coroutine in coroutines:
            kept.append([bytearray(draw.randrange(500)) for _ in range(draw.randrange(20))])
            yield coroutine

    async def waits(s):
        for next_one in asyncio.as_completed(list(disturbed(works(s, n) for n in range(6)))):
            await next_one
        tasks = [asyncio.create_task(works(s, n), name=str(n)) for n in disturbed(range(6))]
        done, _ = await asyncio.wait(tasks)
        s.done = [task.get_name() for task in done]

    seen = set()
    result = drawloom.explore(
        lambda: Box(begun=[], done=None), [waits], lambda s: seen.add((tuple(s.begun[:6]), tuple(s.done))),
        strategy="sequential", executions=20,
    )
    assert result.verdict == "no_bug_found", result.explanation
    assert seen == {((0, 1, 2, 3, 4, 5), ("0", "1", "2", "3", "4", "5"))}


def test_objects_in_a_set_have_no_names_by_their_place_in_it():
    kept, draw = [], random.Random(0)

    def setup():
        kept.append([bytearray(draw.randrange(500)) for _ in range(draw.randrange(20))])
        boxes = [Box(n=0) for _ in range(6)]
        return Box(boxes=set(boxes), own=boxes)

    async def first(s):
        s.own[0].n += 1
        await asyncio.sleep(0)
        s.own[0].n += 1

    async def second(s):
        s.own[5].n += 1
        await asyncio.sleep(0)
        s.own[5].n += 1

    # By way of the set alone they have no names from before.
    def through_the_set(worker):
        async def works(s):
            await worker(s)
        works.__name__ = worker.__name__
        return works

    def hidden():
        state = setup()
        own = state.own
        state.own = type("Own", (), {"__getitem__": lambda _, n: own[n]})
        state.own = state.own()
        return state

    results = {exhaust(hidden, [through_the_set(first), through_the_set(second)]).executions for _ in range(5)}
    assert results == {1}


def test_what_a_pattern_means_is_no_matter_of_what_was_asked_before():
    def looks(s):
        re.sub(f"{s.n}(x)", r"\\1", "abc")
        s.n += 1

    re.purge()
    first, second = (exhaust(lambda: Box(n=0), [looks, looks], lambda s: s.n == 2) for _ in range(2))
    assert (first.executions, first.coarse, first.steps) == (second.executions, second.coarse, second.steps)
    assert first.coarse is None


REMEMBERS = """if True:
    from common import Box, exhaust
    remembered = {}

    def looks(s):
        if "a" not in remembered:
            remembered["a"] = s.n
        s.n += 1

    def explore(**options):
        return exhaust(lambda: Box(n=0), [looks, looks], lambda s: s.n == 2, name="remembers", **options)
"""


def test_what_is_remembered_for_good_does_not_matter_to_a_replay_in_another_process():
    token = output_of(REMEMBERS + "\n    print(explore().findings[0].token)").strip()
    told = output_of(REMEMBERS + f"\n    print([finding.kind for finding in explore(replay={token!r}).findings])")
    assert told.strip() == "['invariant']"


def test_garbage_is_collected_after_the_same_executions_whatever_was_before():
    class Node:
        pass

    def leaves(s):
        node = Node()
        node.itself = node
        s.left.add(node)
        node.left = None

    def explore():
        left, seen = weakref.WeakSet(), []
        drawloom.explore(lambda: Box(left=left), [leaves], lambda _: seen.append(len(left)), strategy="random", executions=100)
        return seen

    gc.collect()
    first = explore()
    for _ in range(3):
        exhaust(Box, [bool])
        assert explore() == first


def test_a_program_that_something_else_decides_is_told_so():
    draw = random.Random(0)

    def setup():
        items = [Box(n=0) for _ in range(3)]
        return Box(items=items, first=draw.choice(items), n=0)

    def works(s):
        s.n += 1
        if s.first is s.items[0]:
            s.first.n += 1
        s.items[1].n += 1

    results = [exhaust(setup, [works, works]) for _ in range(40)]
    noticed = [result for result in results if result.verdict != "holds"]
    assert len(noticed) > 30
    for result in noticed:
        assert (result.verdict, result.exhausted) == ("inconclusive", False)
        assert "the program behaved differently" in result.reason
        assert "the order of a set" in result.explanation and "addresses" in result.explanation


def test_code_that_is_compiled_in_each_execution_is_the_same_code():
    source = "def works(s):\n    s.items.append(1)\n    s.by_number[0] = len(s.items)"

    def setup():
        names = {}
        exec(compile(source, "".join(["<com", "piled>"]), "exec"), names)
        return Box(items=[], by_number={}, works=names["works"])

    result = exhaust(setup, [lambda s: s.works(s)] * 2)
    assert (result.verdict, result.executions) == ("holds", 8)


_local = threading.local()


def test_tasks_of_an_event_loop_are_on_one_thread():
    async def works(s):
        _local.n = getattr(_local, "n", 0) + 1
        await asyncio.sleep(0)
        s.idents.add((get_ident(), threading.current_thread()))
        s.own.n = getattr(s.own, "n", 0) + 1

    def looks(s):
        return (len(s.idents), _local.n, s.own.n) == (1, 2, 2)

    result = exhaust(lambda: Box(idents=set(), own=threading.local()), [works, works], looks)
    assert result.verdict == "holds", result.explanation
    assert not hasattr(_local, "n")


def test_a_port_that_the_system_has_chosen_is_called_by_a_number():
    def setup():
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        server.listen()
        return Box(server=server, n=0)

    def connects(s):
        with socket.socket() as client:
            client.connect(s.server.getsockname())
            s.n += 1

    def explore():
        return resources(exhaust(setup, [connects, connects], lambda s: s.n == 2))

    assert "address 127.0.0.1, port 0_1 of the system" in twice(explore)


def test_the_descriptor_of_a_socket_that_is_gone_is_the_next_one_s():
    def leaves():
        one, other = socket.socketpair()
        del one, other

    def closes():
        socket.socket().close()

    def steps(*acts):
        return exhaust(lambda: Box(n=0), [lambda s: [act() for act in acts]] * 2).steps

    assert steps(leaves, closes) == steps(closes, leaves)
