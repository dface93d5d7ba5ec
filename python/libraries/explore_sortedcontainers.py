"""sortedcontainers: fast, sorted, and without locks."""

from __future__ import annotations

from sortedcontainers import SortedDict, SortedList

from cases import Case, explore_all


def add(number: int):
    return lambda items: items.add(number)


def put(key: str):
    def run(items: SortedDict) -> None:
        items[key] = key

    return run


def drop(key: str):
    return lambda items: items.pop(key, None)


def is_sorted(items: SortedList) -> bool:
    return len(items) == 3 and list(items) == [1, 2, 3]


def agrees(items: SortedDict) -> bool:
    return sorted(dict.keys(items)) == list(items)


explore_all("sortedcontainers", [
    Case("SortedList: two that add at once", lambda: SortedList([2]), [add(1), add(3)], is_sorted, expected="fails"),
    Case("SortedDict: two that put at once", SortedDict, [put("a"), put("b")], agrees, expected="fails"),
    Case("SortedDict: one that puts, one that drops", lambda: SortedDict(a="a"), [put("a"), drop("a")], agrees,
         expected="fails"),
])
