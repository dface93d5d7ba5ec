"""What the instructions of a code object do that others could notice.

Which operands an instruction works on, and how deep the stack is then, belongs to the version of CPython; all of
that is here. The callbacks in Rust see only what this module makes of it: rows of
(index, kind, a, b, c, depth, name, line), where operands are counted from the top of the stack.
"""

from __future__ import annotations

import _collections_abc
import codecs
import dis
import encodings
import fnmatch
import functools
import genericpath
import inspect
import io
import os
import pathlib
import posixpath
import re
import socket
import sys
import tempfile
from asyncio import base_events, runners
from concurrent.futures import _base, thread
from types import CodeType
from typing import Any

from ._drawloom import KINDS

VERSION = sys.version_info[:2]
PACKAGE = os.path.dirname(os.path.abspath(__file__))
_OF_FILES = (codecs, encodings, fnmatch, genericpath, io, pathlib, posixpath, socket, tempfile)
_OF_PATTERNS = ("re._compiler", "re._parser", "re._casefix", "sre_compile", "sre_parse")
_UNDER_LOCKS = (base_events, runners, _base, thread)
# Not under test: this package, imports, what pytest puts into assertions; drivers of databases; what shares nothing but
# under locks; and what reckons with names of files and reaches these by functions that are seen themselves.
FOREIGN = (PACKAGE + os.sep, "<frozen importlib", "<frozen zipimport", "<frozen runpy", "<frozen posixpath",
           "<frozen genericpath", "<frozen codecs", "<frozen io",
           *(os.path.join(os.path.dirname(str(socket.__file__)), name) for name in ("ssl.py", "runpy.py")),
           *(str(module.__file__).removesuffix("__init__.py") for module in _OF_FILES + _UNDER_LOCKS),
           *(str(sys.modules[name].__file__) for name in _OF_PATTERNS if name in sys.modules))
# Of this package, what stands for code of the standard library that is seen; and what a path remembers of its file.
SEEN = (os.path.join(PACKAGE, "_outside", "_selector.py"), os.path.join(os.path.dirname(str(pathlib.__file__)), "_os.py"))


def _installed(*path: str) -> tuple[str, ...]:
    """How the path of a package ends where packages are installed: others may have a folder of the same name."""
    return tuple(os.path.join(os.sep + folder, *path) for folder in ("site-packages", "dist-packages"))


_RUN_TESTS = ("_pytest", "pluggy", "pytest", "xdist", "execnet")
_DRIVERS = ("psycopg", "psycopg_binary", "redis", "outcome")
FOREIGN_PARTS = (
    *(part for name in _RUN_TESTS + _DRIVERS for part in _installed(name, "")),
    os.path.join(os.sep + "bin", "pytest"),
    # The loop of trio, of which `_async/_trio_notes.py` tells what is to be known, and methods that were made for it.
    *(part for name in ("_run", "_traps", "_ki", "_generated", "_asyncgens") for part in _installed("trio", "_core", name)),
    " trio._core._", " outcome._",
)
# Single functions, by name and file: whether a class has certain methods does not change, nor whether the system has
# descriptors of processes; what wraps a function is new.
FOREIGN_FUNCTIONS = {
    (function.__code__.co_name, function.__code__.co_filename)
    for module, names in (
        (_collections_abc, ("_check_methods",)),
        (functools, ("update_wrapper",)),
        (sys.modules.get("asyncio.unix_events"), ("can_use_pidfd",)),
        # What a pattern means does not change, whatever is remembered of it.
        (re, ("_compile", "_subx", "_compile_repl", "_compile_template")),
    )
    for function in (inspect.unwrap(getattr(module, name)) for name in names if hasattr(module, name))
}
FOREIGN_FUNCTIONS_OF_TRIO = {
    # Who holds a lock when it ends is a matter of the task's own.
    **dict.fromkeys(("add_parking_lot_breaker", "remove_parking_lot_breaker"), _installed("trio", "_core", "_parking_lot.py")),
    **dict.fromkeys(("coroutine_or_error", "_create"), _installed("trio", "_util.py")),
}

_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
Row = tuple[int, int, int, int, int, int, "str | None", int]

