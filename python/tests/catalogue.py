"""Programs as textbooks have them, with what is to be said of each: setup, workers, invariant and verdict."""

import queue
import threading

from common import Box


def box(**attributes):
    """A box with these attributes; what is a function is called anew for each."""
    return lambda: Box(**{name: value() if callable(value) else value for name, value in attributes.items()})


def increments(s):
    seen = s.value
    s.value = seen + 1


def increments_locked(s):
    with s.lock:
        s.value += 1


def adds_if_absent(s):
    if "k" not in s.items:
        s.items["k"] = 1
        s.added += 1


def takes_ab(s):
    with s.a, s.b:
        pass


def takes_ba(s):
    with s.b, s.a:
        pass


def transfers(s):
    if s.a >= 60:
        s.a -= 60
        s.b += 60


def transfers_locked(s):
    with s.lock:
        transfers(s)


def puts(value):
    return lambda s: s.queue.put(value)


def gets(s):
    s.got = s.queue.get()


def checks_twice(s):
    if s.made is None:
        with s.lock:
            s.count += 1
            s.made = object()


def checks_twice_rightly(s):
    if s.made is None:
        with s.lock:
            if s.made is None:
                s.count += 1
                s.made = object()


def reads_twice(s):
    assert s.value <= s.value


def in_semaphore(s):
    with s.semaphore:
        increments(s)


def tries(s):
    if s.lock.acquire(blocking=False):
        s.entered += 1
        s.lock.release()


def waits_in_a_loop(s):
    with s.condition:
        while not s.ready:
            s.condition.wait()


def notifies(s):
    with s.condition:
        s.ready = True
        s.condition.notify()


def waits_once(s):
    with s.condition:
        s.condition.wait()


def meets(s):
    s.barrier.wait()
    s.met += 1


def meets_in_order(s):
    s.barrier.wait()
    with s.lock:
        s.met += 1


def waits_for_event(s):
    s.event.wait()
    assert s.value == 1


def sets_event(s):
    s.value = 1
    s.event.set()


def sets_event_too_early(s):
    s.event.set()
    s.value = 1


def stores_x(s):
    s.x = 1
    s.seen_y = s.y


def stores_y(s):
    s.y = 1
    s.seen_x = s.x


def publishes(s):
    s.data = 1
    s.flag = True


def consumes(s):
    if s.flag:
        assert s.data == 1


def starts_another(s):
    other = threading.Thread(target=increments, args=(s,))
    other.start()
    increments(s)
    other.join()


def raises_late(s):
    if s.value:
        raise ValueError("too late")
    s.value = 1


def left(number):
    def eats(s):
        with s.forks[number]:
            with s.forks[(number + 1) % 3]:
                pass

    return eats


def left_handed(s):
    with s.forks[0]:
        with s.forks[2]:
            pass


def alternates(s):
    """Fails only if two threads take turns."""
    for _ in range(2):
        turn = s.turn
        s.turn = turn + 1
        s.lost += turn != s.turn - 1


LOCKED = {"value": 0, "lock": threading.Lock}
PROGRAMS = {
    "counter": (box(value=0), [increments] * 2, lambda s: s.value == 2, "fails"),
    "counter of three": (box(value=0), [increments] * 3, lambda s: s.value == 3, "fails"),
    "counter with a lock": (box(**LOCKED), [increments_locked] * 3, lambda s: s.value == 3, "holds"),
    "counter, one of them without the lock": (box(**LOCKED), [increments_locked, increments], lambda s: s.value == 2,
                                              "fails"),
    "dict, checked and then filled": (box(items=dict, added=0), [adds_if_absent] * 2, lambda s: s.added == 1, "fails"),
    "locks in opposite orders": (box(a=threading.Lock, b=threading.Lock), [takes_ab, takes_ba], None, "fails"),
    "locks in one order": (box(a=threading.Lock, b=threading.Lock), [takes_ab, takes_ab], None, "holds"),
    "three philosophers": (box(forks=lambda: [threading.Lock() for _ in range(3)]), [left(0), left(1), left(2)], None,
                           "fails"),
    "three philosophers, one left-handed": (box(forks=lambda: [threading.Lock() for _ in range(3)]),
                                            [left(0), left(1), left_handed], None, "holds"),
    "bank": (box(a=100, b=0), [transfers] * 2, lambda s: s.a + s.b == 100 and s.a >= 0, "fails"),
    "bank with a lock": (box(a=100, b=0, lock=threading.Lock), [transfers_locked] * 2,
                         lambda s: (s.a, s.b) == (40, 60), "holds"),
    "queue, one each": (box(queue=queue.Queue, got=None), [puts(1), gets], lambda s: s.got == 1, "holds"),
    "queue, order of two": (box(queue=queue.Queue, got=None), [puts(1), puts(2), gets], lambda s: s.got == 1, "fails"),
    "queue that nobody fills": (box(queue=queue.Queue, got=None), [gets], None, "fails"),
    "checked twice, broken": (box(made=None, count=0, lock=threading.Lock), [checks_twice] * 2, lambda s: s.count == 1,
                              "fails"),
    "checked twice, right": (box(made=None, count=0, lock=threading.Lock), [checks_twice_rightly] * 2,
                             lambda s: s.count == 1, "holds"),
    "one writer, two readers": (box(value=0), [increments, reads_twice, reads_twice], None, "holds"),
    "semaphore of one": (box(value=0, semaphore=lambda: threading.Semaphore(1)), [in_semaphore] * 2,
                         lambda s: s.value == 2, "holds"),
    "semaphore of two": (box(value=0, semaphore=lambda: threading.Semaphore(2)), [in_semaphore] * 2,
                         lambda s: s.value == 2, "fails"),
    "lock that is tried": (box(entered=0, lock=threading.Lock), [tries] * 2, lambda s: s.entered == 2, "fails"),
    "condition in a loop": (box(ready=False, condition=lambda: threading.Condition()), [waits_in_a_loop, notifies], None, "holds"),
    "wake-up that is lost": (box(ready=False, condition=lambda: threading.Condition()), [waits_once, notifies], None, "fails"),
    "barrier": (box(met=0, barrier=lambda: threading.Barrier(2)), [meets] * 2, lambda s: s.met == 2, "fails"),
    "barrier and a lock": (box(met=0, lock=threading.Lock, barrier=lambda: threading.Barrier(2)), [meets_in_order] * 2,
                           lambda s: s.met == 2, "holds"),
    "event": (box(value=0, event=threading.Event), [waits_for_event, sets_event], None, "holds"),
    "event that is set too early": (box(value=0, event=threading.Event), [waits_for_event, sets_event_too_early], None,
                                    "fails"),
    "store buffer": (box(x=0, y=0, seen_x=0, seen_y=0), [stores_x, stores_y],
                     lambda s: s.seen_x or s.seen_y, "holds"),
    "message": (box(data=0, flag=False), [publishes, consumes], None, "holds"),
    "thread that a worker starts": (box(value=0), [starts_another], lambda s: s.value == 2, "fails"),
    "exception in one order": (box(value=0), [raises_late] * 2, None, "fails"),
    "turns": (box(turn=0, lost=0), [alternates] * 2, lambda s: s.lost == 0, "fails"),
}
