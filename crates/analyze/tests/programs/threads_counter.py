# expect: atomicity-gap lost-update
import threading


class Hits:
    def __init__(self):
        self.count = 0

    def hit(self):
        self.count += 1  # HERE


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
