"""More programs with one bug each and labels, as in `fresh_programs`: written when the explainer did well on all
others, by somebody who knew it by then.

At the first run 3 of the 4 reports were right, and that of `pipeline` was wrong.
"""

import asyncio
import threading

from fresh_programs import Label


class Users:
    """They are counted while one registers."""

    def __init__(self):
        self.lock = threading.Lock()
        self.names = {"ann": 1, "bob": 2}
        self.total = 0

    def register(self, name):
        with self.lock:
            self.names[name] = len(self.names) + 1

    def count(self):
        total = 0
        for name in self.names:
            total += self.names[name]
        self.total = total


class Report:
    """Its figures are computed when they are first asked for."""

    def __init__(self):
        self.figures = None
        self.runs = []

    def compute(self):
        self.runs.append("run")
        return [1, 2, 3]

    def get(self):
        if self.figures is None:
            self.figures = self.compute()
        return self.figures


class Service:
    """It runs before it is told how."""

    def __init__(self):
        self.started = False
        self.settings = None
        self.served = 0

    def start(self):
        self.started = True
        self.settings = {"port": 80}

    def serve(self):
        if self.started:
            self.served = self.settings["port"]


class Pipeline:
    """An item is reported as done before its result is there."""

    def __init__(self):
        self.jobs = asyncio.Queue()
        self.jobs.put_nowait("scan")
        self.results = []
        self.seen = None

    async def work(self):
        job = await self.jobs.get()
        self.jobs.task_done()
        await asyncio.sleep(0)
        self.results.append(job)

    async def finish(self):
        await self.jobs.join()
        self.seen = len(self.results)


PROGRAMS = {
    "users": Label(
        Users,
        [Users.count, lambda users: users.register("cleo")],
        lambda users: users.total in (3, 6),
        "missing-guard|atomicity-gap|toctou|stale-reference",
        ("names",),
        ("for name in self.names:|total += self.names[name]", "self.names[name] = len(self.names) + 1"),
        observers=("total",),
    ),
    "report": Label(
        Report,
        [Report.get, Report.get],
        lambda report: len(report.runs) == 1,
        "toctou|atomicity-gap",
        ("figures",),
        ("if self.figures is None:", "self.figures = self.compute()"),
        observers=("runs",),
    ),
    "service": Label(
        Service,
        [Service.serve, Service.start],
        lambda service: service.served in (0, 80),
        "order-violation|atomicity-gap",
        ("started", "settings"),
        ("self.started = True|self.settings = {", "self.settings[\"port\"]"),
        observers=("served",),
    ),
    "pipeline": Label(
        Pipeline,
        [Pipeline.work, Pipeline.finish],
        lambda pipeline: pipeline.seen == 1,
        "order-violation|atomicity-gap",
        ("results", "jobs"),
        ("self.results.append(job)|self.jobs.task_done()", "self.seen = len(self.results)"),
        observers=("seen",),
        tasks=True,
    ),
}
