# expect: clean
import threading
import time


class Broadcaster:
    def __init__(self, sock):
        self.sock = sock
        self.searches_lock = threading.Lock()
        self.unanswered = {}
        threading.Thread(target=self.retry_loop, daemon=True).start()

    def search(self, name, request):
        with self.searches_lock:
            self.unanswered[name] = request
        self.sock.send(request)

    def answered(self, name):
        with self.searches_lock:
            self.unanswered.pop(name, None)

    def retry_loop(self):
        while True:
            with self.searches_lock:
                items = list(self.unanswered.items())
            for name, request in items:
                self.sock.send(request)
            time.sleep(1)
