"""A selector that tells what is ready in the order in which it was registered.

That of the standard library goes through sets of descriptors, in an order that depends on their numbers: these are not
the same in each process. Threads may share a selector, so this is code that is seen, as the standard library's is.
"""

from __future__ import annotations

import selectors
from typing import Any


class Selector(selectors.SelectSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        of: Any = self
        keys = list(of._fd_to_key.items())
        reads = [fd for fd, key in keys if key.events & selectors.EVENT_READ]
        writes = [fd for fd, key in keys if key.events & selectors.EVENT_WRITE]
        try:
            readable, writable, _ = of._select(reads, writes, [], None if timeout is None else max(timeout, 0))
        except InterruptedError:
            return []
        ready = []
        for fd, key in keys:
            events = (selectors.EVENT_READ if fd in readable else 0) | (selectors.EVENT_WRITE if fd in writable else 0)
            if events:
                ready.append((key, events & key.events))
        return ready
