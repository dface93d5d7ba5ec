# expect: atomicity-gap lost-update
import trio


class Scores:
    def __init__(self):
        self.total = 0

    async def add(self, source):
        self.total += await source.read()  # HERE


async def main(sources):
    scores = Scores()
    async with trio.open_nursery() as nursery:
        for source in sources:
            nursery.start_soon(scores.add, source)
    return scores.total


trio.run(main, [])
