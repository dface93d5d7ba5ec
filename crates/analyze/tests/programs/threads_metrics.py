# expect: toctou
import threading
from concurrent.futures import ThreadPoolExecutor


class Metrics:
    def __init__(self):
        self.counters = {}

    def counter(self, name):
        if name not in self.counters:
            self.counters[name] = [0]  # HERE
        return self.counters[name]


metrics = Metrics()


def work(n):
    metrics.counter("jobs").append(n)


with ThreadPoolExecutor(8) as pool:
    for n in range(100):
        pool.submit(work, n)
