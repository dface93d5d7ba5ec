"""janus: the side of its queue that threads use."""

from __future__ import annotations

import janus

from cases import Case, explore_all


class Queue:
    def __init__(self, size: int = 0) -> None:
        self.queue = janus.Queue(size)
        self.got: list[int] = []


def put(number: int):
    return lambda state: state.queue.sync_q.put(number)


def get(state: Queue) -> None:
    state.got.append(state.queue.sync_q.get())


def finish(state: Queue) -> None:
    state.queue.sync_q.get()
    state.queue.sync_q.task_done()


def wait(state: Queue) -> None:
    state.queue.sync_q.put(1)
    state.queue.sync_q.join()


def shut_down(state: Queue) -> None:
    state.queue.shutdown()


def get_unless_shut_down(state: Queue) -> None:
    try:
        get(state)
    except janus.SyncQueueShutDown:
        pass


explore_all("janus", [
    Case("every item that is put is got", Queue, [put(1), get], lambda s: s.got == [1]),
    Case("room for one: two that put, one that gets twice", lambda: Queue(1), [put(1), put(2), lambda s: (get(s), get(s))],
         lambda s: sorted(s.got) == [1, 2]),
    Case("a thread that waits for all items continues when all are done", Queue, [wait, finish]),
    Case("a waiting task learns that it is shut down", Queue, [get_unless_shut_down, shut_down]),
])
