"""circuitbreaker: failures are counted without a lock."""

from __future__ import annotations

from circuitbreaker import CircuitBreaker, CircuitBreakerError

from cases import Case, explore_all


class Service:
    def __init__(self, threshold: int) -> None:
        self.breaker = CircuitBreaker(failure_threshold=threshold, recovery_timeout=60, name="service")

        def call(fails: bool) -> None:
            if fails:
                raise ConnectionError

        self.call = self.breaker(call)


def calls(fails: bool):
    def run(service: Service) -> None:
        try:
            service.call(fails)
        except (ConnectionError, CircuitBreakerError):
            pass

    return run


explore_all("circuitbreaker", [
    Case("two failures of two open it", lambda: Service(2), [calls(True), calls(True)], lambda s: s.breaker.opened,
         expected="fails"),
    Case("two failures of three are both counted", lambda: Service(3), [calls(True), calls(True)],
         lambda s: s.breaker.failure_count == 2, expected="fails"),
    Case("an open breaker has counted as many failures as open it", lambda: Service(1), [calls(True), calls(False)],
         lambda s: not s.breaker.opened or s.breaker.failure_count >= 1, expected="fails"),
])
