# expect: clean
import threading

_config = None
_config_lock = threading.Lock()


def load():
    return {"debug": False}


def config():
    global _config
    if _config is None:
        with _config_lock:
            if _config is None:
                _config = load()
    return _config


def worker():
    print(config()["debug"])


threads = [threading.Thread(target=worker) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
