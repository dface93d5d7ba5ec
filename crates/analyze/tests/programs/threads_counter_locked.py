# expect: clean
import threading


class Hits:
    def __init__(self):
        self.count = 0
        self._mutex = threading.Lock()

    def hit(self):
        with self._mutex:
            self.count += 1


def main():
    hits = Hits()
    threads = [threading.Thread(target=hits.hit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(hits.count)


if __name__ == "__main__":
    main()
