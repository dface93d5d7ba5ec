"""Random programs with markers and locks, and a simulator that follows every order of turns.

A thread runs alone from where it is let go on to its next marker, to a lock that another one has, or to its end. Who waits
for a lock may go on as soon as that is free, and others may take it before.

    PYTHONPATH=python python3 python/tests/marker_oracle.py 500
"""

import random
import sys
import threading

from drawloom.markers import explore_marker_interleavings


def program(seed):
    """For each thread what it does: `mark`, or `take` and `give` with the number of a lock."""
    rng = random.Random(seed)
    threads, locks = rng.choice([(2, 1), (2, 2), (3, 1), (3, 2)])
    made = []
    for _ in range(threads):
        steps, held = [], []
        for _ in range(rng.randint(1, 6 if threads == 2 else 4)):
            free = [lock for lock in range(locks) if lock not in held]
            what = rng.choice(["mark", "mark", "take", "give"])
            if what == "mark":
                steps.append(("mark", 0))
            elif what == "take" and free:
                held.append(rng.choice(free))
                steps.append(("take", held[-1]))
            elif what == "give" and held:
                steps.append(("give", held.pop()))
        made.append(steps + [("give", lock) for lock in reversed(held)])
    return made, locks


def simulated(threads):
    """All orders of markers, by thread, and those that end in a deadlock."""
    orders, stuck, seen = set(), set(), set()
    # Of each thread where it is, who has which lock, and the markers that were passed.
    pending = [((None,) * len(threads), (), ())]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        at, held, passed = state
        able = [t for t, steps in enumerate(threads) if _can_go_on(steps, at[t], dict(held))]
        pending += [_gone_on(threads[t], t, at, dict(held), passed) for t in able]
        if not able:
            orders.add(passed)
            if any(where != len(steps) for where, steps in zip(at, threads)):
                stuck.add(passed)
    return orders, stuck


def _can_go_on(steps, where, held):
    return where is None or where < len(steps) and (steps[where][0] == "mark" or steps[where][1] not in held)


def _gone_on(steps, thread, at, held, passed):
    where = at[thread]
    if where is None:
        where = 0
    elif steps[where][0] == "mark":
        where, passed = where + 1, (*passed, thread)
    while where < len(steps) and steps[where][0] != "mark":
        what, lock = steps[where]
        if what == "give":
            del held[lock]
        elif lock in held:
            break
        else:
            held[lock] = thread
        where += 1
    return (*at[:thread], where, *at[thread + 1 :]), tuple(sorted(held.items())), passed


def explored(threads, locks):
    """The same, as they are explored."""
    orders = set()

    class State:
        def __init__(self):
            self.locks = [threading.Lock() for _ in range(locks)]
            self.passed = []

    def body(state, thread):
        for what, lock in threads[thread]:
            if what == "mark":
                state.passed.append(thread)  # drawloom: m
            elif what == "take":
                state.locks[lock].acquire()
            else:
                state.locks[lock].release()

    result = explore_marker_interleavings(
        State,
        {str(t): (lambda state, t=t: body(state, t)) for t in range(len(threads))},
        lambda state: orders.add(tuple(state.passed)),
        stop_on_first=False,
        deadlock_timeout=1000,
    )
    stuck = {tuple(int(s.execution_name) for s in f.steps if s.is_marker) for _, f in result.failures}
    return result, orders | stuck, stuck


def check(seed):
    """Compares the two."""
    threads, locks = program(seed)
    result, orders, stuck = explored(threads, locks)
    assert result.exhausted and result.num_explored == len(orders), (seed, threads, result)
    assert (orders, stuck) == simulated(threads), (seed, threads)
    assert result.verdict == ("fails" if stuck else "holds"), (seed, result)
    return len(orders)


if __name__ == "__main__":
    programs = int(sys.argv[1])
    print(f"{programs} programs, {sum(map(check, range(programs)))} orders")
