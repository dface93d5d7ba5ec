"""Servers of databases for tests: of their own, on loopback, with data that is gone afterwards."""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest


def program(name):
    """Where a program is; a test that cannot be run is skipped, except in CI."""
    found = shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), None)
    if found is None:
        unavailable(f"{name} is not installed (.ci/databases installs it)")
    return found


def unavailable(why):
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def driver(name):
    try:
        return __import__(name)
    except ImportError:
        unavailable(f"{name} is not installed")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def unprivileged(user):
    """How a program is run by somebody who may do little."""
    if os.getuid() != 0:
        return {}
    for name in (user, "nobody"):
        with contextlib.suppress(KeyError):
            known = pwd.getpwnam(name)
            return {"user": known.pw_uid, "group": known.pw_gid, "extra_groups": []}
    return {}


@contextlib.contextmanager
def running(command, ready, folder, who):
    """A server, until it is no longer needed."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **who)
    try:
        for _ in range(600):
            if ready():
                break
            assert server.poll() is None, f"{command[0]} has ended"
            time.sleep(0.05)
        else:
            raise AssertionError(f"{command[0]} does not answer")
        yield
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


@contextlib.contextmanager
def postgres():
    """The address of a PostgreSQL."""
    psycopg, who = driver("psycopg"), unprivileged("postgres")
    initdb, server, port = program("initdb"), program("postgres"), free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if who:
            os.chown(folder, who["user"], who["group"])
        data = os.path.join(folder, "data")
        subprocess.run([initdb, "-D", data, "-U", "test", "--auth=trust", "--no-sync"], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, **who)
        address = f"host=127.0.0.1 port={port} user=test dbname=postgres"

        def ready():
            try:
                psycopg.connect(address).close()
            except psycopg.OperationalError:
                return False
            return True

        command = [server, "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", folder, "-F", "-c", "shared_buffers=16MB"]
        with running(command, ready, folder, who):
            yield address


@contextlib.contextmanager
def redis():
    """The port of a Redis."""
    client, who = driver("redis"), unprivileged("redis")
    server, port = program("redis-server"), free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if who:
            os.chown(folder, who["user"], who["group"])

        def ready():
            try:
                with client.Redis(port=port) as asked:
                    return asked.ping()
            except client.ConnectionError:
                return False

        command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with running(command, ready, folder, who):
            yield port


def accounts(address):
    """What two accounts are made anew by, with one coin each."""
    psycopg = driver("psycopg")

    with psycopg.connect(address) as db:
        db.execute("CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, amount INTEGER)")

    class Accounts:
        def __init__(self):
            with psycopg.connect(address) as db:
                db.execute("DELETE FROM accounts")
                db.execute("INSERT INTO accounts VALUES (1, 1), (2, 1)")

    return Accounts
