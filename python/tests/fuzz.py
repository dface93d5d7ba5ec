"""Random programs, and every schedule of them: what an exhaustive exploration must find, no more and no less.

A program is simulated abstractly, without any thread: its steps are the accesses and the requests for locks, which
never block but queue. Two schedules are the same trace if at each variable and each lock the order of what conflicts
is the same. `python tests/fuzz.py 2000` compares 2,000 of them.
"""

import random
import sys
import threading

import drawloom

ATTRIBUTES, KEYS, INDICES = ("x", "y"), ("a", "b"), (0, 1)
VARIABLES = [("attr", n) for n in ATTRIBUTES] + [("dict", k) for k in KEYS] + [("list", i) for i in INDICES]


class State:
    def __init__(self):
        self.x = self.y = 0
        self.d = {"a": 0, "b": 0}
        self.l = [0, 0]  # noqa: E741
        self.locks = [threading.Lock(), threading.Lock()]
        self.got = {}


def written(variable):
    kind, name = variable
    return {"attr": f"s.{name}", "dict": f"s.d[{name!r}]", "list": f"s.l[{name}]"}[kind]


def random_program(rng, steps):
    """Operations of two or three threads: read, write, increment, write if set, lock, unlock."""
    threads = []
    variables = rng.sample(VARIABLES, rng.randint(1, 3))
    for number in range(rng.choice((2, 2, 3))):
        ops, left, held = [], rng.randint(1, steps), []
        while left > 0:
            kind = rng.choice(("read", "write", "increment", "if", "lock", "unlock"))
            variable = rng.choice(variables)
            if kind == "lock" and len(held) < 2:
                free = [lock for lock in (0, 1) if lock not in held]
                lock = rng.choice(free)
                held.append(lock)
                ops.append(("lock", lock))
                left -= 1
            elif kind == "unlock" and held:
                ops.append(("unlock", held.pop()))
            elif kind in ("read", "write", "increment", "if"):
                ops.append((kind, variable, number * 10 + len(ops) + 1))
                left -= 2 if kind in ("increment", "if") else 1
        ops.extend(("unlock", lock) for lock in reversed(held))
        threads.append(ops)
    return threads


# ── what it is in Python ─────────────────────────────────────────────────────────────────────────────────────────


def source_of(ops, number):
    lines, indent = [f"def thread{number}(s):", "    got = ()"], 1

    def line(text):
        lines.append("    " * indent + text)

    for op in ops:
        if op[0] == "lock":
            line(f"with s.locks[{op[1]}]:")
            indent += 1
            line("pass")
        elif op[0] == "unlock":
            indent -= 1
        else:
            kind, variable, value = op
            place = written(variable)
            if kind == "read":
                line(f"got = got + ({place},)")
            elif kind == "write":
                line(f"{place} = {value}")
            elif kind == "increment":
                line(f"{place} = {place} + 1")
            else:
                line(f"if {place}:")
                line(f"    {place} = {value}")
    line(f"s.got{number} = got")
    return "\n".join(lines)


def compiled(program):
    functions = []
    for number, ops in enumerate(program):
        names = {}
        exec(compile(source_of(ops, number), f"<thread {number}>", "exec"), names)
        functions.append(names[f"thread{number}"])
    return functions


def explored(program):
    outcomes = set()

    def note(s):
        got = tuple(getattr(s, f"got{number}") for number in range(len(program)))
        outcomes.add((s.x, s.y, s.d["a"], s.d["b"], *s.l, got))

    options = {"strategy": "exhaustive", "shrink": False, "fixes": 0, "max_schedules": 1_000_000}
    result = drawloom.explore(State, compiled(program), note, **options)
    assert result.exhausted, result.reason
    kinds = {finding.kind for finding in result.findings}
    assert kinds <= {"deadlock"}, result.explanation
    return outcomes | ({"deadlock"} if kinds else set()), result.executions


# ── what it is by definition ─────────────────────────────────────────────────────────────────────────────────────


