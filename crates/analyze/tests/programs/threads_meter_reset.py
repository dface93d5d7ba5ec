# expect: missing-guard
import threading
import time


class Meter:
    def __init__(self):
        self._guard = threading.Lock()
        self._count = 0
        self._thread = threading.Thread(target=self._report, daemon=True)

    def start(self):
        self._thread.start()

    def add(self, n):
        with self._guard:
            self._count += n

    def _report(self):
        while True:
            time.sleep(60)
            with self._guard:
                seen = self._count
            print(seen)
            self._count = 0  # HERE
