"""Random programs over shared attributes, dicts, lists, locks, condition variables and queues.

Each operation is there twice: as Python source, and as steps of which `fuzz_oracle` knows by definition what they do.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MISSING: Any = object()
# Which dict is `d` and which list is `log` is looked at only by its size or order: `e` and `l` never are.
DICTS, KEYS, INDICES = ("d", "e"), ("a", "b"), (0, 1)


@dataclass(frozen=True)
class Step:
    """A step: an access, a request for a lock, its release, a wait, a notification or a jump."""

    kind: str
    variable: str = ""
    # Of an access: a key, an index, `SIZE`, or none for all of it. Of a wait and a notification: at what.
    part: Any = None
    write: bool = False
    removes: bool = False
    # Of an access: (value, loaded) to (value, loaded, what it got or MISSING, how many steps to skip).
    act: Callable[[Any, Any], tuple[Any, Any, Any, int]] = lambda value, loaded: (value, loaded, MISSING, 0)
    # Of a notification: how many are woken. Of a jump: how far.
    count: int = 0
    # Within a lock of its own, so that nobody can meet it.
    is_guarded: bool = False


@dataclass
class Program:
    """Threads, as steps and as source; and how the final state is looked at."""

    threads: list[list[Step]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    full_dict: bool = True
    queue_size: int = 0
    looks_at_order: bool = False

    def outcome(self, values: dict[str, Any], got: tuple[tuple[Any, ...], ...]) -> Any:
        dicts = tuple(seen_of_dict(values[name], self.looks_at_order) for name in DICTS)
        return (values["x"], values["y"], dicts, values["l"], values["log"], values["q"], got)

    def setup(self) -> SimpleState:
        return SimpleState(self.full_dict, self.queue_size)

    def seen(self, s: Any) -> Any:
        """The final state of a real execution, as `outcome` has it."""
        dicts = tuple(seen_of_dict(getattr(s, name), self.looks_at_order) for name in DICTS)
        got = tuple(getattr(s, f"got{number}") for number in range(len(self.threads)))
        return (s.x, s.y, dicts, tuple(s.l), tuple(s.log), tuple(s.q.queue), got)

    def workers(self) -> list[Callable[[Any], None]]:
        functions = []
        for number, source in enumerate(self.sources):
            names: dict[str, Any] = {"queue": queue, "time": time}
            exec(compile(source, f"<thread {number}>", "exec"), names)
            functions.append(names[f"thread{number}"])
        return functions


def seen_of_dict(d: dict[str, Any], order: bool) -> Any:
    return tuple(d.items()) if order else (d.get("a"), d.get("b"), len(d))


class SimpleState:
    """What the threads share."""

    def __init__(self, full: bool, queue_size: int) -> None:
        self.x = self.y = 0
        self.d = {"a": 0, "b": 0} if full else {}
        self.e = {"a": 0, "b": 0} if full else {}
        self.l, self.log = [0, 0], [0]  # noqa: E741
        self.locks = [threading.Lock(), threading.Lock()]
        self.c = threading.Condition()
        self.q: queue.Queue[int] = queue.Queue(queue_size)


def start(program: Program) -> dict[str, Any]:
    """The same, for the simulation."""
    full = {"a": 0, "b": 0} if program.full_dict else {}
    return {"x": 0, "y": 0, "d": dict(full), "e": dict(full), "l": (0, 0), "log": (0,), "q": ()}


# ── operations ───────────────────────────────────────────────────────────────────────────────────────────────────

Operation = tuple[list[str], list[Step]]


def without(d: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in d.items() if k != key}


def replaced(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*items[:index], value, *items[index + 1:])


def access(variable: str, part: Any, write: bool, act: Any, removes: bool = False, guarded: bool = False) -> Step:
    return Step("access", variable, part, write, removes, act, is_guarded=guarded)


def got(value: Callable[[Any], Any]) -> Any:
    return lambda v, loaded: (v, loaded, value(v), 0)


def attribute(name: str, value: int) -> dict[str, Operation]:
    place = f"s.{name}"
    read = access(name, None, False, got(lambda v: v))
    write = access(name, None, True, lambda v, _: (value, None, MISSING, 0))
    load = access(name, None, False, lambda v, _: (v, v, MISSING, 0))
    add = access(name, None, True, lambda v, loaded: (loaded + 1, None, MISSING, 0))
    test = access(name, None, False, lambda v, _: (v, None, MISSING, 0 if v else 1))
    return {
        "read": ([f"got = got + ({place},)"], [read]),
        "write": ([f"{place} = {value}"], [write]),
        "increment": ([f"{place} = {place} + 1"], [load, add]),
        "write if set": ([f"if {place}:", f"    {place} = {value}"], [test, write]),
    }


def dict_item(rng: random.Random, name: str, key: str, value: int) -> Operation:
    place = f"s.{name}[{key!r}]"
    get = access(name, key, False, got(lambda d: d.get(key)))
    has = access(name, key, False, got(lambda d: key in d))
    load = access(name, key, False, lambda d, _: (d, d.get(key, 0), MISSING, 0))
    add = access(name, key, True, lambda d, loaded: ({**d, key: loaded + 1}, None, MISSING, 0))
    test = access(name, key, False, lambda d, _: (d, None, MISSING, 1 if key in d else 0))
    store = access(name, key, True, lambda d, _: ({**d, key: value}, None, MISSING, 0))
    default = access(name, key, True, lambda d, _: (d if key in d else {**d, key: value}, None, d.get(key, value), 0))
    pop = access(name, key, True, lambda d, _: (without(d, key), None, d.get(key), 0), removes=True)
    missing = access(name, key, True, lambda d, _: (without(d, key), None, MISSING if key in d else "no", 0), removes=True)
    error = access(name, key, False, got(lambda d: d.get(key, "no")))
    return rng.choice([
        ([f"got = got + (s.{name}.get({key!r}),)"], [get]),
        ([f"got = got + ({key!r} in s.{name},)"], [has]),
        ([f"{place} = {value}"], [store]),
        ([f"{place} = s.{name}.get({key!r}, 0) + 1"], [load, add]),
        ([f"if {key!r} not in s.{name}:", f"    {place} = {value}"], [test, store]),
        ([f"got = got + (s.{name}.setdefault({key!r}, {value}),)"], [default]),
        ([f"got = got + (s.{name}.pop({key!r}, None),)"], [pop]),
        (["try:", f"    del {place}", "except KeyError:", "    got = got + ('no',)"], [missing]),
        (["try:", f"    got = got + ({place},)", "except KeyError:", "    got = got + ('no',)"], [error]),
    ])


def dict_look(rng: random.Random, name: str) -> Operation:
    size = access(name, "SIZE", False, got(len))
    empty = access(name, "SIZE", False, got(lambda d: not d))
    items = access(name, None, False, got(lambda d: tuple(d.items())))
    clear = access(name, None, True, lambda d, _: ({}, None, MISSING, 0))
    return rng.choice([
        ([f"got = got + (len(s.{name}),)"], [size]),
        ([f"got = got + (not s.{name},)"], [empty]),
        ([f"got = got + (tuple(s.{name}.items()),)"], [items]),
        ([f"s.{name}.clear()"], [clear]),
    ])


def list_item(rng: random.Random, index: int, value: int) -> Operation:
    place = f"s.l[{index}]"
    read = access("l", index, False, got(lambda items: items[index]))
    write = access("l", index, True, lambda items, _: (replaced(items, index, value), None, MISSING, 0))
    load = access("l", index, False, lambda items, _: (items, items[index], MISSING, 0))
    add = access("l", index, True, lambda items, loaded: (replaced(items, index, loaded + 1), None, MISSING, 0))
    return rng.choice([
        ([f"got = got + ({place},)"], [read]),
        ([f"{place} = {value}"], [write]),
        ([f"{place} += 1"], [load, add]),
    ])


def list_look(rng: random.Random, name: str) -> Operation:
    size = access(name, "SIZE", False, got(len))
    items = access(name, None, False, got(lambda items: items))
    has = access(name, None, False, got(lambda items: 0 in items))
    return rng.choice([
        ([f"got = got + (len(s.{name}),)"], [size]),
        ([f"got = got + (tuple(s.{name}),)"], [items]),
        ([f"got = got + (0 in s.{name},)"], [has]),
    ])


def list_change(rng: random.Random, value: int) -> Operation:
    append = access("log", None, True, lambda items, _: ((*items, value), None, MISSING, 0))
    pop = access("log", None, True, lambda items, _: (items[:-1], None, items[-1] if items else None, 0))
    test = access("log", "SIZE", False, lambda items, _: (items, None, MISSING, 0 if items else 1))
    remove = access("log", None, True, lambda items, _: (items[1:], None, items[0] if items else None, 0))
    return rng.choice([
        ([f"s.log.append({value})"], [append]),
        (["try:", "    got = got + (s.log.pop(),)", "except IndexError:", "    got = got + (None,)"], [pop]),
        (["try:", "    if s.log:", "        got = got + (s.log.pop(0),)", "except IndexError:", "    got = got + (None,)"],
         [test, remove]),
    ])


def condition(rng: random.Random, name: str, value: int) -> Operation:
    """Waits until an attribute is set, or sets it and says so."""
    if rng.random() < 0.5:
        test = access(name, None, False, lambda v, _: (v, None, MISSING, 3 if v else 0))
        waits = [Step("lock", "c"), test, Step("wait", "c", "c"), Step("lock", "c"), Step("jump", count=-4), Step("unlock", "c")]
        return ["with s.c:", f"    while not s.{name}:", "        s.c.wait()"], waits
    set_ = access(name, None, True, lambda v, _: (value, None, MISSING, 0))
    how, count = rng.choice([("notify()", 1), ("notify_all()", 99)])
    tells = [Step("lock", "c"), set_, Step("notify", "c", "c", count=count), Step("unlock", "c")]
    return ["with s.c:", f"    s.{name} = {value}", f"    s.c.{how}"], tells


def queued(rng: random.Random, size: int, value: int) -> Operation:
    """What `queue.Queue` does: all of it within its lock, at which those wait who find it full or empty."""

    def within(act: Any, write: bool = False) -> Step:
        return access("q", None, write, act, guarded=True)

    def full(items: Any, _: Any) -> Any:
        return items, None, MISSING, 0 if size and len(items) >= size else 3

    def empty(items: Any, _: Any) -> Any:
        return items, None, MISSING, 3 if items else 0

    lock, unlock, again = Step("lock", "q"), Step("unlock", "q"), Step("jump", count=-4)
    append = within(lambda items, _: ((*items, value), None, MISSING, 0), True)
    take = within(lambda items, _: (items[1:], None, items[0], 0), True)
    try_take = within(lambda items, _: (items[1:], None, items[0] if items else None, 0 if items else 1), True)
    more, less = Step("notify", "q", "not empty", count=1), Step("notify", "q", "not full", count=1)
    return rng.choice([
        ([f"s.q.put({value})"], [lock, within(full), Step("wait", "q", "not full"), lock, again, append, more, unlock]),
        (["got = got + (s.q.get(),)"],
         [lock, within(empty), Step("wait", "q", "not empty"), lock, again, take, less, unlock]),
        (["try:", "    got = got + (s.q.get_nowait(),)", "except queue.Empty:", "    got = got + (None,)"],
         [lock, try_take, less, unlock]),
        (["got = got + (s.q.qsize(),)"], [lock, within(got(len)), unlock]),
    ])


# ── programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def random_program(seed: str, most_steps: int = 4) -> Program:
    """Two or three threads of a few operations, over what is drawn for the program."""
    rng = random.Random(seed)
    program = Program(
        full_dict=rng.random() < 0.5, queue_size=rng.choice((0, 1)), looks_at_order=rng.random() < 0.2
    )
    # What this program is about: few things, so that threads meet.
    about = rng.sample(["x", "y", "d", "e", "l", "log", "c", "q"], rng.randint(1, 3))
    keys = rng.choice([("a",), ("a", "b")])
    looks = rng.random() < 0.4
    for number in range(rng.choice((2, 2, 3))):
        lines, steps = [f"def thread{number}(s):", "    got = ()"], []
        left, held = rng.randint(1, most_steps), []
        while left > 0:
            kind = rng.random()
            indent = "    " * (1 + len(held))
            if kind < 0.15 and len(held) < 2:
                lock = rng.choice([lock for lock in (0, 1) if lock not in held])
                lines += [f"{indent}with s.locks[{lock}]:", f"{indent}    pass"]
                steps.append(Step("lock", f"lock {lock}"))
                held.append(lock)
                left -= 1
            elif kind < 0.3 and held:
                steps.append(Step("unlock", f"lock {held.pop()}"))
            else:
                source, made = random_operation(rng, about, keys, looks, program.queue_size, number * 10 + len(steps) + 1)
                lines += [indent + line for line in source]
                steps += made
                left -= max(1, sum(step.kind in ("access", "lock") and not step.is_guarded for step in made) - 1)
        steps += [Step("unlock", f"lock {lock}") for lock in reversed(held)]
        lines.append(f"    s.got{number} = got")
        program.threads.append(steps)
        program.sources.append("\n".join(lines))
    return program


def program_of(threads: list[list[Any]]) -> Program:
    """Threads that take one lock, give it back, and in between or outside do something to an attribute."""
    program = Program()
    for number, operations in enumerate(threads):
        lines, steps, indent = [f"def thread{number}(s):", "    got = ()"], [], "    "
        for operation in operations:
            if operation in ("lock", "unlock"):
                lines += [f"{indent}with s.locks[0]:"] if operation == "lock" else []
                indent = indent + "    " if operation == "lock" else indent[4:]
                steps.append(Step(operation, "lock 0"))
            else:
                kind, name, value = operation
                source, made = attribute(name, value)[kind]
                lines += [indent + line for line in source]
                steps += made
        lines.append(f"    s.got{number} = got")
        program.threads.append(steps)
        program.sources.append("\n".join(lines))
    return program


def random_operation(
    rng: random.Random, about: list[str], keys: tuple[str, ...], looks: bool, queue_size: int, value: int
) -> Operation:
    what = rng.choice(about)
    if what in ("x", "y"):
        return rng.choice(list(attribute(what, value).values()))
    if what in DICTS:
        if looks and rng.random() < 0.3:
            return dict_look(rng, what)
        return dict_item(rng, what, rng.choice(keys), value)
    if what == "l":
        return list_look(rng, what) if looks and rng.random() < 0.3 else list_item(rng, rng.choice(INDICES), value)
    if what == "log":
        return list_look(rng, what) if rng.random() < 0.3 else list_change(rng, value)
    if what == "c":
        return condition(rng, rng.choice(("x", "y")), value)
    return queued(rng, queue_size, value)
