"""pybreaker: failures are counted, and calls made, under one lock."""

from __future__ import annotations

import pybreaker

from cases import Case, explore_all


class Service:
    def __init__(self, threshold: int) -> None:
        self.breaker = pybreaker.CircuitBreaker(fail_max=threshold, reset_timeout=60)
        self.called = 0

    def fail(self) -> None:
        self.called += 1
        raise ConnectionError

    def succeed(self) -> None:
        self.called += 1


def fails(service: Service) -> None:
    try:
        service.breaker.call(service.fail)
    except (ConnectionError, pybreaker.CircuitBreakerError):
        pass


def succeeds(service: Service) -> None:
    try:
        service.breaker.call(service.succeed)
    except pybreaker.CircuitBreakerError:
        pass


def closes(service: Service) -> None:
    service.breaker.close()


def opened(threshold: int):
    def setup() -> Service:
        service = Service(threshold)
        service.breaker.open()
        return service

    return setup


def agrees(service: Service) -> bool:
    return service.breaker.state.name == service.breaker.current_state


explore_all("pybreaker", [
    Case("two failures of two open it", lambda: Service(2), [fails, fails],
         lambda s: s.breaker.current_state == "open"),
    Case("two failures of three do not, and both are counted", lambda: Service(3), [fails, fails],
         lambda s: s.breaker.current_state == "closed" and s.breaker.fail_counter == 2),
    Case("after one failure has opened it, no call gets through", lambda: Service(1), [fails, fails],
         lambda s: s.called == 1),
    Case("in the end its own state and that of its storage agree", opened(1), [closes, succeeds], agrees),
    Case("three threads at once", lambda: Service(2), [fails, succeeds, fails], agrees),
])