# Instructions with fixed operands: kind, a, b.
FIXED = {
    "LOAD_ATTR": ("ATTR_LOAD", 1, 0),
    "LOAD_METHOD": ("ATTR_LOAD", 1, 0),
    "STORE_ATTR": ("ATTR_STORE", 1, 0),
    "DELETE_ATTR": ("ATTR_STORE", 1, 0),
    "LOAD_GLOBAL": ("GLOBAL_LOAD", 0, 0),
    "LOAD_NAME": ("GLOBAL_LOAD", 0, 0),
    "STORE_GLOBAL": ("GLOBAL_STORE", 0, 0),
    "DELETE_GLOBAL": ("GLOBAL_STORE", 0, 0),
    "BINARY_SUBSCR": ("ITEM_LOAD", 2, 1),
    "STORE_SUBSCR": ("ITEM_STORE", 2, 1),
    "DELETE_SUBSCR": ("ITEM_DELETE", 2, 1),
    "BINARY_SLICE": ("WHOLE_READ", 3, 0),
    "STORE_SLICE": ("WHOLE_WRITE", 3, 0),
    "CONTAINS_OP": ("CONTAINS", 1, 2),
    "UNPACK_SEQUENCE": ("WHOLE_READ", 1, 0),
    "UNPACK_EX": ("WHOLE_READ", 1, 0),
    "GET_ITER": ("WHOLE_READ", 1, 1),
    "GET_YIELD_FROM_ITER": ("WHOLE_READ", 1, 1),
    "GET_LEN": ("SIZE", 1, 0),
    "UNARY_NOT": ("SIZE", 1, 0),
    "TO_BOOL": ("SIZE", 1, 0),
    "LIST_EXTEND": ("WHOLE_READ", 1, 0),
    "SET_UPDATE": ("WHOLE_READ", 1, 0),
    "DICT_UPDATE": ("WHOLE_READ", 1, 0),
    "DICT_MERGE": ("WHOLE_READ", 1, 0),
    "COMPARE_OP": ("COMPARE", 2, 1),
    "FORMAT_SIMPLE": ("DEEP_READ", 1, 0),
    "FORMAT_WITH_SPEC": ("DEEP_READ", 2, 0),
    "CONVERT_VALUE": ("DEEP_READ", 1, 0),
    "SEND": ("NEXT", 2, 0),
    "MATCH_CLASS": ("UNKNOWN", 1, 0),
    "MATCH_KEYS": ("UNKNOWN", 1, 0),
    "BEFORE_WITH": ("ENTER", 1, 0),
    "SETUP_WITH": ("ENTER", 1, 0),
    # What they call is written in Python, or resumed by what follows.
    "BEFORE_ASYNC_WITH": ("ENTER", 1, 0),
    "GET_AITER": ("ENTER", 1, 0),
    "RETURN_VALUE": ("RETURN", 0, 0),
    "RETURN_CONST": ("RETURN", 0, 0),
    "YIELD_VALUE": ("RETURN", 0, 0),
    "IMPORT_STAR": ("UNKNOWN", 1, 0),
    "LOAD_CLASSDEREF": ("UNKNOWN", 1, 0),
}

CELLS = {
    "LOAD_DEREF": "CELL_LOAD",
    "STORE_DEREF": "CELL_STORE",
    "DELETE_DEREF": "CELL_STORE",
}

# The form of a call, as the Rust side knows it: the callable alone; then its object or null; a method and its
# object, or null and the callable.
PLAIN, OBJECT_ABOVE, METHOD_OR_NULL = 0, 1, 2


# From 3.14 on an item is looked up by one of the operators; those that work in place come before it.
ITEM_OPERATOR = 26 if VERSION >= (3, 14) else None

# How many operands there are is worked out where neither a trace function nor the frame tells; of a frame that waits
# for another one to return, up to 3.10.
DEPTHS_WORKED_OUT = (3, 12) <= VERSION < (3, 14)
DEPTHS_OF_CALLERS = VERSION < (3, 11)

# Where an instruction has an argument beyond 255, the beginning of which comes before it, a trace function is called
# at that beginning, and not at the instruction.
HEARD_AT_FIRST = VERSION < (3, 12)

