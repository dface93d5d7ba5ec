# expect: toctou
import threading


class Cache(object):
    def __init__(self):
        self.items = {}

    def get(self, key):
        if key in self.items:
            return self.items[key]
        return None

    def evict(self, key):
        if key in self.items:
            del self.items[key]  # HERE


cache = Cache()


def reader():
    for n in range(100):
        cache.get(n)


def cleaner():
    for n in range(100):
        cache.evict(n)


workers = [threading.Thread(target=reader), threading.Thread(target=cleaner), threading.Thread(target=cleaner)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
