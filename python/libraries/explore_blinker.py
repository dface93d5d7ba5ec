"""blinker: receivers that come and go while a signal is sent."""

from __future__ import annotations

from blinker import Signal

from cases import Case, explore_all


class Bus:
    def __init__(self, *connected: str) -> None:
        self.signal = Signal()
        self.heard: list[str] = []
        self.receivers = {name: self._receiver(name) for name in "ab"}
        for name in connected:
            self.signal.connect(self.receivers[name], weak=False)

    def _receiver(self, name: str):
        def hear(_sender) -> None:
            self.heard.append(name)

        return hear


def connect(name: str):
    return lambda bus: bus.signal.connect(bus.receivers[name], weak=False)


def disconnect(name: str):
    return lambda bus: bus.signal.disconnect(bus.receivers[name])


def send(bus: Bus) -> None:
    bus.signal.send(bus)


def mute(bus: Bus) -> None:
    with bus.signal.muted():
        pass


def send_muted(bus: Bus) -> None:
    with bus.signal.muted():
        send(bus)


explore_all("blinker", [
    Case("a receiver that stays connected hears it while another connects", lambda: Bus("a"), [send, connect("b")],
         lambda b: "a" in b.heard),
    Case("a receiver that stays connected hears it while another disconnects", lambda: Bus("a", "b"), [send, disconnect("b")],
         lambda b: "a" in b.heard),
    Case("two that connect at once are both connected", Bus, [connect("a"), connect("b")],
         lambda b: send(b) is None and sorted(b.heard) == ["a", "b"]),
    Case("one that connects while the same one disconnects", Bus, [connect("a"), disconnect("a")],
         lambda b: bool(b.signal.receivers) == b.signal.has_receivers_for(b)),
    Case("no receiver hears a signal that is sent while it is muted", lambda: Bus("a"), [send_muted, mute], lambda b: not b.heard,
         expected="fails"),
    Case("muted by two at once: heard again in the end", lambda: Bus("a"), [mute, mute],
         lambda b: send(b) is None and b.heard == ["a"]),
])
