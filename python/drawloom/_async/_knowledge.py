"""What pieces of tasks touch, foretold from what they have touched before.

A piece, from where a task is resumed to where it waits, runs without interruption: it is one step. What it touches is
known only afterwards, but the engine wants to know before. So it is foretold: each piece, by the path of its task and
its number, has touched certain things in the executions so far. If it turns out to touch more, all that was explored
is void, and the exploration begins anew with more known; so in the end nothing was foretold that is not enough.

What only one task touches, or nobody changes, does not matter. The rest falls into groups, of things that are touched
together; a group is a resource of the engine. Things of a group that are touched by the same pieces in the same way are one part of it,
and a step says which parts it reads and which it writes.
"""

from __future__ import annotations

from typing import Any

Path = tuple[int, ...]
Key = tuple[Path, int]
# Who owns it, and its name: none stands for all of the owner, True for all its attributes.
Name = tuple[Any, Any]
Footprint = dict[Name, bool]
# The number of a group, none if the piece touches nothing that matters; whether it changes something there; and a bit for each part
# that it reads, and that it writes. A group that is one part has no bits.
Label = tuple["int | None", bool, int, int]

NOTHING: Label = (None, False, 0, 0)

# Parts of a group; if there were more, the last is all that is left.
MOST_PARTS = 32

# A task that has done the same so many times is taken to do it again: it polls.
ROUNDS = 4
# The most pieces of a round.
LONGEST_ROUND = 4


