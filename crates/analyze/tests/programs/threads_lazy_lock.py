# expect: toctou duplicate-init
import threading

locks = {}


def lock_for(name):
    if name not in locks:
        locks[name] = threading.Lock()  # HERE
    return locks[name]


def work(name):
    with lock_for(name):
        print(name)


for i in range(4):
    threading.Thread(target=work, args=("a",)).start()
