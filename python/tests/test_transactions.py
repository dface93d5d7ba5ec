"""Fixes of races in databases: what is said of them is true, and the section that is tried ends with the commit."""

import sqlite3

import pytest
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
