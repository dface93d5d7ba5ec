"""Random programs with asyncio, held against every order of their pieces.

Programs are lists of instructions for each task. They are written down as coroutines and explored, and they are run by a
simulator of the event loop, which follows every order of the tasks that can go on. Both must come to the same outcomes:
final values, what each task has seen, and who is left waiting.

    PYTHONPATH=python python3.12 python/tests/async_oracle.py 500 1     # so many programs, from this seed on
"""

from __future__ import annotations

import asyncio
import copy
import random
import sys

import drawloom
from drawloom._async import _knowledge


KINDS = ("read", "write", "add", "item", "pause", "lock", "set", "clear", "wait", "put", "get")
WEIGHTS = (3, 3, 3, 2, 6, 4, 3, 1, 1, 4, 1)


def generate(seed):
    rng = random.Random(seed)
    tasks = []
    for _ in range(rng.choice((2, 2, 3))):
        code, held = [], False
        for _ in range(rng.randint(2, 6)):
            kind = rng.choices(KINDS, WEIGHTS)[0]
            if kind in ("read", "write", "add"):
                code.append((kind, rng.choice("xy")))
            elif kind == "item":
                code.append((kind, rng.choice((0, 1))))
            elif kind == "lock" and held:
                code.append(("unlock",))
                held = False
            else:
                held = held or kind == "lock"
                code.append((kind,))
        if held and rng.random() < 0.9:
            code.append(("unlock",))
        tasks.append(code)
    return tasks


LINES = {
    "read": "seen.append(s.{0})",
    "write": "s.{0} = len(seen) + {n}",
    "add": "s.{0} = s.{0} + 1",
    "item": "s.items[{0}] += {n}",
    "pause": "await asyncio.sleep(0)",
    "lock": "await s.lock.acquire()",
    "unlock": "s.lock.release()",
    "set": "s.event.set()",
    "clear": "s.event.clear()",
    "wait": "await s.event.wait()",
    "put": "s.queue.put_nowait({n})",
    "get": "seen.append(await s.queue.get())",
}


class State:
    def __init__(self, tasks):
        self.x = self.y = 0
        self.items = [0, 0]
        self.lock, self.event, self.queue = asyncio.Lock(), asyncio.Event(), asyncio.Queue()
        self.seen = [[] for _ in range(tasks)]


def compiled(program):
    workers = []
    for n, code in enumerate(program):
        lines = [f"async def worker{n}(s):", f"    seen = s.seen[{n}]"]
        lines += ["    " + LINES[kind].format(*args, n=n + 1) for kind, *args in code]
        names = {"asyncio": asyncio, "__builtins__": __builtins__, "__name__": "fuzzed"}
        exec(compile("\n".join(lines), f"<task {n}>", "exec"), names)
        workers.append(names[f"worker{n}"])
    return workers


def outcome(s):
    return (s.x, s.y, tuple(s.items), tuple(map(tuple, s.seen)))


def explored(program, reverse=False, state=State, written=compiled, **options):
    """The outcomes of the exploration that counted, deadlocks among them."""
    outcomes, stale, open_states = set(), [False], []
    learn = _knowledge.Knowledge.learn

    def learning(self, *arguments):
        grown = learn(self, *arguments)
        stale[0] |= grown
        return grown

    def setup():
        look_back()
        if stale[0]:
            outcomes.clear()
            stale[0] = False
        open_states.append(state(len(program)))
        return open_states[0]

    def look_back():
        # Whose invariant was not asked has not come to an end.
        outcomes.update((outcome(s), "blocked") for s in open_states if not stale[0])
        open_states.clear()

    def invariant(s):
        open_states.clear()
        outcomes.add(outcome(s))

    _knowledge.Knowledge.learn = learning
    try:
        workers = written(program)[:: -1 if reverse else 1]
        result = drawloom.explore(setup, workers, invariant, strategy="exhaustive", shrink=False, fixes=0,
                                  keep_going=True, **options)
    finally:
        _knowledge.Knowledge.learn = learn
    look_back()
    kinds = {finding.kind for finding in result.findings}
    assert kinds <= {"deadlock", "starvation"}, (program, result.verdict, result.reason, result.explanation)
    assert result.exhausted, (program, result.reason)
    assert bool(kinds) == any("blocked" in o for o in outcomes)
    return outcomes, result


PLAIN = ("read", "write", "add", "item")