def microsteps(ops):
    """Accesses and requests, one by one: (kind, target, value, how far to skip if the variable is not set)."""
    steps = []
    for op in ops:
        if op[0] in ("lock", "unlock"):
            steps.append((op[0], ("lock", op[1]), None))
            continue
        kind, variable, value = op
        if kind == "read":
            steps.append(("read", variable, None))
        elif kind == "write":
            steps.append(("write", variable, value))
        elif kind == "increment":
            steps += [("load", variable, None), ("add", variable, None)]
        else:
            steps += [("test", variable, None), ("write", variable, value)]
    return steps


def enumerated(program):
    """All outcomes, and the number of traces."""
    threads = [microsteps(ops) for ops in program]
    outcomes, traces = set(), set()

    def note(history, values, got, blocked):
        if blocked:
            outcomes.add("deadlock")
        else:
            outcomes.add(tuple(values[v] for v in VARIABLES) + (tuple(got),))
        traces.add(trace_of(history))

    def go(at, values, got, loaded, locks, history):
        at, got, locks = list(at), list(got), {k: list(q) for k, q in locks.items()}
        # Releases are nobody's choice: they commute with all but who waits for them.
        moved = True
        while moved:
            moved = False
            for t, steps in enumerate(threads):
                while at[t] < len(steps) and steps[at[t]][0] == "unlock" and not waits(t, locks):
                    locks[steps[at[t]][1]].remove(t)
                    at[t] += 1
                    moved = True
        ready = [t for t, steps in enumerate(threads) if at[t] < len(steps) and not waits(t, locks)]
        if not ready:
            note(history, values, got, any(at[t] < len(steps) or waits(t, locks) for t, steps in enumerate(threads)))
            return
        for t in ready:
            kind, target, value = threads[t][at[t]]
            values2, got2, loaded2, locks2, at2 = values, list(got), loaded, locks, list(at)
            at2[t] += 1
            if kind == "lock":
                locks2 = {**locks, target: locks[target] + [t]}
            elif kind == "read":
                got2[t] = got[t] + (values[target],)
            elif kind == "load":
                loaded2 = {**loaded, t: values[target]}
            elif kind == "add":
                values2 = {**values, target: loaded[t] + 1}
            elif kind == "test":
                at2[t] += 0 if values[target] else 1
            else:
                values2 = {**values, target: value}
            go(at2, values2, got2, loaded2, locks2, history + ((t, kind, target),))

    start = {variable: 0 for variable in VARIABLES}
    locks = {("lock", 0): [], ("lock", 1): []}
    go([0] * len(threads), start, [()] * len(threads), {}, locks, ())
    return outcomes, len(traces)


def waits(thread, locks):
    """Whether it has requested a lock that another one has."""
    return any(thread in queue[1:] for queue in locks.values())


def trace_of(history):
    """The order of what conflicts, at each variable and lock."""
    places = {}
    for thread, kind, target in history:
        groups = places.setdefault(target, [])
        reads = kind in ("read", "load", "test")
        if reads and groups and groups[-1][0] == "reads":
            groups[-1] = ("reads", tuple(sorted(groups[-1][1] + (thread,))))
        else:
            groups.append(("reads" if reads else "writes", (thread,)))
    return tuple(sorted((str(target), tuple(groups)) for target, groups in places.items()))


def compare(seed, steps=4):
    rng = random.Random(seed)
    program = random_program(rng, steps)
    found, executions = explored(program)
    expected, traces = enumerated(program)
    shown = "\n".join(source_of(ops, i) for i, ops in enumerate(program))
    assert found == expected, f"seed {seed}: missed {expected - found}, impossible {found - expected}\n{shown}"
    assert executions == traces, f"seed {seed}: {executions} executions, {traces} traces\n{shown}"
    backwards = program[::-1]
    assert explored(backwards)[1] == traces, f"seed {seed}, backwards\n{shown}"
    return executions


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total = sum(compare(seed) for seed in range(first, first + count))
    print(f"{count} programs, {total} traces: all outcomes found, none impossible, one execution for each trace")


if __name__ == "__main__":
    main()