# The names of arguments come right before the call that has them.
NAMES_ARGUMENTS = {"KW_NAMES"} if (3, 11) <= VERSION < (3, 13) else {"LOAD_CONST"}


@functools.cache
def is_foreign(file: str) -> bool:
    """Whether nothing of a file is under test."""
    return (file.startswith(FOREIGN) or any(part in file for part in FOREIGN_PARTS)) and file not in SEEN


@functools.cache
def is_library(file: str) -> bool:
    """Whether a file is one of the standard library, or of an installed package."""
    return file.startswith((_LIBRARY, "<frozen ")) or any(part in file for part in _installed(""))


# Whose code it is: the program's, a library's, that of modules whose objects belong to who uses them, a framework's, that of imports,
# that of asyncio, or of what is a framework to threads alone; or what weak dicts and sets do when an object is gone.
PROGRAM, LIBRARY, PASSED_ON, FRAMEWORK, IMPORTING, AWAITING, BRIDGE, FORGETTING = range(8)
_WEAK = {os.path.join(_LIBRARY, "weakref.py"): "remove", os.path.join(_LIBRARY, "_weakrefset.py"): "_remove"}
_PASSING_ON = {os.path.join(_LIBRARY, *name.split("/")) for name in (
    "weakref.py", "_weakrefset.py", "threading.py", "queue.py", "collections/__init__.py", "_collections_abc.py", "heapq.py",
    "contextlib.py", "asyncio/locks.py", "asyncio/queues.py",
)}


# What may touch a lock, or what each thread has its own of.
_OF_LOCKS = {"CALL", "CALL_EX", "ENTER", "ATTR_LOAD", "ATTR_STORE"}
# Packages that programs are written on top of: their own memory is not looked at, nor that of the libraries that they call. A library
# that a program calls itself (urllib3, blinker) is looked at, though a framework may use it, too.
FRAMEWORKS = (
    "sqlalchemy sqlmodel alembic flask flask_sqlalchemy flask_login flask_wtf werkzeug jinja2 django rest_framework fastapi starlette"
    " pydantic pydantic_core uvicorn httpx requests celery peewee marshmallow"
).split()
_OF_FRAMEWORKS = tuple(part for name in FRAMEWORKS for part in (*_installed(name, ""), *_installed(f"{name}.py")))


_BRIDGES = _installed("anyio", "")
_ASYNCIO = os.path.join(_LIBRARY, "asyncio", "")


@functools.cache
def is_framework(file: str) -> bool:
    """Whether a file is one of a framework."""
    return any(part in file for part in _OF_FRAMEWORKS)


def is_of_framework(thing: Any) -> bool:
    """Whether something that is not written in Python is of a framework."""
    kind = type(thing)
    # Generators of all that Cython compiles have one type, and a method or a function that of the interpreter.
    owner = getattr(thing, "__objclass__", None) or (type(thing.__self__) if hasattr(thing, "__self__") else None)
    for one in (kind, owner, thing if kind.__module__.startswith(("_cython", "builtins")) else None):
        module = getattr(one, "__module__", None)
        if isinstance(module, str) and module.partition(".")[0] in FRAMEWORKS:
            return True
    return False


def is_made_by_framework(code: CodeType) -> bool:
    """Whether a code that runs, and is of no file, was made by a framework: it has the names of one, or is called by one."""
    if not code.co_filename.startswith("<") or code.co_filename.startswith("<frozen "):
        return False
    frame = sys._getframe(2)
    if frame.f_code is not code:
        return False
    module = frame.f_globals.get("__name__", "builtins")
    if module != "builtins":
        return str(module).partition(".")[0] in FRAMEWORKS
    return frame.f_back is not None and is_framework(frame.f_back.f_code.co_filename)


