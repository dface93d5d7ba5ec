# expect: toctou
from concurrent.futures import ThreadPoolExecutor


class Shop:
    def __init__(self, stock):
        self.stock = dict(stock)

    def buy(self, item):
        if self.stock.get(item, 0) > 0:
            self.stock[item] = self.stock[item] - 1  # HERE
            return True
        return False


def main(orders):
    shop = Shop({"bolt": 10})
    with ThreadPoolExecutor(max_workers=8) as pool:
        return sum(pool.map(shop.buy, orders))


if __name__ == "__main__":
    print(main(["bolt"] * 20))
