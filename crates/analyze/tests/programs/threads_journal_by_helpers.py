# expect: clean
import threading


class Journal:
    def __init__(self, file):
        self._lock = threading.RLock()
        self._pending = []
        self._file = file

    def add(self, line):
        with self._lock:
            self._pending.append(line)
            if len(self._pending) > 100:
                self._drain()

    def flush(self):
        with self._lock:
            self._drain()

    def _drain(self):
        for line in self._pending:
            self._file.write(line)
        self._pending.clear()


def main(file):
    journal = Journal(file)
    writers = [threading.Thread(target=journal.add, args=(str(n),)) for n in range(4)]
    for writer in writers:
        writer.start()
    threading.Thread(target=journal.flush).start()
    for writer in writers:
        writer.join()
    print(len(journal._pending))


main(open("/dev/null", "w"))
