"""pykka: actors in threads of their own, and questions to those that stop."""

from __future__ import annotations

import pykka

from cases import Case, explore_all


class Account(pykka.ThreadingActor):
    def __init__(self) -> None:
        super().__init__()
        self.balance = 0

    def deposit(self, amount: int) -> int:
        self.balance += amount
        return self.balance

    def on_receive(self, message: int) -> int:
        return self.deposit(message)


class Bank:
    def __init__(self) -> None:
        self.account = Account.start()
        self.answers: list[int] = []


def ask(bank: Bank) -> None:
    try:
        bank.answers.append(bank.account.ask(1))
    except pykka.ActorDeadError:
        pass


def tell(bank: Bank) -> None:
    try:
        bank.account.tell(1)
    except pykka.ActorDeadError:
        pass


def stop(bank: Bank) -> None:
    bank.account.stop()


def nothing_is_lost(bank: Bank) -> bool:
    last = bank.account.ask(0)
    bank.account.stop()
    return last == 2


class Answer:
    def __init__(self) -> None:
        self.future = pykka.ThreadingFuture()


def give(answer: Answer) -> None:
    answer.future.set(1)


def take(answer: Answer) -> None:
    assert answer.future.get() == 1


def take_with_patience(answer: Answer) -> None:
    assert answer.future.get(timeout=1) == 1


explore_all("pykka", [
    Case("a future: a waiting task gets the answer", Answer, [give, take, take]),
    Case("a future: a task that waits for one second gets the answer", Answer, [give, take_with_patience]),
    Case("two messages: both are handled", Bank, [tell, tell], nothing_is_lost),
    Case("two questions: both are answered", Bank, [ask, ask],
         lambda b: sorted(b.answers) == [1, 2] and nothing_is_lost(b)),
    Case("a question to an actor that stops is answered or refused", Bank, [ask, stop], None, expected="fails"),
])
