"""Programs on top of frameworks: the race is found and told at the program's own line, and the repaired program is free of noise."""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading

import pytest
import servers
from common import one_interval

import drawloom

# A framework is thousands of instructions: once is enough.
pytestmark = one_interval


class Shop:
    def __init__(self):
        self.stock, self.sold, self.lock = 1, [], threading.Lock()

    def sell(self, who):
        if self.stock > 0:
            self.stock -= 1
            self.sold.append(who)
            return True
        return False

    def sell_locked(self, who):
        with self.lock:
            return self.sell(who)


def told_at(result, *lines):
    """A finding whose report shows these lines of the program, and nothing that is not told apart."""
    assert result.verdict == "fails", result.reason
    assert result.coarse is None
    report = result.findings[0].report
    assert "everything" not in report
    for line in lines:
        assert line in report, report
    return report


def free_of_noise(result, *verdicts):
    assert result.verdict in (verdicts or ("holds",)), result.explanation
    assert result.coarse is None
    return result


# Flask


def flask_app(sell):
    flask = pytest.importorskip("flask")
    app, shop = flask.Flask("shop"), Shop()

    @app.post("/buy")
    def buy():
        sold = getattr(shop, sell)(flask.request.args["who"])
        return flask.jsonify(ok=sold), 200 if sold else 409

    app.shop = shop
    return app


def ann(app):
    assert app.test_client().post("/buy?who=ann").status_code in (200, 409)


def bob(app):
    assert app.test_client().post("/buy?who=bob").status_code in (200, 409)


def test_flask():
    pytest.importorskip("flask")
    sold_once = lambda app: len(app.shop.sold) == 1  # noqa: E731
    report = told_at(drawloom.explore(lambda: flask_app("sell"), [ann, bob], sold_once), "if self.stock > 0:", "self.stock -= 1")
    assert "Shop.stock" in report
    result = free_of_noise(drawloom.explore(lambda: flask_app("sell_locked"), [ann, bob], sold_once))
    assert [assumption.kind for assumption in result.assumptions] == ["frameworks"]


# FastAPI


def fast_app(sell):
    fastapi = pytest.importorskip("fastapi")
    app, shop = fastapi.FastAPI(), Shop()

    @app.post("/buy")
    def buy():
        if not getattr(shop, sell)("somebody"):
            raise fastapi.HTTPException(409)
        return {"ok": True}

    app.state.shop = shop
    return app


def test_fastapi_by_its_test_client():
    pytest.importorskip("fastapi")
    client = pytest.importorskip("fastapi.testclient").TestClient

    def buy(app):
        assert client(app).post("/buy").status_code in (200, 409)

    sold_once = lambda app: len(app.state.shop.sold) == 1  # noqa: E731
    told_at(drawloom.explore(lambda: fast_app("sell"), buy, sold_once, count=2, fixes=0), "if self.stock > 0:", "self.stock -= 1")
    free_of_noise(
        drawloom.explore(lambda: fast_app("sell_locked"), buy, sold_once, count=2, executions=200), "holds", "no_bug_found")


def test_fastapi_in_one_event_loop():
    fastapi, httpx, asyncio = pytest.importorskip("fastapi"), pytest.importorskip("httpx"), pytest.importorskip("asyncio")

    def app(is_locked):
        app, shop, lock = fastapi.FastAPI(), Shop(), asyncio.Lock()

        async def sell():
            if shop.stock > 0:
                await asyncio.sleep(0)
                shop.stock -= 1
                shop.sold.append("somebody")

        @app.post("/buy")
        async def buy():
            if not is_locked:
                return await sell()
            async with lock:
                return await sell()

        app.state.shop = shop
        return app

    async def buy(app):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://shop") as client:
            assert (await client.post("/buy")).status_code == 200

    sold_once = lambda app: len(app.state.shop.sold) == 1  # noqa: E731
    told_at(drawloom.explore(lambda: app(False), buy, sold_once, count=2), "shop.stock -= 1")
    free_of_noise(drawloom.explore(lambda: app(True), buy, sold_once, count=2))


