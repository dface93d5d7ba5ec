"""Holds what is taken for the layout of frames against the interpreter that runs."""

from __future__ import annotations

from . import _drawloom
from ._drawloom import KINDS


def _subject() -> tuple[str, dict[str, object]]:
    source = """
def subject(obj, items, key):
    obj.first = items[key]
    for x in items:
        with_both = (obj, obj.first)
    pair = obj, "first"
    getattr(*pair)
    def inner():
        return obj
    return inner(), key in items
"""
    return source, {}


def verify() -> None:
    """Raises ImportError if this interpreter keeps its operands elsewhere."""
    from ._looking import instrumented

    class Thing:
        first = 0

    source, names = _subject()
    exec(compile(source, "<drawloom self-test>", "exec"), names)
    subject, thing, items, key = names["subject"], Thing(), {"k": 1}, "k"
    called = lambda: subject(thing, items, key)  # type: ignore[operator]  # noqa: E731
    with instrumented():
        seen = _drawloom.observe(called)
    kinds = {number: name for name, number in KINDS.items()}
    for kind, expected in (
        ("ITEM_LOAD", [id(items)]),
        ("ATTR_STORE", [id(thing)]),
        ("ATTR_LOAD", [id(thing)]),
        ("CONTAINS", [id(items)]),
        ("WHOLE_READ", [id(items)]),
        ("CALL_EX", [id(getattr)]),
        # To whom `inner` and `subject` return.
        ("RETURN", [id(subject.__code__), id(called.__code__)]),  # type: ignore[attr-defined]
    ):
        found = [address for number, address in seen if kinds[number] == kind]
        if found[:len(expected)] != expected:
            raise ImportError(f"this CPython keeps its operands in an unknown place ({kind})")
