# The structure of a keyed cache of async context managers: whoever comes first opens the manager in a task of its own, later
# ones share it, and the last one lets that task close it.
import inspect
from contextlib import asynccontextmanager as acm

import trio


class _Shelf:
    lock_of: dict = {}
    counts: dict = {}
    values: dict = {}
    opened: dict = {}
    quiet: "trio.Event | None" = None

    @classmethod
    async def keep_open(
        cls,
        manager,
        key,
        task_status=trio.TASK_STATUS_IGNORED,
    ):
        try:
            async with manager as value:
                _, no_more = cls.opened[key]
                try:
                    cls.values[key] = value
                    task_status.started(value)
                    await no_more.wait()
                finally:
                    value = cls.values.pop(key)  # HERE gap opens
        finally:
            cls.opened.pop(key)  # HERE gap closes


@acm
async def maybe_open(manager_of, nursery, key):
    lock = _Shelf.lock_of.setdefault(key, trio.Lock())
    _Shelf.counts.setdefault(key, 0)

    await lock.acquire()  # MARK CHECKPOINT
    try:
        value = _Shelf.values[key]
    except KeyError:
        manager = manager_of()
        opened = _Shelf.opened
        if opened.get(key):
            raise RuntimeError(f"{key} is still open")
        opened[key] = (nursery, trio.Event())
        try:
            value = await nursery.start(_Shelf.keep_open, manager, key)  # MARK CHECKPOINT
            _Shelf.counts[key] += 1
        finally:
            lock.release()  # MARK (not a checkpoint, but changes lock state)
        try:
            yield False, value  # MARK SUSPEND (caller runs)
        finally:
            _Shelf.counts[key] -= 1
            if _Shelf.counts[key] <= 0:
                _, no_more = _Shelf.opened[key]
                no_more.set()  # MARK (wakes keep_open, no switch yet)
                _Shelf.lock_of.pop(key)  # HERE lifetime
    else:
        _Shelf.counts[key] += 1
        lock.release()
        yield True, value
