# expect: stale-reference iteration
import threading
import time

start_time_by_pid = {}


def timeout_checker():
    while True:
        time.sleep(1)
        now = time.time()
        for pid, started in start_time_by_pid.items():  # HERE
            if now - started > 10:
                print("kill", pid)


def run(mutants):
    threading.Thread(target=timeout_checker, daemon=True).start()
    for pid in mutants:
        start_time_by_pid[pid] = time.time()
        time.sleep(0.1)
        del start_time_by_pid[pid]


if __name__ == "__main__":
    run(range(100))
