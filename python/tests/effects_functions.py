"""What the oracle is run over: functions, types and methods of the interpreter and of its modules that are written in C;
and the instructions that do as much as such functions."""

import builtins
import importlib
import sys
import sysconfig
import types
import warnings
from pathlib import Path

import effects_shapes as shapes
from effects_oracle import says_so

from drawloom import _types
from drawloom._drawloom import EFFECTS
from drawloom._looking import instrumented

NAMES = {number: name for name, number in EFFECTS.items()}

# Modules that do something when they are imported, or are there to test the interpreter.
NOT_IMPORTED = ("_tkinter", "_test", "xx", "_xx", "_ctypes_test", "idlelib", "antigravity", "readline", "nis", "ossaudiodev", "spwd",
                "_drawloom", "_interp")
# Functions that the oracle must not call, and why.
NOT_CALLED = {
    "input": "waits for somebody to type",
    "breakpoint": "waits for somebody to type",
    "breakpointhook": "waits for somebody to type; takes any arguments",
    "__breakpointhook__": "the same",
    "exec": "runs its argument",
    "eval": "runs its argument",
    "__import__": "imports its argument",
    "exit": "ends the process",
    "quit": "ends the process",
    "id": "an address, which is another one each time",
    "umask": "changes the process",
    "set_inheritable": "changes descriptors of the process",
    "urandom": "is different each time",
    "getrandom": "is different each time; may wait",
    "sched_yield": "gives up the processor",
    "audit": "runs hooks of whoever has added one",
    "get_terminal_size": "a matter of the terminal",
    "print": "is called with a file of its own by an instruction",
    "_getframe": "the stack of the oracle",
    "_getframemodulename": "the stack of the oracle",
    "exc_info": "of the thread that asks",
    "exception": "of the thread that asks",
    "getrefcount": "counts the references of the oracle",
    "locals": "the names of the oracle",
    "globals": "the names of the oracle",
    "_ThreadHandle": "a handle of no thread",
    "_current_frames": "the stacks of all threads",
    "_register_task": "what asyncio keeps of its tasks; takes anything, and breaks what asks for them later",
    "_unregister_task": "the same",
    "_enter_task": "the same",
    "_leave_task": "the same",
    "_set_running_loop": "the same",
    "register": "registers a codec for the process",
    "unregister": "the same",
    "register_error": "the same, of what to do about errors",
    "_forget_codec": "the same",
    "_unregister_error": "the same",
    "cycle": "is endless, which `list` does not notice",
    "count": "the same, of itertools",
}
NOT_CALLED_METHODS = {
    "__del__", "__subclasshook__", "__init_subclass__", "__set_name__", "__getnewargs_ex__", "__class_getitem__", "__subclasses__",
    # Of generators that the oracle itself runs.
    "throw",
}
# Effects that are steps of their own, which other tests are about; and substitutes, which are written in Python.
OTHERS = {"LOCK_ACQUIRE", "LOCK_RELEASE", "LOCK_RELEASE_ALL", "LOCK_ACQUIRE_AGAIN", "LOCK_QUERY", "LOCK_OTHER", "FOREIGN", "SUBSTITUTED"}


def modules():
    """All modules of this interpreter that are written in C."""
    names = set(sys.builtin_module_names)
    dynamic = sysconfig.get_config_var("DESTSHARED") or ""
    if dynamic and Path(dynamic).is_dir():
        names |= {path.name.split(".")[0] for path in Path(dynamic).iterdir() if path.suffix == ".so"}
    for name in sorted(names):
        if not name.startswith(NOT_IMPORTED):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    yield importlib.import_module(name)
                except ImportError:
                    continue


_C_FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


def all_functions():
    """Everything that can be called, by name: functions, types, and methods of types with these types."""
    found, kinds = {}, {}
    for module in (builtins, *modules()):
        for name, value in sorted(vars(module).items()):
            if isinstance(value, type):
                kinds.setdefault(id(value), (f"{module.__name__}.{name}", value))
            elif isinstance(value, _C_FUNCTIONS):
                found.setdefault(id(value), (f"{module.__name__}.{name}", value, None))
    for name, shape in shapes.one_deep().items():
        kind = type(shape(shapes.Build()))
        kinds.setdefault(id(kind), (f"{kind.__module__}.{kind.__name__}", kind))
    for kind in (shapes.Attributed, shapes.OwnList, shapes.OwnDict, shapes.OwnSet, shapes.OwnTuple, shapes.OwnError, shapes.Point):
        found.setdefault(id(kind), (kind.__name__, kind, None))
    for name, kind in kinds.values():
        if not issubclass(kind, BaseException) or kind.__module__ == "builtins":
            found.setdefault(id(kind), (name, kind, None))
        for attribute, value in sorted(vars(kind).items()):
            if isinstance(value, _C_FUNCTIONS):
                found.setdefault(id(value), (f"{name}.{attribute}", value, kind))
            elif isinstance(value, (classmethod, staticmethod)):
                bound = getattr(kind, attribute, None)
                if isinstance(bound, _C_FUNCTIONS):
                    found.setdefault(id(value), (f"{name}.{attribute}", bound, None))
    return list(found.values())


def tabled():
    """Those of which the table says something: (name, function, type, effect); those that are coarse, and say so; and those that
    are left out."""
    with instrumented():
        return _tabled()


