"""Random programs with trio, held against every order of their pieces: as `async_oracle`, with scopes that are cancelled.

    PYTHONPATH=python python3.12 python/tests/trio_oracle.py 500 1     # so many programs, from this seed on
"""

from __future__ import annotations

import functools
import random

import async_oracle
import trio

KINDS = ("read", "write", "add", "item", "pause", "lock", "set", "wait", "cancel")
WEIGHTS = (3, 3, 3, 2, 5, 4, 2, 2, 3)
LINES = {
    **async_oracle.LINES,
    "pause": "await trio.lowlevel.checkpoint()",
    "lock": "async with s.lock:",
    "unlock": "pass",
    "cancel": "s.scopes[{0}].cancel()",
}


def generate(seed):
    rng = random.Random(seed)
    programs, count = [], rng.choice((2, 2, 3))
    for _ in range(count):
        code, held = [], False
        for _ in range(rng.randint(2, 5)):
            kind = rng.choices(KINDS, WEIGHTS)[0]
            if kind in ("read", "write", "add"):
                code.append((kind, rng.choice("xy")))
            elif kind == "item":
                code.append((kind, rng.choice((0, 1))))
            elif kind == "cancel":
                code.append((kind, rng.randrange(count)))
            elif kind == "lock" and held:
                code.append(("unlock",))
                held = False
            else:
                held = held or kind == "lock"
                code.append((kind,))
        if held:
            code.append(("unlock",))
        programs.append(code)
    return programs


class State(async_oracle.State):
    def __init__(self, tasks):
        self.x = self.y = 0
        self.items = [0, 0]
        self.lock, self.event = trio.Lock(), trio.Event()
        self.scopes = [trio.CancelScope() for _ in range(tasks)]
        self.seen = [[] for _ in range(tasks)]


def compiled(program):
    workers = []
    for n, code in enumerate(program):
        lines = [f"async def worker{n}(s):", f"    seen = s.seen[{n}]", f"    with s.scopes[{n}]:"]
        indent = " " * 8
        for kind, *args in code:
            lines.append(indent + LINES[kind].format(*args, n=n + 1))
            indent = " " * 12 if kind == "lock" else " " * 8 if kind == "unlock" else indent
        lines.append(f"    if s.scopes[{n}].cancelled_caught: seen.append('cancelled')")
        names = {"trio": trio, "__builtins__": __builtins__, "__name__": "fuzzed"}
        exec(compile("\n".join(lines), f"<task {n}>", "exec"), names)
        workers.append(names[f"worker{n}"])
    return workers


class Simulated(async_oracle.Simulated):
    """A run of trio, as plain data. What a task that was woken goes on with is whether it is cancelled, if it looks."""

    def __init__(self, program):
        super().__init__(program)
        self.owner = None
        self.cancelled = [False] * len(program)
        self.over = [False] * len(program)

    def key(self):
        return super().key() + repr((self.owner, self.cancelled, self.over))

    def piece(self, n):
        self.ready.discard(n)
        resumes, self.resumes[n] = self.resumes[n], None
        if resumes == "cancelled":
            self.seen[n].append("cancelled")
            return self.end(n)
        if resumes == "looks" and self.cancelled[n]:
            return self.wake(n, "cancelled")
        while self.at[n] < len(self.program[n]):
            kind, *args = self.program[n][self.at[n]]
            self.at[n] += 1
            if kind in async_oracle.PLAIN:
                self.plain(n, kind, args[0])
            elif kind == "pause":
                return self.wake(n, "looks")
            elif kind == "lock":
                if self.cancelled[n]:
                    return self.wake(n, "looks")
                if self.owner is not None or self.lock_waiters:
                    return self.lock_waiters.append(n)
                self.owner = n
                return self.wake(n, "goes on")
            elif kind == "unlock":
                self.release(n)
            elif kind == "set":
                self.event = True
                for waiter in self.event_waiters:
                    self.wake(waiter, "goes on")
                self.event_waiters = []
            elif kind == "wait":
                if self.event:
                    return self.wake(n, "looks")
                if self.cancelled[n]:
                    return self.wake(n, "cancelled")
                return self.event_waiters.append(n)
            elif kind == "cancel":
                self.cancel(args[0])
        self.end(n)

    def release(self, n):
        if self.owner == n:
            self.owner = self.lock_waiters.pop(0) if self.lock_waiters else None
            if self.owner is not None:
                self.wake(self.owner, "goes on")

    def cancel(self, n):
        self.cancelled[n] = True
        for waiters in (self.lock_waiters, self.event_waiters):
            if n in waiters:
                waiters.remove(n)
                self.wake(n, "cancelled")

    def end(self, n):
        self.release(n)
        self.over[n] = True

    def is_over(self):
        return all(self.over)


explored = functools.partial(async_oracle.explored, state=State, written=compiled, backend="trio")


def compare(seed):
    program = generate(seed)
    return async_oracle.held_against(seed, program, async_oracle.simulated(program, Simulated), explored)


if __name__ == "__main__":
    async_oracle.compare_all(compare)
