"""Names of objects that hold from one execution to the next, as far as they can be had.

An object has one name throughout an execution, and no two objects have the same one. That it has the same in the next
is not needed for anything to be right, but makes that less has to be found out anew.
"""

from __future__ import annotations

import gc
import sys
import types
from collections import deque
from typing import Any

from .._code import is_foreign
from ._knowledge import EVERYTHING, Footprint, Name, Path

# Nothing below these can be changed, or it is not reached through them.
_LEAVES = (str, bytes, int, float, complex, type(None), type, types.ModuleType, types.CodeType, types.FrameType,
           types.BuiltinFunctionType)
# Before the names of files, peers and databases.
OUTSIDE = "outside "
# By these tasks of asyncio wait for each other and are called.
_OF_WAITS = {"Future", "Task", "Handle", "TimerHandle"}
_CONTAINERS = {"dict", "list", "set", "deque", "defaultdict", "OrderedDict", "Counter", "bytearray"}
# What is beyond is named when it is met.
_MOST = 5000


class Names:
    """Of one execution."""

    def __init__(self, containers: dict[str, str | None] | None = None) -> None:
        self.known: dict[int, str] = {}
        # What the program calls containers, as far as somebody has asked: the same from one execution to the next.
        self.containers = {} if containers is None else containers
        self.kept: list[Any] = []
        self.met: dict[Path, int] = {}
        # How many classes have the same name.
        self.classes: dict[str, int] = {}

    def find_all(self, *roots: Any) -> None:
        """Names what can be reached from `roots`, in an order that is the same each time."""
        waiting = deque(roots)
        while waiting and len(self.kept) < _MOST:
            thing = waiting.popleft()
            if isinstance(thing, _LEAVES) or id(thing) in self.known or _is_globals(thing):
                continue
            if isinstance(thing, types.FunctionType) and is_foreign(thing.__code__.co_filename):
                continue
            self.known[id(thing)] = f"{type(thing).__name__} {len(self.kept)}"
            self.kept.append(thing)
            # What lies in a set lies there in any order: it is named when it is met.
            waiting.extend(() if isinstance(thing, (set, frozenset)) else gc.get_referents(thing))
            if isinstance(thing, types.FunctionType):
                names = thing.__code__.co_names
                waiting.extend(thing.__globals__[name] for name in names if name in thing.__globals__)

    def give(self, thing: Any, name: str) -> None:
        """Names something that others keep alive, whoever touches it first."""
        self.known[id(thing)] = name

    def attribute(self, thing: Any) -> str | None:
        """What the program calls something: the attribute, variable or element that it is, where it was found first."""
        for owner in self.kept:
            for name, value in _members(owner):
                if value is thing:
                    return name
                if isinstance(value, (list, tuple)):
                    at = next((at for at, one in enumerate(value) if one is thing), None)
                    if at is not None:
                        return f"{name}[{at}]"
                elif type(value) is dict:
                    key = next((key for key, one in value.items() if one is thing), None)
                    if isinstance(key, (str, int)):
                        return f"{name}[{key!r}]"
        return None

    def container(self, known: str) -> str | None:
        """What the program calls a list or a dict, by its name here: the attribute of an object that it is."""
        if known not in self.containers:
            self.containers[known] = self._owner_of(known)
        return self.containers[known]

    def _owner_of(self, known: str) -> str | None:
        kind, _, number = known.partition(" ")
        if kind not in _CONTAINERS or not number.isdigit() or int(number) >= len(self.kept):
            return None
        thing = self.kept[int(number)]
        for owner in self.kept:
            for name, value in _members(owner):
                if value is thing:
                    return name if isinstance(owner, types.FunctionType) else f"{type(owner).__name__}.{name}"
        return None

    def name(self, thing: Any, by: Path) -> str:
        """The name of something that the task `by` has touched; it is kept alive by others."""
        known = self.known.get(id(thing))
        if known is not None:
            return known
        if isinstance(thing, str):
            name = OUTSIDE + thing
        elif isinstance(thing, type):
            name = f"{thing.__module__}.{thing.__qualname__}"
            number = self.classes[name] = self.classes.get(name, 0) + 1
            name = name if number == 1 else f"{name} {number}"
        elif _is_globals(thing):
            name = f"module {thing.get('__name__')}"
        else:
            number = self.met[by] = self.met.get(by, 0) + 1
            name = f"{type(thing).__name__} {number} of {'.'.join(map(str, by))}"
        self.known[id(thing)] = name
        return name

    def footprint(self, touched: list[tuple[Any, Any, bool]], by: Path) -> Footprint:
        """What was touched, by name."""
        footprint: Footprint = {}
        for owner, part, write in touched:
            name: Name = (None if owner is None else self.name(owner, by), part)
            footprint[name] = footprint.get(name, False) or write
        return footprint


def _members(owner: Any) -> list[tuple[str, Any]]:
    """Attributes of an object, or what a function has from around it."""
    if isinstance(owner, types.FunctionType):
        code, cells = owner.__code__, owner.__closure__ or ()
        around = [(name, _content(cell)) for name, cell in zip(code.co_freevars, cells)]
        return around + [(name, owner.__globals__[name]) for name in code.co_names if name in owner.__globals__]
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        slots = getattr(type(owner), "__slots__", ())
        names = [slots] if isinstance(slots, str) else list(slots)
        return [(name, getattr(owner, name)) for name in names if hasattr(owner, name)]
    return list(attributes.items()) if isinstance(attributes, dict) else []


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _is_globals(thing: Any) -> bool:
    return type(thing) is dict and "__builtins__" in thing


def parts_in_words(parts: list[list[Name]], names: Names) -> list[str]:
    """What the parts of a group are called in reports: those that are the program's own. How a library has tasks wait for each other is
    no state that they race for. Where other things of a library are among them, a queue say, none has a name: what is raced for may
    be one of these."""
    owners = [str(owner) for part in parts for owner, _ in part if owner is not None]
    if any(_is_of_library(owner) and not _is_of_waits(owner) for owner in owners):
        return ["" for _ in parts]
    own = [[name for name in part if _is_of_program(name)] for part in parts]
    return [in_words(part, names) if part else "" for part in own]


def _is_of_program(name: Name) -> bool:
    owner = str(name[0])
    return name != EVERYTHING and name[0] is not None and " of " not in owner and not _is_of_library(owner)


def _is_of_library(owner: str) -> bool:
    kind = owner.partition(" ")[0]
    return any(hasattr(library, kind) for library in map(sys.modules.get, ("asyncio", "trio")) if library is not None)


def _is_of_waits(owner: str) -> bool:
    return owner.partition(" ")[0] in _OF_WAITS


def in_words(group: list[Name], names: Names) -> str:
    """What a group of names is called in reports."""
    words = []
    for owner, part in group:
        called = None if owner is None else names.container(str(owner))
        if called is not None:
            kind, part = called, None
        elif owner is not None and str(owner).startswith(OUTSIDE):
            kind = str(owner).removeprefix(OUTSIDE)
        else:
            kind = str(owner).partition(" ")[0] if owner is not None else "*"
        word = kind if not isinstance(part, str) else f"{kind}.{part}"
        if word not in words:
            words.append(word)
    shown = [word for word in words if not word.split(".")[-1].startswith("_")] or words
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")
