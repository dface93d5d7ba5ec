"""What is said of an invariant that does not hold: its source, and the values that it reads.

The values are read without running code of the program: no property, no `__getattr__`, no `__repr__`. So nothing of it is
a step, nothing can wait or fail, and the same state is always told in the same words.
"""

from __future__ import annotations

import ast
import collections
import dis
import enum
import functools
import inspect
import linecache
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

BROKEN = "the invariant does not hold"
_MOST_VALUES, _MOST_ELEMENTS, _MOST_DEPTH = 6, 6, 3
_LONGEST_VALUE, _LONGEST_SOURCE = 80, 120

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Invariant:
    """An invariant, and what it says if it is broken."""

    def __init__(self, function: Any) -> None:
        is_bound = isinstance(function, types.MethodType)
        self.bound = [function.__self__] if is_bound else []
        function = function.__func__ if is_bound else function
        self.function = function if isinstance(function, types.FunctionType) else None
        self.lines: list[str] = []
        self.node: _Function | None = None
        if self.function is not None:
            # While an execution runs, files are under control.
            self.lines = linecache.getlines(self.function.__code__.co_filename, self.function.__globals__)
        self.source = "".join(self.lines)

    def broken(self, state: Any) -> str:
        """The message: what was asked in the first line, and the values in others."""
        try:
            return self._told(state)
        except Exception:
            # Source that is not that of the code, or a state like no other: it is broken all the same.
            return BROKEN

    def _told(self, state: Any) -> str:
        if self.function is None or not self.lines:
            return BROKEN
        source = self.source
        if self.node is None:
            self.node = _node_of(self.function.__code__, source)
            self.lines = self.lines if self.node else []
        if self.node is None:
            return BROKEN
        asked, reads = _expression(self.node, source)
        reader = _Reader(self.function, [*self.bound, state], self.node, source)
        values = dict.fromkeys(f"{name} is {value}" for each in reads for name, value in reader.values(each))
        return "\n".join([f"{BROKEN}: `{asked}`", *list(values)[:_MOST_VALUES]])


