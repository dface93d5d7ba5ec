# expect: clean
# The result is written before the event is set, and read after it.
import threading


class Job:
    def __init__(self):
        self.result = None
        self.done = threading.Event()

    def run(self):
        value = sum(range(1000))
        self.result = value
        self.done.set()

    def wait(self):
        self.done.wait()
        return self.result


def main():
    job = Job()
    threading.Thread(target=job.run).start()
    print(job.wait())


main()
