"""tenacity: one decorated function that two threads call."""

from __future__ import annotations

from tenacity import Retrying, retry, stop_after_attempt, wait_fixed

from cases import Case, explore_all


class Tries:
    """Fails the first time."""

    def __init__(self) -> None:
        self.count = 0

    def once_more(self) -> int:
        self.count += 1
        if self.count < 2:
            raise ConnectionError
        return self.count


class Flaky:
    """A function that is tried again."""

    def __init__(self) -> None:
        self.tries = {"a": Tries(), "b": Tries()}

        @retry(stop=stop_after_attempt(3), wait=wait_fixed(1))
        def call(who: str) -> int:
            return self.tries[who].once_more()

        self.call = call


class Shared:
    """The same with a controller that the callers share, and no decorator."""

    def __init__(self) -> None:
        self.tries = {"a": Tries(), "b": Tries()}
        self.retrying = Retrying(stop=stop_after_attempt(3), wait=wait_fixed(1))

    def call(self, who: str) -> int:
        return self.retrying(self.tries[who].once_more)


def call(who: str):
    def run(flaky: Flaky | Shared) -> None:
        assert flaky.call(who) == 2

    return run


def both_tried_twice(flaky: Flaky | Shared) -> bool:
    return all(tries.count == 2 for tries in flaky.tries.values())


explore_all("tenacity", [
    Case("@retry: who calls gets what the function returns when it succeeds", Flaky, [call("a"), call("b")],
         both_tried_twice, expected="fails"),
    Case("a Retrying that two threads share", Shared, [call("a"), call("b")], both_tried_twice),
])
