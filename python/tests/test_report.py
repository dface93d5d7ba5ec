"""What a person reads of a finding speaks Python."""

import asyncio
import re
import threading

import pytest
from common import Cell

import drawloom


class Account:
    def __init__(self):
        self.balance = 0
        self.a, self.b = threading.Lock(), threading.Lock()

    def deposit(self):
        seen = self.balance
        self.balance = seen + 1

    def forwards(self):
        with self.a:
            with self.b:
                self.balance += 1

    def backwards(self):
        with self.b:
            with self.a:
                self.balance += 1

    def fail(self):
        if self.balance:
            raise ValueError("not empty")


RUST = ("panic", "cargo", "mutex", "let ", "drop(", "Mutex", ".lock()", "condvar")


def plain(report):
    return not [word for word in RUST if word in report.partition("\nreplay:")[0]]


def test_a_broken_invariant():
    workers = [lambda a: a.deposit(), Account.deposit]
    result = drawloom.explore(Account, workers, lambda a: a.balance == 2)
    finding = result.findings[0]
    assert (result.verdict, finding.kind) == ("fails", "invariant")
    assert finding.report.startswith("BROKEN INVARIANT in test ")
    for text in ("the invariant does not hold", "0.1 (deposit)", "0.2 (deposit)", "`Account.balance`",
                 "seen = self.balance", "with balance_lock:"):
        assert text in finding.report
    assert plain(finding.report)
    assert f"replay: DRAWLOOM_REPLAY='{finding.token}' python -m pytest " in finding.report


def test_an_invariant_that_raises_says_why():
    def invariant(account):
        assert account.balance == 2, f"the balance is {account.balance}"

    result = drawloom.explore(Account, [Account.deposit, Account.deposit], invariant)
    assert result.findings[0].kind == "invariant" and ":\n    the balance is 1\n" in result.explanation


def test_an_exception_of_a_worker():
    result = drawloom.explore(Account, [Account.deposit, Account.fail])
    finding = result.findings[0]
    assert finding.kind == "exception" and finding.report.startswith("EXCEPTION in test ")
    assert "task 0.2 (fail) raised at " in finding.report and "ValueError: not empty" in finding.report
    assert plain(finding.report)


def test_a_deadlock_names_the_locks():
    result = drawloom.explore(Account, [Account.forwards, Account.backwards])
    assert result.findings[0].kind == "deadlock"
    for text in ("(forwards", "(backwards", "lock `a`", "lock `b`", "# everywhere: `a`, then `b`"):
        assert text in result.explanation
    assert plain(result.explanation)


def test_a_result_is_short_in_a_log():
    result = drawloom.explore(Account, [Account.deposit, Account.deposit], lambda a: a.balance == 2)
    assert repr(result).startswith("<drawloom.Result fails, invariant: ") and len(repr(result)) < 80
    assert len(repr(result.findings[0])) < 200


def test_a_finding_is_a_page(tmp_path):
    finding = drawloom.explore(Account, [Account.deposit, Account.fail]).findings[0]
    page = finding.save(tmp_path / "new", "tests/test_it.py::test_a[x-1]")
    assert page.name.startswith("tests-test_it.py-test_a-x-1.") and page.suffix == ".html"
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "raised ValueError: not empty" in text
    assert page.with_suffix(".json").read_text() == finding.record
    assert sorted(path.suffix for path in page.parent.iterdir()) == [".html", ".json"]


def test_a_page_speaks_of_exceptions():
    def fails(_):
        raise ValueError("no")

    page = drawloom.explore(Cell, [fails, lambda c: None], None, shrink=False).findings[0].page()
    assert '"kind":"exception"' in page and '"ended":"raised an exception"' in page

    broken = drawloom.explore(Cell, [lambda c: None] * 2, lambda c: c.value == 1, shrink=False).findings[0].page()
    assert '"kind":"broken invariant"' in broken


def test_one_execution_is_one():
    assert repr(drawloom.explore(Cell, [lambda c: None] * 2, None, strategy="exhaustive")) == (
        "<drawloom.Result holds: 1 execution, exhausted>"
    )


class Bank:
    def __init__(self):
        self.accounts = {"a": 100}

    def transfer(self, name="a"):
        if self.accounts[name] >= 80:
            self.accounts[name] -= 80


def test_a_container_is_called_as_the_source_calls_it():
    result = drawloom.explore(Bank, [Bank.transfer, Bank.transfer], lambda b: b.accounts["a"] >= 0)
    assert "checked `accounts['a']`" in result.explanation and "with accounts_lock:" in result.explanation
    assert "dict" not in result.explanation


def test_a_decorated_test_says_at_once_that_it_makes_the_state():
    with pytest.raises(TypeError, match="decorated function makes the state"):
        drawloom.test(workers=[Bank.transfer], setup=Bank)


class Cache:
    def __init__(self):
        self.loads = 0

    def load(self):
        self.loads += 1

    async def fetch(self):
        self.loads += 1


@pytest.mark.parametrize("worker", [Cache.load, Cache.fetch])
def test_what_fails_in_any_order_shows_the_lines_at_which_the_tasks_act(worker):
    report = drawloom.explore(Cache, [worker, worker], lambda c: c.loads == 0).findings[0].report
    first, _, _ = report.partition("Shared state")
    assert "that were tried: the invariant does not hold: `c.loads == 0`." in " ".join(first.split())
    assert first.count(" self.loads += 1") == 2 and first.count("writes `Cache.loads`") == 2
    assert "c.loads is 2" in first and "Any order" in report


def test_one_call_that_is_not_known_hides_no_name_and_no_window():
    class Shop:
        def __init__(self):
            self.stock, self.sold = 1, []

    def sell(shop):
        re.compile("a").finditer("banana")  # not in the table of what C code does
        if shop.stock > 0:
            shop.stock -= 1
            shop.sold.append("sold")

    result = drawloom.explore(Shop, [sell, sell], lambda shop: len(shop.sold) == 1)
    assert result.verdict == "fails"
    assert "finditer" in result.coarse
    report = result.findings[0].report
    assert "checked `Shop.stock`" in report, report
    assert "relies on the `Shop.stock` that it saw" in report, report
    assert "if shop.stock > 0:" in report, report
    assert result.replay().verdict == "fails"


def test_a_cache_that_tasks_fill_twice_is_told_by_its_name_and_a_lock_over_it_helps():
    """What tasks wait by is no state that they race for: a timer was told to take part, and could not take the lock."""
    class Cache:
        def __init__(self):
            self.data, self.loads = {}, 0

        async def load(self, key):
            await asyncio.sleep(0.01)
            self.loads += 1
            return key.upper()

        async def get(self, key):
            if key not in self.data:
                self.data[key] = await self.load(key)
            return self.data[key]

    async def reader(cache):
        await cache.get("a")

    report = drawloom.explore(Cache, reader, lambda cache: cache.loads == 1, count=2).findings[0].report
    assert "Check-then-act" in report and "`Cache.data" in report, report
    assert "if key not in self.data:" in report and "(timer)" not in report, report
    assert "does not help" not in report and "(verified: all" in report, report