# SQLAlchemy


def store(sqlalchemy, engine):
    orm = sqlalchemy.orm

    class Base(orm.DeclarativeBase):
        pass

    class Item(Base):
        __tablename__ = "item"
        id = orm.mapped_column(sqlalchemy.Integer, primary_key=True)
        stock = orm.mapped_column(sqlalchemy.Integer)

    class Store:
        @staticmethod
        def setup():
            Base.metadata.drop_all(engine)
            Base.metadata.create_all(engine)
            with orm.Session(engine) as session:
                session.add(Item(id=1, stock=10))
                session.commit()

        @staticmethod
        def buy(_):
            with orm.Session(engine) as session:
                item = session.get(Item, 1)
                item.stock = item.stock - 1
                session.commit()

        @staticmethod
        def buy_for_update(_):
            with orm.Session(engine) as session:
                session.get(Item, 1, with_for_update=True).stock -= 1
                session.commit()

        @staticmethod
        def buy_in_one_statement(_):
            with orm.Session(engine) as session:
                session.execute(sqlalchemy.update(Item).where(Item.id == 1).values(stock=Item.stock - 1))
                session.commit()

        @staticmethod
        def both_count(_):
            with orm.Session(engine) as session:
                return session.get(Item, 1).stock == 8

    return Store


@pytest.fixture
def sqlalchemy():
    pytest.importorskip("sqlalchemy.orm")
    return pytest.importorskip("sqlalchemy")


def test_sqlalchemy_with_sqlite(sqlalchemy, tmp_path):
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/shop.db")
    shop = store(sqlalchemy, engine)
    report = told_at(drawloom.explore(shop.setup, shop.buy, shop.both_count, count=2), "item = session.get(Item, 1)", "session.commit()")
    assert "lost update of `item` where id=1" in report
    # One line writes and commits: a lock that is tried is held until both are over.
    assert "BEGIN IMMEDIATE [simple] (verified: all" in report
    assert "does not help" not in report
    free_of_noise(drawloom.explore(shop.setup, shop.buy_in_one_statement, shop.both_count, count=2))
    engine.dispose()


def test_sqlalchemy_with_postgresql(sqlalchemy):
    servers.driver("psycopg")
    with servers.postgres() as address:
        at = dict(part.split("=") for part in address.split())
        # The pool keeps its connections from one execution to the next.
        engine = sqlalchemy.create_engine(f"postgresql+psycopg://{at['user']}@{at['host']}:{at['port']}/{at['dbname']}")
        shop = store(sqlalchemy, engine)
        report = told_at(
            drawloom.explore(shop.setup, shop.buy, shop.both_count, count=2), "item = session.get(Item, 1)", "session.commit()")
        assert "SELECT … FOR UPDATE [simple] (verified: all" in report
        assert "does not help" not in report
        free_of_noise(drawloom.explore(shop.setup, shop.buy_for_update, shop.both_count, count=2))
        engine.dispose()


def accounts(sqlalchemy, engine):
    orm = sqlalchemy.orm

    class Base(orm.DeclarativeBase):
        pass

    class Account(Base):
        __tablename__ = "account"
        id = orm.mapped_column(sqlalchemy.Integer, primary_key=True)
        balance = orm.mapped_column(sqlalchemy.Integer)

    session = orm.sessionmaker(engine)

    class Bank:
        @staticmethod
        def setup():
            Base.metadata.drop_all(engine)
            Base.metadata.create_all(engine)
            with session.begin() as opened:
                opened.add_all([Account(id=1, balance=100), Account(id=2, balance=100)])

        @staticmethod
        def transfer(here, there):
            with session.begin() as opened:
                source = opened.get(Account, here, with_for_update=True)
                target = opened.get(Account, there, with_for_update=True)
                source.balance -= 10
                target.balance += 10

        @staticmethod
        def transfer_in_order(here, there):
            # What `scalars` gives is an iterator that is not written in Python.
            wanted = sqlalchemy.select(Account).where(Account.id.in_([here, there])).order_by(Account.id).with_for_update()
            with session.begin() as opened:
                both = {account.id: account for account in opened.scalars(wanted)}
                both[here].balance -= 10
                both[there].balance += 10

    return Bank