def analyse(code: CodeType) -> tuple[bool, int, int, str, list[Row]]:
    """Whether a code is none under test, whose it is, how many locals it has, its file, and its rows."""
    file, function = code.co_filename, code.co_name
    foreign = is_foreign(file) or (function, file) in FOREIGN_FUNCTIONS
    foreign = foreign or file.endswith(FOREIGN_FUNCTIONS_OF_TRIO.get(function, ()))
    locals_ = code.co_nlocals + len(set(code.co_cellvars) - set(code.co_varnames)) + len(code.co_freevars)
    whose = PASSED_ON if file in _PASSING_ON else LIBRARY if foreign or is_library(file) else PROGRAM
    whose = FRAMEWORK if is_framework(file) or is_made_by_framework(code) else whose
    whose = IMPORTING if file.startswith("<frozen importlib") else BRIDGE if any(part in file for part in _BRIDGES) else whose
    whose = AWAITING if whose == LIBRARY and file.startswith(_ASYNCIO) else whose
    whose = FORGETTING if _WEAK.get(file) == code.co_name else whose
    if foreign:
        return True, whose, locals_, file, []
    instructions = list(dis.get_instructions(code))
    depths = stack_depths(code, instructions) if DEPTHS_WORKED_OUT or DEPTHS_OF_CALLERS else {}
    rows = []
    line = code.co_firstlineno
    names: object = None
    heard_at: int | None = None
    for instruction in instructions:
        line = line_of(instruction) or line
        heard_at = instruction.offset if heard_at is None or not HEARD_AT_FIRST else heard_at
        if instruction.opname == "EXTENDED_ARG":
            continue
        offset, heard_at = heard_at, None
        row = describe(code, instruction)
        names = code.co_consts[instruction.arg or 0] if instruction.opname in NAMES_ARGUMENTS else names
        if row is None:
            continue
        kind, a, b, c, name = row
        if whose == FRAMEWORK and kind not in _OF_LOCKS:
            continue
        if kind == "CALL":
            # What kind of a wait a call is asked for depends on the names of its arguments.
            has_names = c >> 2 or (3, 11) <= VERSION < (3, 13)
            name = "timeout" if has_names and isinstance(names, tuple) and "timeout" in names else None
            names = None
        depth = depths.get(instruction.offset, -1)
        if DEPTHS_WORKED_OUT and depth < 0:
            continue  # nothing leads there
        rows.append((offset // 2, KINDS[kind], a, b, c, max(depth, 0), name, line))
    return False, whose, locals_, file, rows


def line_of(instruction: dis.Instruction) -> int | None:
    if VERSION >= (3, 13):
        return instruction.line_number
    if VERSION >= (3, 11):
        return instruction.positions.lineno if instruction.positions else None
    return instruction.starts_line


def describe(code: CodeType, instruction: dis.Instruction) -> tuple[str, int, int, int, str | None] | None:
    """Kind, operands and name of an instruction; none if nobody could notice it."""
    op, arg = instruction.opname, instruction.arg or 0
    if op in CELLS:
        index = arg if VERSION >= (3, 11) else code.co_nlocals + arg
        return CELLS[op], index, 0, 0, name_of_cell(code, instruction)
    if op in FIXED:
        kind, a, b = FIXED[op]
        named = kind in ("ATTR_LOAD", "ATTR_STORE", "GLOBAL_LOAD", "GLOBAL_STORE")
        return kind, a, b, 0, name_of(code, op, arg) if named else None
    if op == "YIELD_FROM":
        # Up to 3.10: it yields, too, where later versions have another instruction for that.
        return "NEXT", 2, 0, 1, None
    if op == "FOR_ITER":
        return "NEXT", 1, 0, 0, None
    if op == "STORE_NAME" or op == "DELETE_NAME":
        # In the body of a class they are nobody else's yet.
        return ("GLOBAL_STORE", 0, 0, 0, name_of(code, op, arg)) if code.co_name == "<module>" else None
    if op == "LOAD_FROM_DICT_OR_DEREF":
        return "UNKNOWN", 1, 0, 0, None
    if op == "LOAD_FROM_DICT_OR_GLOBALS":
        return "GLOBAL_LOAD", 0, 0, 0, name_of(code, op, arg)
    if VERSION < (3, 13) and op.endswith(("_IF_TRUE", "_IF_FALSE", "_IF_TRUE_OR_POP", "_IF_FALSE_OR_POP")):
        # Whether a container is empty is something that others can change.
        return "SIZE", 1, 0, 0, None
    if op == "BINARY_OP" and arg == ITEM_OPERATOR:
        return "ITEM_LOAD", 2, 1, 0, None
    if op == "BINARY_OP":
        return "OPERATOR", 2, 1, int(arg >= 13), None
    if op.startswith("INPLACE_"):
        return "OPERATOR", 2, 1, 1, None
    if op.startswith("BINARY_"):
        return "OPERATOR", 2, 1, 0, None
    if op == "FORMAT_VALUE":
        return "DEEP_READ", 2 if arg & 4 else 1, 0, 0, None
    return call(op, arg)


def call(op: str, arg: int) -> tuple[str, int, int, int, str | None] | None:
    if op == "CALL":
        form = OBJECT_ABOVE if VERSION >= (3, 13) else METHOD_OR_NULL
        return "CALL", arg + 2, arg, form, None
    if op == "CALL_KW":
        return "CALL", arg + 3, arg, OBJECT_ABOVE | 1 << 2, None
    if op == "CALL_METHOD":
        return "CALL", arg + 2, arg, METHOD_OR_NULL, None
    if op == "CALL_FUNCTION":
        return "CALL", arg + 1, arg, PLAIN, None
    if op == "CALL_FUNCTION_KW":
        return "CALL", arg + 2, arg, PLAIN | 1 << 2, None
    if op == "CALL_FUNCTION_EX":
        if VERSION >= (3, 14):
            return "CALL_EX", 4, 2, 1, None
        more = arg & 1
        return "CALL_EX", (3 if VERSION >= (3, 13) else 2) + more, 1 + more, more, None
    if op == "WITH_EXCEPT_START" and VERSION >= (3, 14):
        return "CALL", 5, 0, OBJECT_ABOVE, None
    if op == "WITH_EXCEPT_START":
        return "CALL", 4 if VERSION >= (3, 11) else 7, 0, PLAIN, None
    return None


def name_of(code: CodeType, op: str, arg: int) -> str:
    shifted = (op == "LOAD_GLOBAL" and VERSION >= (3, 11)) or (op == "LOAD_ATTR" and VERSION >= (3, 12))
    return code.co_names[arg >> 1 if shifted else arg]


def name_of_cell(code: CodeType, instruction: dis.Instruction) -> str:
    if VERSION >= (3, 11):
        return code._varname_from_oparg(instruction.arg)  # type: ignore[attr-defined]
    return (code.co_cellvars + code.co_freevars)[instruction.arg or 0]


def stack_depths(code: CodeType, instructions: list[dis.Instruction]) -> dict[int, int]:
    """How many operands there are before each instruction: the same whenever it is reached."""
    at = {instruction.offset: i for i, instruction in enumerate(instructions)}
    depths: dict[int, int] = {}
    # What a generator or a coroutine is first resumed with lies on its stack, up to 3.10 from the very beginning.
    pending = [(instructions[0].offset, int(VERSION < (3, 11) and bool(code.co_flags & RESUMED)))]
    if VERSION >= (3, 11):
        for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
            # The exception, and if asked for where it was raised, lie above what was there.
            pending.append((entry.target, entry.depth + 1 + int(entry.lasti)))
    while pending:
        offset, depth = pending.pop()
        i = at.get(offset)
        while i is not None and i < len(instructions):
            instruction = instructions[i]
            if instruction.offset in depths:
                break
            depths[instruction.offset] = depth
            op, arg = instruction.opcode, instruction.arg
            arg = arg if op >= dis.HAVE_ARGUMENT else None
            if op in dis.hasjrel or op in dis.hasjabs:
                pending.append((instruction.argval, depth + dis.stack_effect(op, arg, jump=True)))
            if instruction.opname in ENDS:
                break
            depth += effect_of(instruction, op, arg)
            i += 1
    return depths


ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE", "INTERPRETER_EXIT"}
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def effect_of(instruction: dis.Instruction, op: int, arg: int | None) -> int:
    # What a generator or a coroutine is first resumed with: 3.12 does not count that.
    return 1 if instruction.opname == "RETURN_GENERATOR" else dis.stack_effect(op, arg, jump=False)
