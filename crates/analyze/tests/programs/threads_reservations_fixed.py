# expect: clean
import threading


class Theatre:
    def __init__(self, seats):
        self.free = set(range(seats))
        self.lock = threading.Lock()

    def reserve(self, seat, customer):
        with self.lock:
            if seat not in self.free:
                return False
            self.free.discard(seat)
        customer.notify(seat)
        return True


def main(customers):
    theatre = Theatre(10)
    threads = [threading.Thread(target=theatre.reserve, args=(1, customer)) for customer in customers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main([])
