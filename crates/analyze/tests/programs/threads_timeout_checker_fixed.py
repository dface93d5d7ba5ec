# expect: clean
import threading
import time

start_time_by_pid = {}
lock = threading.Lock()


def timeout_checker():
    while True:
        time.sleep(1)
        now = time.time()
        with lock:
            running = dict(start_time_by_pid)
        for pid, started in running.items():
            if now - started > 10:
                print("kill", pid)


def run(mutants):
    threading.Thread(target=timeout_checker, daemon=True).start()
    for pid in mutants:
        with lock:
            start_time_by_pid[pid] = time.time()
        time.sleep(0.1)
        with lock:
            del start_time_by_pid[pid]


if __name__ == "__main__":
    run(range(100))
