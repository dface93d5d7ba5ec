# expect: toctou
from concurrent.futures import ThreadPoolExecutor

_config = None


def load():
    return {"debug": False}


def config():
    global _config
    if _config is None:
        _config = load()  # HERE
    return _config


def main():
    with ThreadPoolExecutor() as pool:
        for _ in range(8):
            pool.submit(config)


main()
