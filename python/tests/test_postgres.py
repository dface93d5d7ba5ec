"""PostgreSQL, by psycopg: what transactions do to each other, and who waits for whom."""

import ctypes

import pytest
import servers
from common import exhaust, one_interval

# Servers take their time: once is enough.
pytestmark = one_interval


@pytest.fixture(scope="module")
def address():
    with servers.postgres() as address:
        yield address


@pytest.fixture
def bank(address):
    psycopg = servers.driver("psycopg")

    class Bank(servers.accounts(address)):
        def transaction(self, **options):
            return psycopg.connect(address, **options)

        def amount(self, account):
            with self.transaction() as db:
                return db.execute("SELECT amount FROM accounts WHERE id = %s", (account,)).fetchone()[0]

    return Bank


def deposit(bank, account=1):
    with bank.transaction() as db:
        (seen,) = db.execute("SELECT amount FROM accounts WHERE id = %s", (account,)).fetchone()
        db.execute("UPDATE accounts SET amount = %s WHERE id = %s", (seen + 1, account))


def test_an_update_gets_lost(bank):
    result = exhaust(bank, deposit, lambda bank: bank.amount(1) == 3, count=2)
    assert (result.verdict, result.coarse, result.uncontrolled) == ("fails", None, None), result.reason
    assert result.findings[0].anomaly.startswith("lost update of `accounts` where id=1")


def test_a_row_that_is_locked_is_waited_for_in_the_engine(bank):
    def locked(bank):
        with bank.transaction() as db:
            (seen,) = db.execute("SELECT amount FROM accounts WHERE id = 1 FOR UPDATE").fetchone()
            db.execute("UPDATE accounts SET amount = %s WHERE id = 1", (seen + 1,))

    def at_once(bank):
        with bank.transaction() as db:
            db.execute("UPDATE accounts SET amount = amount + 1 WHERE id = 1")

    for worker in (locked, at_once):
        result = exhaust(bank, worker, lambda bank: bank.amount(1) == 3, count=2)
        assert (result.verdict, result.coarse, result.uncontrolled) == ("holds", None, None), result.explanation


def test_separate_rows_do_not_meet(bank):
    result = exhaust(bank, [lambda bank: deposit(bank, 1), lambda bank: deposit(bank, 2)],
                     lambda bank: bank.amount(1) == bank.amount(2) == 2)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 1, None), result.explanation


def test_each_takes_leave_since_the_other_is_there(bank):
    def leave(me):
        def worker(bank):
            with bank.transaction() as db:
                if db.execute("SELECT amount FROM accounts WHERE id = %s", (3 - me,)).fetchone()[0]:
                    db.execute("UPDATE accounts SET amount = 0 WHERE id = %s", (me,))

        return worker

    result = exhaust(bank, [leave(1), leave(2)], lambda bank: bank.amount(1) + bank.amount(2) >= 1)
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("write skew"), result.explanation


def test_a_transaction_does_not_read_the_same_twice(bank):
    def twice(bank):
        with bank.transaction() as db:
            first = db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()[0]
            assert db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()[0] == first

    def write(bank):
        with bank.transaction() as db:
            db.execute("UPDATE accounts SET amount = 7 WHERE id = 1")

    result = exhaust(bank, [twice, write])
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("non-repeatable read")


def test_rows_come_while_a_transaction_looks(bank):
    def twice(bank):
        with bank.transaction() as db:
            first = db.execute("SELECT count(*) FROM accounts").fetchone()[0]
            assert db.execute("SELECT count(*) FROM accounts").fetchone()[0] == first

    def add(bank):
        with bank.transaction() as db:
            db.execute("INSERT INTO accounts (id, amount) VALUES (3, 0)")

    result = exhaust(bank, [twice, add])
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("phantom in `accounts`")


def test_transactions_that_wait_for_each_other(bank, monkeypatch):
    """The server breaks the circle: one of them is told."""

    def transfer(one, other):
        def worker(bank):
            with bank.transaction() as db:
                db.execute("UPDATE accounts SET amount = amount - 1 WHERE id = %s", (one,))
                db.execute("UPDATE accounts SET amount = amount + 1 WHERE id = %s", (other,))

        return worker

    result = exhaust(bank, [transfer(1, 2), transfer(2, 1)])
    assert result.verdict == "fails" and "DeadlockDetected" in result.findings[0].message, result.explanation

    # Whoever closes the circle, even if it has stood for longer than the server would bear with it.
    from drawloom._outside.sql import _postgres

    ask = _postgres.Server.waits_for

    def ask_later(self, connection):
        if self.blocked:
            ctypes.CDLL(None).usleep(1_100_000)
        return ask(self, connection)

    monkeypatch.setattr(_postgres.Server, "waits_for", ask_later)
    again = result.replay()
    assert "DeadlockDetected" in again.findings[0].message, again.explanation