def test_rows_that_are_locked_in_different_orders(sqlalchemy):
    servers.driver("psycopg")
    with servers.postgres() as address:
        at = dict(part.split("=") for part in address.split())
        engine = sqlalchemy.create_engine(f"postgresql+psycopg://{at['user']}@{at['host']}:{at['port']}/{at['dbname']}")
        bank = accounts(sqlalchemy, engine)
        result = drawloom.explore(bank.setup, [lambda _: bank.transfer(1, 2), lambda _: bank.transfer(2, 1)], fixes=0)
        told_at(result)
        assert "DeadlockDetected" in result.findings[0].message
        assert result.findings[0].anomaly == (
            "deadlock: transactions lock `account` where id=1 and `account` where id=2 in different orders")
        # Connections of the pool are still there: they were closed in its hands.
        assert "DeadlockDetected" in result.replay().findings[0].message
        result = drawloom.explore(
            bank.setup, [lambda _: bank.transfer_in_order(1, 2), lambda _: bank.transfer_in_order(2, 1)], strategy="exhaustive")
        free_of_noise(result)
        assert [assumption.kind for assumption in result.assumptions] == ["frameworks"]
        engine.dispose()


# Django


@pytest.fixture(scope="module")
def account():
    django, conf = pytest.importorskip("django"), pytest.importorskip("django.conf")
    path = os.path.join(tempfile.mkdtemp(), "bank.db")
    conf.settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": path}}, INSTALLED_APPS=[], USE_TZ=False)
    django.setup()
    from django.db import models

    class Account(models.Model):
        balance = models.IntegerField()

        class Meta:
            app_label = "bank"

    return Account


def test_django(account):
    from django.db import connection, connections, models

    def setup():
        with connection.schema_editor() as editor:
            if account._meta.db_table in connection.introspection.table_names():
                editor.delete_model(account)
            editor.create_model(account)
        account.objects.create(id=1, balance=100)
        connections.close_all()

    def withdraw(_):
        found = account.objects.get(id=1)
        found.balance -= 10
        found.save()
        connections.close_all()

    def withdraw_in_one_statement(_):
        account.objects.filter(id=1).update(balance=models.F("balance") - 10)
        connections.close_all()

    def both_count(_):
        return account.objects.get(id=1).balance == 80

    report = told_at(drawloom.explore(setup, withdraw, both_count, count=2), "found = account.objects.get(id=1)", "found.save()")
    assert "lost update of `bank_account` where id=1" in report
    free_of_noise(drawloom.explore(setup, withdraw_in_one_statement, both_count, count=2))


# Celery


def test_celery_in_eager_mode():
    celery = pytest.importorskip("celery")
    app = celery.Celery("shop", broker="memory://", backend="cache+memory://")
    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    shops = []

    @app.task
    def sell(method):
        getattr(shops[-1], method)("somebody")

    def setup():
        shops[:] = [Shop()]
        return shops[0]

    sold_once = lambda shop: len(shop.sold) == 1  # noqa: E731
    told_at(
        drawloom.explore(setup, lambda _: sell.delay("sell"), sold_once, count=2), "if self.stock > 0:", "self.stock -= 1")
    free_of_noise(drawloom.explore(setup, lambda _: sell.delay("sell_locked"), sold_once, count=2))


def test_whether_a_task_of_celery_runs_is_a_matter_of_each_thread():
    """Celery keeps it for the whole process: with two threads, `get` was refused from then on."""
    celery = pytest.importorskip("celery")
    app = celery.Celery("mail", broker="memory://", backend="cache+memory://")
    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    shops = []

    @app.task
    def sell():
        return shops[-1].sell_locked("somebody")

    def setup():
        shops[:] = [Shop()]
        return shops[0]

    free_of_noise(drawloom.explore(setup, lambda _: sell.delay().get(), lambda shop: len(shop.sold) == 1, count=2))
    assert sell.delay().get() is False


