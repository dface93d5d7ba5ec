# expect: clean
import threading


class Box:
    def __init__(self, most):
        self._items = []
        self._most = most
        self._changed = threading.Condition()

    def put(self, item):
        with self._changed:
            while len(self._items) >= self._most:
                self._changed.wait()
            self._items.append(item)
            self._changed.notify_all()

    def get(self):
        with self._changed:
            self._changed.wait_for(lambda: self._items)
            item = self._items.pop(0)
            self._changed.notify_all()
            return item


box = Box(2)
for n in range(4):
    threading.Thread(target=box.put, args=(n,)).start()
for _ in range(4):
    threading.Thread(target=box.get).start()
