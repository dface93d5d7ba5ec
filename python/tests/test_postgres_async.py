"""PostgreSQL, by psycopg's asynchronous connections: what transactions of tasks do to each other."""

import asyncio

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
        async def transaction(self):
            return await psycopg.AsyncConnection.connect(address)

        async def amounts(self):
            async with await self.transaction() as db:
                cursor = await db.execute("SELECT amount FROM accounts ORDER BY id")
                return [amount for (amount,) in await cursor.fetchall()]

    return Bank


def explored(bank, workers, expected=None, **options):
    async def invariant(bank):
        return expected is None or await bank.amounts() in expected

    result = exhaust(bank, workers, invariant, **options)
    assert (result.coarse, result.uncontrolled) == (None, None), result.reason
    return result


async def deposit(bank, account=1, lock=""):
    async with await bank.transaction() as db:
        cursor = await db.execute(f"SELECT amount FROM accounts WHERE id = %s{lock}", (account,))
        (seen,) = await cursor.fetchone()
        await db.execute("UPDATE accounts SET amount = %s WHERE id = %s", (seen + 1, account))


async def deposit_locked(bank):
    await deposit(bank, lock=" FOR UPDATE")


async def deposit_at_once(bank):
    async with await bank.transaction() as db:
        await db.execute("UPDATE accounts SET amount = amount + 1 WHERE id = 1")


def test_an_update_gets_lost(bank):
    result = explored(bank, [deposit, deposit], [[3, 1]], max_schedules=60)
    assert result.verdict == "fails", result.reason
    assert result.findings[0].anomaly.startswith("lost update of `accounts` where id=1")
    assert result.replay().verdict == "fails"


@pytest.mark.parametrize("worker", [deposit_locked, deposit_at_once])
def test_a_row_that_is_locked_is_awaited(bank, worker):
    result = explored(bank, [worker, worker], [[3, 1]], max_schedules=300)
    assert result.verdict == "holds", result.explanation


def test_each_takes_leave_since_the_other_is_there(bank):
    def leave(me):
        async def worker(bank):
            async with await bank.transaction() as db:
                cursor = await db.execute("SELECT amount FROM accounts WHERE id = %s", (3 - me,))
                if (await cursor.fetchone())[0]:
                    await db.execute("UPDATE accounts SET amount = 0 WHERE id = %s", (me,))

        return worker

    result = explored(bank, [leave(1), leave(2)], [[0, 1], [1, 0]], max_schedules=60)
    assert result.verdict == "fails" and result.findings[0].anomaly.startswith("write skew"), result.explanation


def test_transactions_that_wait_for_each_other(bank):
    """The server breaks the circle: one of them is told."""

    def transfer(one, other):
        async def worker(bank):
            async with await bank.transaction() as db:
                await db.execute("UPDATE accounts SET amount = amount - 1 WHERE id = %s", (one,))
                await db.execute("UPDATE accounts SET amount = amount + 1 WHERE id = %s", (other,))

        return worker

    result = explored(bank, [transfer(1, 2), transfer(2, 1)], max_schedules=20)
    assert result.verdict == "fails" and "DeadlockDetected" in result.findings[0].message, result.explanation


def test_a_row_that_is_never_given_back_is_known_at_once(bank):
    """The lock of a task and the row of the other: the server cannot see that circle."""

    class WithLock(bank):
        def __init__(self):
            super().__init__()
            self.lock = asyncio.Lock()

    async def row_first(bank):
        async with await bank.transaction() as db:
            await db.execute("UPDATE accounts SET amount = 2 WHERE id = 1")
            async with bank.lock:
                pass

    async def lock_first(bank):
        async with bank.lock, await bank.transaction() as db:
            await db.execute("UPDATE accounts SET amount = 3 WHERE id = 1")

    result = explored(WithLock, [row_first, lock_first], max_schedules=60)
    assert {finding.kind for finding in result.findings} <= {"deadlock", "starvation"} and result.verdict == "fails"


def test_a_task_that_is_cancelled_waits_no_more(bank):
    async def gives_up(bank):
        try:
            await asyncio.wait_for(deposit_at_once(bank), 1)
        except asyncio.TimeoutError:
            pass

    async def holds(bank):
        async with await bank.transaction() as db:
            await db.execute("UPDATE accounts SET amount = amount + 1 WHERE id = 1")
            await asyncio.sleep(5)

    result = explored(bank, [gives_up, holds], [[2, 1], [3, 1]], max_schedules=60)
    assert result.verdict in ("holds", "no_bug_found"), result.explanation


def test_beside_threads_nothing_is_claimed(bank):
    async def with_a_thread(bank):
        await asyncio.to_thread(int)
        await deposit(bank)

    result = exhaust(bank, [with_a_thread, with_a_thread])
    assert result.verdict == "inconclusive" and "AsyncConnection" in result.reason
