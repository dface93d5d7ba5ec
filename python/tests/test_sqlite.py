"""Databases of SQLite: shared connections, one for each thread, transactions, and what is busy."""

import sqlite3

import drawloom
import pytest
from common import exhaust


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bank.db"


def bank(path, *rows):
    def setup():
        path.unlink(missing_ok=True)
        with connected(path) as db:
            db.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount INTEGER)")
            db.executemany("INSERT INTO accounts VALUES (?, ?)", rows)
        return path

    return setup


class connected:
    """A connection that is committed and closed."""

    def __init__(self, path, **options):
        self.db = sqlite3.connect(path, **options)

    def __enter__(self):
        return self.db

    def __exit__(self, *exception):
        with self.db:
            pass
        self.db.close()


def amount(path, account=1):
    with connected(path) as db:
        return db.execute("SELECT amount FROM accounts WHERE id = ?", (account,)).fetchone()[0]


def deposit(path):
    with connected(path) as db:
        (seen,) = db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()
        db.execute("UPDATE accounts SET amount = ? WHERE id = 1", (seen + 1,))


def deposit_at_once(path):
    with connected(path) as db:
        db.execute("UPDATE accounts SET amount = amount + 1 WHERE id = 1")


def deposit_exclusively(path):
    with connected(path, isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")
        (seen,) = db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()
        db.execute("UPDATE accounts SET amount = ? WHERE id = 1", (seen + 1,))
        db.execute("COMMIT")


def test_an_update_gets_lost(path):
    result = exhaust(bank(path, (1, 0)), deposit, lambda path: amount(path) == 2, count=2)
    assert (result.verdict, result.coarse) == ("fails", None), result.reason
    assert result.findings[0].anomaly.startswith("lost update of `accounts` where id=1")
    assert "lost update of `accounts`" in result.explanation
    assert result.replay().verdict == "fails"


@pytest.mark.parametrize("worker", [deposit_at_once, deposit_exclusively])
def test_what_is_busy_is_waited_for(path, worker):
    result = exhaust(bank(path, (1, 0)), worker, lambda path: amount(path) == 2, count=2)
    assert (result.verdict, result.coarse) == ("holds", None), result.explanation


def test_a_transaction_that_has_read_is_told_that_the_other_one_writes(path):
    """Two that read and then write in transactions cannot both: one of them is told, and told at once."""

    def worker(path):
        with connected(path, isolation_level=None) as db:
            db.execute("BEGIN")
            (seen,) = db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()
            db.execute("UPDATE accounts SET amount = ? WHERE id = 1", (seen + 1,))
            db.execute("COMMIT")

    result = exhaust(bank(path, (1, 0)), worker, count=2)
    assert result.verdict == "fails" and "database is locked" in result.findings[0].message


def test_waiting_has_an_end(path):
    def holds(path):
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        holding.append(db)

    def waits(path):
        with connected(path, timeout=3600) as db:
            db.execute("UPDATE accounts SET amount = 1")

    holding = []

    def release(path):
        holding.pop().close()

    result = exhaust(bank(path, (1, 0)), [holds, waits], release)
    assert result.verdict == "fails" and "database is locked" in result.findings[0].message


def test_readers_do_not_meet(path):
    result = exhaust(bank(path, (1, 0)), amount, count=3)
    assert (result.verdict, result.executions, result.coarse) == ("holds", 1, None)


def test_a_connection_that_threads_share(path):
    def setup():
        bank(path, (1, 0))()
        return sqlite3.connect(path, check_same_thread=False, isolation_level=None)

    def worker(db):
        (seen,) = db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()
        db.execute("UPDATE accounts SET amount = ? WHERE id = 1", (seen + 1,))

    def total(db):
        with db:
            found = db.execute("SELECT amount FROM accounts").fetchone()[0]
        db.close()
        return found == 2

    result = exhaust(setup, worker, total, count=2)
    assert (result.verdict, result.coarse) == ("fails", None), result.reason


def test_what_is_not_committed_is_seen_on_a_shared_connection(path):
    def setup():
        bank(path, (1, 0))()
        return sqlite3.connect(path, check_same_thread=False)

    def writer(db):
        db.execute("UPDATE accounts SET amount = 9 WHERE id = 1")
        db.rollback()

    def reader(db):
        assert db.execute("SELECT amount FROM accounts WHERE id = 1").fetchone()[0] == 0

    result = exhaust(setup, [writer, reader], lambda db: db.close())
    assert result.verdict == "fails"
    assert result.findings[0].anomaly.startswith("dirty read of `accounts` where id=1")


def test_rows_by_name(path):
    def worker(path):
        with connected(path) as db:
            db.row_factory = sqlite3.Row
            for row in db.execute("SELECT * FROM accounts"):
                assert row["amount"] == 0

    result = exhaust(bank(path, (1, 0)), worker, count=2)
    assert (result.verdict, result.coarse, result.executions) == ("holds", None, 1)


def test_two_who_look_before_they_insert(path):
    def worker(path):
        with connected(path, isolation_level=None) as db:
            if not db.execute("SELECT 1 FROM accounts WHERE amount > 0").fetchall():
                db.execute("INSERT INTO accounts (amount) VALUES (5)")

    def one(path):
        with connected(path) as db:
            return db.execute("SELECT count(*) FROM accounts").fetchone()[0] == 1

    result = exhaust(bank(path), worker, one, count=2)
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("phantom in `accounts`")


def test_each_takes_leave_since_the_other_is_there(path):
    """Write skew: either would be fine."""

    def leave(me):
        def worker(path):
            with connected(path, isolation_level=None) as db:
                others = db.execute("SELECT amount FROM accounts WHERE id = ?", (3 - me,)).fetchone()[0]
                if others:
                    db.execute("UPDATE accounts SET amount = 0 WHERE id = ?", (me,))

        return worker

    def somebody(path):
        return amount(path, 1) + amount(path, 2) >= 1

    result = exhaust(bank(path, (1, 1), (2, 1)), [leave(1), leave(2)], somebody)
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("write skew")


def test_nothing_is_said_of_databases_where_there_are_none():
    class Counter:
        value = 0

    def worker(counter):
        counter.value += 1

    result = drawloom.explore(Counter, worker, lambda counter: counter.value == 2, count=2)
    assert result.verdict == "fails" and result.findings[0].anomaly is None
