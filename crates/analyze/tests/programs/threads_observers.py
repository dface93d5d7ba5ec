# expect: stale-reference iteration
import threading
import time


class Subject:
    def __init__(self):
        self.observers = set()

    def attach(self, observer):
        self.observers.add(observer)

    def detach(self, observer):
        self.observers.remove(observer)

    def run(self):
        while True:
            for observer in self.observers:  # HERE
                observer.notify()
            time.sleep(1)


def main():
    subject = Subject()
    threading.Thread(target=subject.run, daemon=True).start()
    for n in range(100):
        subject.attach(n)
        subject.detach(n)


if __name__ == "__main__":
    main()