class Knowledge:
    """Grows from execution to execution."""

    def __init__(self, foretold: str | None = None) -> None:
        self.footprints: dict[Key, Footprint] = {}
        self.labels: dict[Key, Label] = {}
        self.groups: list[list[Name]] = []
        # The parts of each of them.
        self.parts: list[list[list[Name]]] = []
        # What the program calls containers.
        self.containers: dict[str, str | None] = {}
        self.unknown: str | None = None
        self.is_replay = foretold is not None
        if foretold is not None:
            self._read(foretold)

    def foretell(self, key: Key) -> Label:
        """What the piece will touch, as far as is known."""
        label = self.labels.get(key)
        # A token says all that is known.
        if label is None and not self.is_replay and (model := self._model(key)) is not None:
            return self.labels[model]
        return label or NOTHING

    def _model(self, key: Key) -> Key | None:
        """The piece that one which was never met is taken to be like: its task goes round in circles."""
        path, number = key
        before = [self.labels.get((path, number - back)) for back in range(1, ROUNDS * LONGEST_ROUND + 1)]
        for length in range(1, LONGEST_ROUND + 1):
            rounds = before[: ROUNDS * length]
            if None not in rounds and rounds == rounds[:length] * ROUNDS:
                return path, number - length
        return None

    def learn(self, key: Key, touched: Footprint, unknown: str | None) -> bool:
        """What a piece has touched. Whether that is more than was foretold, of it or of others."""
        if self.is_replay:
            # All is told already but what it is called.
            self.footprints.setdefault(key, {}).update(touched)
            self.groups = [list(_matters(self.footprints)) or [EVERYTHING]]
            return False
        model = None if key in self.footprints else self._model(key)
        if model is not None and unknown is None and touched == self.footprints.get(model):
            # Nothing that is not known of its task already.
            self.footprints[key], self.labels[key] = dict(touched), self.labels[model]
            return False
        known = self.footprints.setdefault(key, {})
        more = False
        for name, write in touched.items():
            if known.get(name) is not write and not known.get(name, False):
                known[name] = write
                more = True
        if unknown is not None and self.unknown is None:
            self.unknown = unknown
            more = True
        if unknown is not None and not known.get(EVERYTHING, False):
            known[EVERYTHING] = True
            more = True
        if not more:
            return False
        before, foretold = self.labels, self.foretell(key)
        self._relabel()
        return any(before.get(other, NOTHING) != label for other, label in self.labels.items() if other != key) or (
            self.labels.get(key, NOTHING) != foretold
        )

    def _relabel(self) -> None:
        """Groups what is touched together, and numbers the groups in the order in which pieces were met."""
        footprints = self._coarsened()
        matters = _matters(footprints, 1 if self.unknown is None else 0)
        group = Groups()
        for footprint in footprints.values():
            shared = [name for name in footprint if name in matters]
            for name in shared:
                group.join(shared[0], name)
        # Pieces that touch something: by which name, and how.
        touches: dict[Name, list[tuple[Key, bool]]] = {}
        for key, footprint in footprints.items():
            for name in filter(matters.__contains__, footprint):
                touches.setdefault(name, []).append((key, footprint[name]))
        numbers: dict[Name, int] = {}
        parts: list[dict[tuple[tuple[Key, bool], ...], int]] = []
        part_of: dict[Name, int] = {}
        self.labels, self.groups, self.parts = {}, [], []
        for key, footprint in footprints.items():
            shared = [name for name in footprint if name in matters]
            if not shared:
                self.labels[key] = NOTHING
                continue
            number = numbers.setdefault(group.of(shared[0]), len(numbers))
            if number == len(self.groups):
                self.groups.append([])
                self.parts.append([])
                parts.append({})
            self.groups[number] += [name for name in shared if name not in self.groups[number]]
            reads = writes = 0
            for name in shared:
                if name not in part_of:
                    part = parts[number].setdefault(tuple(touches[name]), len(parts[number]))
                    part_of[name] = min(part, MOST_PARTS - 1)
                    if part_of[name] == len(self.parts[number]):
                        self.parts[number].append([])
                    self.parts[number][part_of[name]].append(name)
                bit = 1 << part_of[name]
                if footprint[name]:
                    writes |= bit
                else:
                    reads |= bit
            self.labels[key] = (number, writes != 0, reads, writes)
        for key, (known, write, _, _) in self.labels.items():
            if known is not None and len(self.parts[known]) == 1:
                self.labels[key] = (known, write, 0, 0)

    def _coarsened(self) -> dict[Key, Footprint]:
        if self.unknown is not None:
            return {key: {EVERYTHING: True} if footprint else {} for key, footprint in self.footprints.items()}
        if not any(part is True for footprint in self.footprints.values() for _, part in footprint):
            return self.footprints
        # Somebody looks at all attributes of an object at once.
        coarse: dict[Key, Footprint] = {}
        for key, footprint in self.footprints.items():
            whole = coarse.setdefault(key, {})
            for (owner, part), write in footprint.items():
                name = (owner, part if part is None else True)
                whole[name] = whole.get(name, False) or write
        return coarse

    def write(self) -> str:
        """What a token needs for the same pieces to be steps of the same kind."""
        kinds: dict[Path, dict[int, str]] = {}
        for (path, number), (_, write, reads, writes) in self.labels.items():
            kinds.setdefault(path, {})[number] = ("W" if write else "R") if reads or writes else "w" if write else "r"
        tasks = []
        for path, by_number in kinds.items():
            letters = "".join(by_number.get(number, "r") for number in range(max(by_number) + 1))
            tasks.append(f"{'.'.join(map(str, path))}{letters}")
        return "_".join(tasks)

    def _read(self, text: str) -> None:
        self.groups, self.parts = [[EVERYTHING]], [[[EVERYTHING]]]
        labels = {"w": (0, True, 0, 0), "R": (0, False, 1, 0), "W": (0, True, 0, 1)}
        for task in filter(None, text.split("_")):
            path_text = task.rstrip("rwRW")
            path = tuple(int(number) for number in path_text.split(".") if number)
            for number, letter in enumerate(task[len(path_text):]):
                if letter in labels:
                    self.labels[path, number] = labels[letter]


def _matters(footprints: dict[Key, Footprint], others: int = 1) -> dict[Name, None]:
    """What somebody changes, and so many others touch."""
    tasks: dict[Name, set[Path]] = {}
    changed: dict[Name, None] = {}
    for (path, _), footprint in footprints.items():
        for name, write in footprint.items():
            tasks.setdefault(name, set()).add(path)
            if write:
                changed[name] = None
    return {name: None for name in changed if len(tasks[name]) > others}


EVERYTHING: Name = ("everything", None)


class Groups:
    """Names, joined into groups."""

    def __init__(self) -> None:
        self.parents: dict[Name, Name] = {}

    def of(self, name: Name) -> Name:
        while (parent := self.parents.get(name, name)) != name:
            name = parent
        return name

    def join(self, one: Name, other: Name) -> None:
        one, other = self.of(one), self.of(other)
        if one != other:
            self.parents[other] = one
