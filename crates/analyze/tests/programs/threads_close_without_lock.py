# expect: missing-guard
import threading


class Journal:
    def __init__(self, file):
        self._lock = threading.Lock()
        self._pending = []
        self._file = file

    def add(self, line):
        with self._lock:
            self._pending.append(line)

    def flush(self):
        with self._lock:
            batch = list(self._pending)
            self._pending.clear()
        for line in batch:
            self._file.write(line)

    def drop(self):
        self._pending = []  # HERE


def main(file):
    journal = Journal(file)
    writers = [threading.Thread(target=journal.add, args=(str(n),)) for n in range(4)]
    for writer in writers:
        writer.start()
    threading.Thread(target=journal.flush).start()
    journal.drop()
    for writer in writers:
        writer.join()


main(open("/dev/null", "w"))