def _node_of(code: types.CodeType, source: str) -> _Function | None:
    """The function in its source, if it is the only one that it can be."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, _Function) and _is_of(node, code)]
    if len(found) > 1 and hasattr(code, "co_positions"):
        places = {(line, column) for line, _, column, _ in code.co_positions()}
        found = [node for node in found if (place := _body(node)) and (place.lineno, place.col_offset) in places]
    elif len(found) > 1:
        found = [node for node in found if (body := _body(node)) and _names(body) == {*code.co_names, *code.co_freevars, *code.co_varnames}]
    return found[0] if len({ast.unparse(node) for node in found}) == 1 else None


def _is_of(node: _Function, code: types.CodeType) -> bool:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    arguments = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
    first = min(each.lineno for each in [node, *decorators])
    return (first, name, tuple(arguments)) == (code.co_firstlineno, code.co_name, code.co_varnames[:code.co_argcount])


def _body(node: _Function) -> ast.expr | None:
    return node.body if isinstance(node, ast.Lambda) else None


def _names(body: ast.expr) -> set[str]:
    names = {each.id for each in ast.walk(body) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(body) if isinstance(each, ast.Attribute)}


@functools.lru_cache(maxsize=1024)
def _text(node: ast.AST, source: str) -> str:
    """An expression as it is written. Finding it takes time in proportion to the file, and every execution that fails asks."""
    return _cut(ast.get_source_segment(source, node) or ast.unparse(node), _LONGEST_SOURCE)


def _expression(node: _Function, source: str) -> tuple[str, list[ast.AST]]:
    """What the function returns, as text, and what may be read in it. Of several returns nobody knows which it was."""
    if isinstance(node, ast.Lambda):
        return _text(node.body, source), [node.body]
    returns = [each for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]
    if len(returns) == 1 and returns[0].value is not None:
        return _text(returns[0].value, source), [returns[0].value]
    return node.name, list(node.body)


class _Reader:
    """Reads what an expression reads."""

    def __init__(self, function: types.FunctionType, arguments: list[Any], node: _Function, source: str) -> None:
        self.source = source
        code = function.__code__
        names = code.co_varnames[:code.co_argcount]
        defaults = list(function.__defaults__ or ())
        given = [*arguments, *defaults[len(defaults) - (len(names) - len(arguments)):]] if len(names) > len(arguments) else arguments
        self.names: dict[str, Any] = {**function.__globals__}
        self.names.update((name, cell.cell_contents) for name, cell in zip(code.co_freevars, function.__closure__ or ()) if _is_full(cell))
        # What is set in the function itself is known only where that is done once, by something that can be read.
        self.assigned: dict[str, ast.expr | None] = dict.fromkeys(code.co_varnames)
        stored = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        for each in [] if isinstance(node, ast.Lambda) else node.body:
            if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                self.assigned[each.targets[0].id] = each.value if stored.count(each.targets[0].id) == 1 else None
        for name, value in zip(names, given):
            if name not in stored:
                self.names[name] = value
                del self.assigned[name]
        self.arguments = {name for name in names if name not in stored}

    def values(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        """What is read, and what it was, from left to right."""
        if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.Constant)):
            return
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            try:
                value = self._read(node)
                told = _shown(value)
            except _Unknown:
                told = None
            else:
                if told is None and isinstance(node, ast.Name) and node.id in self.arguments:
                    yield from _fields(node.id, value)
            if told is not None:
                name = _text(node, self.source)
                if name != told:
                    yield name, told
                return
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and self._is_plain(node):
            # An object of which nothing can be told but its own parts, and they were not asked for.
            return
        for child in children:
            yield from self.values(child)

    def _is_plain(self, node: ast.Attribute) -> bool:
        try:
            self._read(node)
        except _Unknown:
            return False
        return True

    def _read(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.assigned:
                assigned = self.assigned[node.id]
                if assigned is None:
                    raise _Unknown
                return self._read(assigned)
            if node.id in self.names:
                return self.names[node.id]
        if isinstance(node, ast.Attribute):
            return _attribute(self._read(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            of, at = self._read(node.value), self._read(node.slice)
            if type(of) in (dict, list, tuple, str) and type(at) in (int, str):
                try:
                    return of[at]
                except (LookupError, TypeError):
                    raise _Unknown from None
        raise _Unknown


class _Unknown(Exception):
    """It cannot be read without running code of the program."""


_STORED = (types.MemberDescriptorType, type(collections.namedtuple("_Pair", "one")("one").__class__.__dict__["one"]))


def _attribute(value: Any, name: str) -> Any:
    try:
        found = inspect.getattr_static(value, name)
    except AttributeError:
        raise _Unknown from None
    if isinstance(found, _STORED):
        try:
            return found.__get__(value, type(value))
        except AttributeError:
            raise _Unknown from None
    if hasattr(type(found), "__get__"):
        raise _Unknown
    return found


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _fields(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """The parts of an object that is asked as a whole, by a method or a property. Of those of a library, nobody asked."""
    if _is_of_a_library(type(value)):
        return
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    if type(own) is dict:
        for field, part in own.items():
            told = _shown(part)
            if told is not None and type(field) is str:
                yield f"{name}.{field}", told


def _is_of_a_library(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return isinstance(file, str) and (file.startswith(_STDLIB) or any(part in file for part in _PACKAGES))


_STDLIB = os.path.join(sysconfig.get_path("stdlib"), "")
_PACKAGES = tuple(os.path.join(os.sep + folder, "") for folder in ("site-packages", "dist-packages"))

_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), frozenset: ("{", "}"), collections.deque: ("[", "]")}
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)


def _shown(value: Any) -> str | None:
    """A value of the types that everybody knows, in its own words; nothing of others."""
    kind = type(value)
    known = kind in _PLAIN or kind in _BRACKETS or kind in _MAPPINGS or isinstance(value, enum.Enum)
    return _cut(_written(value, 0), _LONGEST_VALUE) if known else None


_PLAIN: tuple[type, ...] = (type(None), bool, int, float, complex, str, bytes)


def _written(value: Any, depth: int) -> str:
    kind = type(value)
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value._name_}"
    if kind is int and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    if kind in (str, bytes):
        return repr(value[:_LONGEST_VALUE])
    if kind in _PLAIN:
        return repr(value)
    if kind not in _BRACKETS and kind not in _MAPPINGS:
        return f"<{kind.__name__}>"
    if depth >= _MOST_DEPTH:
        return "…"
    if kind in _MAPPINGS:
        pairs = ((_written(key, depth + 1), _written(each, depth + 1)) for key, each in value.items())
        return "{" + _joined((f"{key}: {each}" for key, each in pairs), len(value)) + "}"
    elements: Iterator[str] = (_written(each, depth + 1) for each in value)
    if kind in (set, frozenset):
        # Their order is that of hashes.
        elements = iter(sorted(elements))
        if not value:
            return f"{kind.__name__}()"
    opening, closing = _BRACKETS[kind]
    comma = "," if kind is tuple and len(value) == 1 else ""
    return f"{opening}{_joined(elements, len(value))}{comma}{closing}"


def _joined(elements: Iterator[str], count: int) -> str:
    first = [element for element, _ in zip(elements, range(_MOST_ELEMENTS))]
    return ", ".join([*first, *([f"… {count - _MOST_ELEMENTS} more"] if count > _MOST_ELEMENTS else [])])


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= longest else f"{text[:longest]}…"


def broken_of(invariant: Any) -> Callable[[Any], str]:
    """What says what is wrong with a state for which the invariant does not hold."""
    return Invariant(invariant).broken


_COMPARES = {"COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT"}


def refuse_if_it_says_nothing(invariant: Any) -> None:
    """Raises if an invariant compares, forgets the result, and has no way to say that something is wrong."""
    function = getattr(invariant, "__func__", invariant)
    if not isinstance(function, types.FunctionType):
        return
    code = function.__code__
    line, forgotten, before = code.co_firstlineno, None, None
    for each in dis.get_instructions(code):
        line = _line_of(each) or line
        if each.opname == "RAISE_VARARGS" or _returns_something(each, before):
            return
        if each.opname == "POP_TOP" and before is not None and before.opname in _COMPARES:
            forgotten = forgotten or line
        before = each
    if forgotten is not None:
        text = linecache.getline(code.co_filename, forgotten, function.__globals__).strip()
        raise ValueError(
            f"the invariant `{code.co_name}` makes a comparison in line {forgotten}, and ignores its result: "
            f"`{_cut(text, _LONGEST_SOURCE)}`; put `return` or `assert` before it")


def _returns_something(each: dis.Instruction, before: dis.Instruction | None) -> bool:
    if each.opname == "RETURN_CONST":
        return each.argval is not None
    if each.opname != "RETURN_VALUE":
        return each.opname in ("YIELD_VALUE", "RETURN_GENERATOR", "GEN_START")
    return before is None or before.opname != "LOAD_CONST" or before.argval is not None


def _line_of(each: dis.Instruction) -> int | None:
    # From 3.13 on the line is always there; before, where it begins.
    line = getattr(each, "line_number", None)
    return line if line is not None else each.starts_line if each.starts_line is not True else None
