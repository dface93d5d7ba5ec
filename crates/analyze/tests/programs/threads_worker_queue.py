# expect: clean
# One thread owns the table; the others hand it their work through a queue.
import queue
import threading


class Table:
    def __init__(self):
        self.inbox = queue.Queue()
        self.rows = {}
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while True:
            key, value = self.inbox.get()
            if key is None:
                return
            if key not in self.rows:
                self.rows[key] = 0
            self.rows[key] += value

    def add(self, key, value):
        self.inbox.put((key, value))

    def stop(self):
        self.inbox.put((None, None))
        self.thread.join()
        return self.rows
