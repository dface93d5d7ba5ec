# expect: clean
import threading
from concurrent.futures import ThreadPoolExecutor


class Shop:
    def __init__(self, stock):
        self.stock = dict(stock)
        self.till = threading.RLock()

    def buy(self, item):
        if not self.till.acquire(timeout=5):
            raise TimeoutError("the till is taken")
        try:
            if self.stock.get(item, 0) > 0:
                self._take(item)
                return True
            return False
        finally:
            self.till.release()

    def _take(self, item):
        self.stock[item] = self.stock[item] - 1


def main(orders):
    shop = Shop({"bolt": 10})
    with ThreadPoolExecutor(max_workers=8) as pool:
        return sum(pool.map(shop.buy, orders))


if __name__ == "__main__":
    print(main(["bolt"] * 20))