def _tabled():
    known, coarse, left = [], [], []
    for name, function, kind in all_functions():
        last = name.rsplit(".", 1)[-1]
        if kind is None and last in NOT_CALLED or kind is not None and last in NOT_CALLED_METHODS or name in NOT_CALLED:
            left.append(name)
            continue
        # What is not known and does not say so is taken for known: classes that look as those in Python do, say, which are
        # judged by what they inherit from.
        effect = NAMES[_types.classify(function)]
        if effect == "UNKNOWN" and says_so(function):
            coarse.append(name)
        elif effect in OTHERS:
            left.append(name)
        else:
            known.append((name, function, kind, effect))
    return known, coarse, left


# Instructions: how many operands, and what is done.
INSTRUCTIONS = [
    *((2, f"return a0 {operator} a1") for operator in (
        "==", "!=", "<", "<=", "in", "not in", "+", "-", "*", "%", "|", "&", "^", "/", "//", "**", "@", "<<", "is", "and", "or")),
    *((2, f"a0 {operator} a1\nreturn a0") for operator in ("+=", "-=", "*=", "|=", "&=", "^=", "%=")),
    *((1, f"return {source}") for source in (
        "not a0", "1 if a0 else 2", "a0[0:1]", "[*a0]", "(*a0,)", "{*a0}", "{**a0}", "f'{a0}'", "f'{a0!r}'", "f'{a0!s:>9}'", "f'{a0:}'",
        "-a0", "~a0", "+a0", "a0.x", "a0.x.x", "a0[0]", "a0['x']", "a0[-1]", "[item for item in a0]", "{item: 1 for item in a0}",
        "len(a0)", "(lambda *given: len(given))(*a0)", "(lambda **given: sorted(given))(**a0)", "dict(**a0)", "max(*a0)", "[[*item] for item in a0]",
        "sorted(a0, key=len)", "sorted(a0, key=str)", "min(a0, key=len, default=1)", "'%s' % (a0,)", "'%r' % [a0]", "'{}'.format(a0)", "'{!r:}'.format([a0])",
        "'{.x}'.format(a0)", "'{0.x}{0.x}'.format(a0)", "'{a.x}'.format(a=a0)", "'{[0].x}'.format(a0)", "'{x}'.format_map(a0)", "'{x.x}'.format_map(a0)",
        "'{x}'.format(**a0)", "'{a}'.format(**{'a': a0})", "'%(x)s' % a0", "any(a0)", "all(a0)", "list(filter(None, a0))", "list(map(bool, a0))",
        "print(a0, file=__import__('io').StringIO())", "sum(a0, start=[])", "int(a0, base=2)", "isinstance(a0, list)",
        "list(zip(a0, a0, strict=True))", "dict(a0, x=1)", "str(a0, encoding='utf-8')", "str(object=a0)", "bytes(a0)", "a0.__class__", "a0.__doc__",
        "repr(vars(a0))", "dict(vars(a0))", "vars(a0) == {'x': 0}", "a0.__dict__", "hash(a0)", "a0.x.append(1)", "a0[0].append(1)", "a0['x'].append(1)",
        "next(iter(a0))", "list(iter(a0))", "dict.fromkeys(a0)", "''.join(a0)", "b''.join(a0)", "a0.sort()", "a0.sort(key=len)", "a0.sort(key=str)",
    )),
    (1, "a, = a0\nreturn a"),
    (1, "a, b = a0\nreturn a"),
    (1, "a, *b = a0\nreturn b"),
    (1, "for a, b in a0: return a, b"),
    (1, "for a, in a0: return a"),
    (1, "found = []\nfor a in a0:\n found.append(a)\n if len(found) > 8: break\nreturn found"),
    (1, "def inner():\n yield from a0\nreturn list(zip(inner(), range(9)))"),
    (1, "match a0:\n case [a]: return 1\n case {'x': 0}: return 2\n case {'x': a, **b}: return 3, b\nreturn 4"),
    (1, "with a0 as a: return 1"),
    (1, "raise a0"),
    (1, "try: raise KeyError\nexcept a0: return 1"),
    (1, "assert a0"),
    (1, "while a0: return 1\nreturn 2"),
    (1, "del a0[0]"),
    (1, "del a0['x']"),
    (1, "del a0.x"),
    (1, "del a0[:]"),
    (2, "a0[0] = a1"),
    (2, "a0['x'] = a1"),
    (2, "a0.x = a1"),
    (2, "a0[:] = a1"),
    (2, "return a0[a1]"),
    (2, "del a0[a1]"),
    (2, "return f'{a0:{a1}}'"),
    (2, "return sorted(a0, key=a1)"),
    (2, "return max(a0, default=a1)"),
    (2, "return max(a0, key=a1)"),
    (2, "return a0 < a1 < a0"),
    (2, "a0.sort(key=a1)"),
    (2, "return a0.count(a1)"),
    (2, "return a0.index(a1)"),
    (2, "return a0.get(a1)"),
    (2, "return a0.remove(a1)"),
    (2, "return a0.extend(a1)"),
    (2, "return a0.update(a1)"),
    (2, "return a0.update(x=a1)"),
    (2, "return a0.join(a1)"),
    (2, "return [a0, a1] == [a1, a0]"),
    (2, "return (a0, 1) < (a1, 2)"),
    (2, "return a0 in (a1, 1)"),
    (2, "return a0 in [a1]"),
    (2, "return list(map(a1, a0))"),
    (2, "return list(filter(a1, a0))"),
    (2, "return getattr(a0, a1)"),
    (2, "return hasattr(a0, a1)"),
    (2, "return a0.format(a1)"),
    (2, "return a0 % a1"),
]
