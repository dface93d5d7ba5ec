"""What a coroutine would do next, as far as its code says so without being run: `s.jobs.put(1)` names a queue and a method."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

_UNKNOWN: Any = object()
# What says nothing of a value.
_BESIDE = ("CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL", "RESUME", "NOT_TAKEN")


def calls(frame: types.FrameType) -> Iterator[tuple[Any, str, int]]:
    """Each method that the rest of a frame's code names, and the object whose it is, if that can be told; with its line.

    What was assigned is followed as the lines stand: branches are all looked at, and a loop is not begun anew.
    """
    code = frame.f_code
    known = {name: value for name, value in frame.f_locals.items()}
    line, value = code.co_firstlineno, _UNKNOWN
    for instruction in dis.get_instructions(code):
        line = _line(instruction) or line
        if instruction.offset <= frame.f_lasti or instruction.opname in _BESIDE:
            continue
        name, argument = instruction.opname, instruction.argval
        if name in ("LOAD_ATTR", "LOAD_METHOD"):
            if value is not _UNKNOWN:
                yield value, argument, line
            value = _attribute(value, argument)
        elif name.startswith("STORE_FAST") or name in ("STORE_DEREF", "STORE_NAME"):
            stored, loaded = argument if isinstance(argument, tuple) else (argument, None)
            known[stored] = value
            is_load = name == "STORE_FAST_LOAD_FAST"
            if loaded is not None and not is_load:
                known[loaded] = _UNKNOWN
            value = known.get(loaded, _UNKNOWN) if is_load else _UNKNOWN
        elif name.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")):
            last = argument[-1] if isinstance(argument, tuple) else argument
            value = known.get(last, _UNKNOWN)
        elif name in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = frame.f_globals.get(argument, _UNKNOWN)
        else:
            value = _UNKNOWN


def _line(instruction: dis.Instruction) -> int | None:
    """From 3.13 on an instruction knows its line; before, only the first one of a line does."""
    line = getattr(instruction, "line_number", instruction.starts_line)
    return line if type(line) is int else None


def _attribute(value: Any, name: str) -> Any:
    """An attribute that is just there: no code is run to find it."""
    if isinstance(value, types.ModuleType):
        return vars(value).get(name, _UNKNOWN)
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return _UNKNOWN
    return attributes.get(name, _UNKNOWN) if isinstance(attributes, dict) else _UNKNOWN
