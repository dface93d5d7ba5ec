"""Fixes of races in databases: what is said of them is true, and the section that is tried ends with the commit."""

import sqlite3

import pytest
import servers
from common import one_interval

import drawloom

pytestmark = one_interval


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.db"


def shop(path):
    def setup():
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        with db:
            db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, stock INTEGER, sold INTEGER)")
            db.execute("INSERT INTO item VALUES (1, 1, 0)")
        db.close()
        return path

    return setup


def stock_of(db):
    return db.execute("SELECT stock FROM item WHERE id = 1").fetchone()[0]


TAKE = "UPDATE item SET stock = stock - 1, sold = sold + 1 WHERE id = 1"


def commits_by_a_call(path):
    db = sqlite3.connect(path)
    if stock_of(db) > 0:
        db.execute(TAKE)
        db.commit()
    db.close()


def commits_by_a_context(path):
    db = sqlite3.connect(path)
    if stock_of(db) > 0:
        with db:
            db.execute(TAKE)
    db.close()


def begins_immediately(path):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    if stock_of(db) > 0:
        db.execute(TAKE)
    db.execute("COMMIT")
    db.close()


def checks_in_the_statement(path):
    db = sqlite3.connect(path)
    with db:
        db.execute(f"{TAKE} AND stock > 0")
    db.close()


def sold_once(path):
    db = sqlite3.connect(path)
    sold = db.execute("SELECT sold FROM item").fetchone()[0]
    db.close()
    return sold == 1


@pytest.mark.parametrize("worker", [commits_by_a_call, commits_by_a_context])
def test_a_section_that_is_tried_ends_with_the_commit(path, worker):
    result = drawloom.explore(shop(path), worker, sold_once, count=2)
    assert result.verdict == "fails"
    report = result.findings[0].report
    assert "does not help" not in report, report
    assert "Check and write in one statement [simple] (verified" in report, report
    assert "Begin the transaction with BEGIN IMMEDIATE [simple] (verified: all" in report, report


@pytest.mark.parametrize("worker", [begins_immediately, checks_in_the_statement])
def test_what_is_proposed_helps(path, worker):
    assert drawloom.explore(shop(path), worker, sold_once, count=2).verdict == "holds"


def test_the_statement_that_is_proposed_is_the_program_s_own(path):
    def take(path):
        db = sqlite3.connect(path)
        if stock_of(db) > 0:
            db.execute("UPDATE item SET stock = stock - 1, sold = sold + 1 WHERE id = 1")
            db.commit()
        db.close()

    report = drawloom.explore(shop(path), take, sold_once, count=2).findings[0].report
    assert "UPDATE item SET stock = stock - 1, sold = sold + 1 WHERE id = 1 AND …" in report, report


def test_who_writes_another_row_than_the_one_that_was_written_between_has_lost_no_update(path):
    def setup():
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        with db:
            db.execute("CREATE TABLE doctor (name TEXT PRIMARY KEY, on_call INTEGER)")
            db.execute("INSERT INTO doctor VALUES ('ann', 1), ('bob', 1)")
        db.close()
        return path

    def leaves(name):
        def leave(path):
            db = sqlite3.connect(path)
            if db.execute("SELECT count(*) FROM doctor WHERE on_call").fetchone()[0] > 1:
                with db:
                    db.execute("UPDATE doctor SET on_call = 0 WHERE name = ?", (name,))
            db.close()

        return leave

    def somebody_is(path):
        db = sqlite3.connect(path)
        number = db.execute("SELECT count(*) FROM doctor WHERE on_call").fetchone()[0]
        db.close()
        return number > 0

    found = drawloom.explore(setup, [leaves("ann"), leaves("bob")], somebody_is, fixes=0).findings[0]
    assert found.anomaly.startswith("write skew on `doctor`"), found.anomaly


def test_a_block_of_a_transaction_in_postgresql():
    """BEGIN and COMMIT of `transaction` are understood, and nothing is proposed that only SQLite has."""
    psycopg = servers.driver("psycopg")
    with servers.postgres() as address:
        dispensed = []

        def setup():
            dispensed.clear()
            with psycopg.connect(address) as db:
                db.execute("DROP TABLE IF EXISTS account")
                db.execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT)")
                db.execute("INSERT INTO account VALUES (1, 100)")

        def withdraw(lock=""):
            with psycopg.connect(address, autocommit=True) as db, db.transaction():
                balance = db.execute(f"SELECT balance FROM account WHERE id = 1 {lock}").fetchone()[0]
                if balance >= 80:
                    db.execute("UPDATE account SET balance = %s WHERE id = 1", (balance - 80,))
                    dispensed.append(80)

        once = lambda _: dispensed == [80]  # noqa: E731
        report = drawloom.explore(setup, lambda _: withdraw(), once, count=2).findings[0].report
        assert "SELECT … FOR UPDATE [simple] (verified: all" in report and "BEGIN IMMEDIATE" not in report, report
        assert "row id=1 of account" in report, report
        assert drawloom.explore(setup, lambda _: withdraw("FOR UPDATE"), once, count=2).verdict == "holds"