class Simulated:
    """The event loop, with all that its tasks share, as plain data."""

    def __init__(self, program):
        self.program = program
        self.values = {"x": 0, "y": 0}
        self.items = [0, 0]
        self.locked, self.lock_waiters = False, []
        self.event, self.event_waiters = False, []
        self.queue, self.getters = [], []
        self.at = [0] * len(program)
        self.seen = [[] for _ in program]
        self.ready = set(range(len(program)))
        # What a task that was woken goes on with.
        self.resumes = [None] * len(program)

    def key(self):
        return repr((self.values, self.items, self.locked, self.lock_waiters, self.event, self.event_waiters, self.queue,
                     self.getters, self.at, self.seen, sorted(self.ready), self.resumes))

    def copy(self):
        return copy.deepcopy(self, {id(self.program): self.program})

    def plain(self, n, kind, at):
        """Task `n` does something that nobody waits for."""
        if kind == "read":
            self.seen[n].append(self.values[at])
        elif kind == "write":
            self.values[at] = len(self.seen[n]) + n + 1
        elif kind == "add":
            self.values[at] += 1
        else:
            self.items[at] += n + 1

    def piece(self, n):
        """Runs task `n` up to where it waits."""
        self.ready.discard(n)
        resumes, self.resumes[n] = self.resumes[n], None
        if resumes == "lock":
            self.lock_waiters.remove([n, True])
            self.locked = True
        elif resumes == "get" and not self.get(n):
            return
        while self.at[n] < len(self.program[n]):
            kind, *args = self.program[n][self.at[n]]
            self.at[n] += 1
            if kind in PLAIN:
                self.plain(n, kind, args[0])
            elif kind == "pause":
                self.ready.add(n)
                return
            elif kind == "lock":
                if self.locked or self.lock_waiters:
                    self.lock_waiters.append([n, False])
                    return
                self.locked = True
            elif kind == "unlock":
                self.locked = False
                if self.lock_waiters and not self.lock_waiters[0][1]:
                    self.lock_waiters[0][1] = True
                    self.wake(self.lock_waiters[0][0], "lock")
            elif kind == "set":
                if not self.event:
                    self.event = True
                    for waiter in self.event_waiters:
                        self.wake(waiter, "event")
                    self.event_waiters = []
            elif kind == "clear":
                self.event = False
            elif kind == "wait":
                if not self.event:
                    self.event_waiters.append(n)
                    return
            elif kind == "put":
                self.queue.append(n + 1)
                if self.getters:
                    self.wake(self.getters.pop(0), "get")
            elif kind == "get" and not self.get(n):
                return

    def get(self, n):
        if not self.queue:
            self.getters.append(n)
            return False
        self.seen[n].append(self.queue.pop(0))
        return True

    def wake(self, n, what):
        self.resumes[n] = what
        self.ready.add(n)

    def is_over(self):
        waits = self.lock_waiters or self.event_waiters or self.getters
        return not waits and all(at == len(code) for at, code in zip(self.at, self.program))

    def outcome(self):
        return (self.values["x"], self.values["y"], tuple(self.items), tuple(map(tuple, self.seen)))


def simulated(program, simulation=Simulated):
    """The outcomes of all orders."""
    outcomes, known = set(), set()
    waiting = [simulation(program)]
    while waiting:
        state = waiting.pop()
        if (key := state.key()) in known:
            continue
        known.add(key)
        if not state.ready:
            outcomes.add(state.outcome() if state.is_over() else (state.outcome(), "blocked"))
        for n in state.ready:
            following = state.copy()
            following.piece(n)
            waiting.append(following)
    return outcomes


def compare(seed):
    program = generate(seed)
    return held_against(seed, program, simulated(program), explored)


def held_against(seed, program, expected, explored):
    """Explores a program, and expects certain outcomes."""
    ours, result = explored(program)
    assert ours == expected, f"seed {seed}: {program}\n missed {expected - ours}\n impossible {ours - expected}"
    # Nor does it matter in which order workers are given.
    backwards, _ = explored(program, reverse=True)
    assert backwards == expected, f"seed {seed} reversed: {program}"
    return expected, result


def compare_all(compare):
    """As many programs as the command line says."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    executions, outcomes = 0, 0
    for seed in range(first, first + count):
        expected, result = compare(seed)
        executions += result.executions
        outcomes += len(expected)
    print(f"{count} programs, {outcomes} outcomes, {executions} executions: none missed, none impossible")


if __name__ == "__main__":
    compare_all(compare)
