# expect: clean
# One thread owns the count; the others send to it.
import queue
import threading


class Meter:
    def __init__(self):
        self._inbox = queue.Queue()
        self._count = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def add(self, n):
        self._inbox.put(n)

    def stop(self):
        self._inbox.put(None)
        self._thread.join()
        return self._count

    def _run(self):
        while True:
            n = self._inbox.get()
            if n is None:
                return
            self._count = self._count + n
