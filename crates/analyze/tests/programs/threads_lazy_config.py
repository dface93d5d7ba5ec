# expect: toctou
import threading

_config = None


def load():
    return {"debug": False}


def config():
    global _config
    if _config is None:
        _config = load()  # HERE
    return _config


def worker():
    print(config()["debug"])


threads = [threading.Thread(target=worker) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