# Clients of HTTP, and a server that is no part of the exploration


@pytest.fixture
def server():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"n": self.server.number}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self):
            self.server.number = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["n"]
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["requests", "httpx"])
def test_clients_of_http(server, name):
    client = pytest.importorskip(name)
    url = f"http://127.0.0.1:{server.server_port}/n"

    def setup():
        server.number = 10
        return threading.Lock()

    def take(_):
        number = client.get(url).json()["n"]
        client.put(url, json={"n": number - 1})

    def take_locked(lock):
        with lock:
            take(lock)

    both_count = lambda _: server.number == 8  # noqa: E731
    told_at(drawloom.explore(setup, take, both_count, count=2), 'number = client.get(url).json()["n"]', "client.put(url")
    # In how many pieces an answer arrives makes no difference.
    free_of_noise(drawloom.explore(setup, take_locked, both_count, count=2), "no_bug_found")


# What frameworks are taken for


def test_a_lock_that_a_framework_holds_while_it_calls_the_program_keeps_others_out(tmp_path, monkeypatch):
    """Both orders of who gets the lock are explored, and nobody comes in between."""
    package = tmp_path / "site-packages" / "flask"
    package.mkdir(parents=True)
    (package / "guarded.py").write_text("import threading\nlock = threading.Lock()\ndef guarded(act, who):\n    with lock:\n        act(who)\n")
    names = {}
    path = package / "guarded.py"
    exec(compile(path.read_text(), str(path), "exec"), names)
    guarded = names["guarded"]

    class Log:
        def __init__(self):
            self.seen, self.first = [], None

        def add(self, who):
            seen = len(self.seen)
            self.seen.append(who)
            assert len(self.seen) == seen + 1
            self.first = self.first or who

    workers = [lambda log: guarded(log.add, "ann"), lambda log: guarded(log.add, "bob")]
    assert drawloom.explore(Log, workers, lambda log: len(log.seen) == 2).verdict == "holds"
    for who in ("ann", "bob"):
        assert drawloom.explore(Log, workers, lambda log, who=who: log.first == who).verdict == "fails"


def test_pytest_gets_no_error_of_a_torn_down_session(tmp_path, sqlalchemy):
    (tmp_path / "test_shop.py").write_text(textwrap.dedent("""
        import drawloom, sqlalchemy
        from sqlalchemy import orm

        engine = sqlalchemy.create_engine("sqlite:///shop.db")

        def setup():
            with engine.begin() as connection:
                connection.exec_driver_sql("DROP TABLE IF EXISTS item")
                connection.exec_driver_sql("CREATE TABLE item (stock INTEGER)")
                connection.exec_driver_sql("INSERT INTO item VALUES (1)")

        def buy(_):
            with orm.Session(engine) as session:
                stock = session.scalar(sqlalchemy.text("SELECT stock FROM item"))
                assert stock > 0
                session.execute(sqlalchemy.text("UPDATE item SET stock = stock - 1"))
                session.commit()

        def test_buy():
            assert drawloom.explore(setup, buy, count=2).verdict == "fails"
    """))
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_shop.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "1 passed" in ran.stdout and "error" not in ran.stdout.lower(), ran.stdout + ran.stderr


def test_a_library_that_the_program_calls_itself_is_looked_at_though_frameworks_use_it():
    urllib3 = pytest.importorskip("urllib3")
    pytest.importorskip("requests")

    def connect(pool):
        pool._get_conn()

    result = drawloom.explore(lambda: urllib3.HTTPConnectionPool("localhost", maxsize=2), connect,
                              lambda pool: pool.num_connections == 2, count=2)
    assert result.verdict == "fails", result.reason
    assert "num_connections" in result.explanation
