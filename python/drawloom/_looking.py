"""How the interpreter is made to show each instruction, and kept showing it where others look on, too.

Up to CPython 3.11 it is the trace function of a thread, of which there is but one; from 3.12 on a tool of `sys.monitoring`, of which
there are several. Up to 3.13 at least these are not independent of each other:

- Who asks for lines or instructions in the midst of a function (a trace function does) may end what others are shown of it, for good.
  `restart_events` brings it back.
- Who wants to hear no more of a line (`DISABLE`) takes the first instruction of it from everybody else, once.
- Who frees a tool without asking for no events leaves lines shown to nobody (Hypothesis did), with all of the above.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from . import _drawloom

# The tool that is ours, from 3.12 on: those that the documentation names have other numbers.
TOOL = 4
_TOOLS = range(6)
# What a callback returns that wants to hear no more of a place.
DISABLE = sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None

_native_settrace = sys.settrace


def _settrace(function: Any) -> None:
    if not _drawloom.is_controlled():
        return _native_settrace(function)
    if function is not None:
        _drawloom.give_up("a trace function of the program's own, in a version of Python that allows only one")


def _gettrace() -> Any:
    return None if _drawloom.is_controlled() else sys.gettrace()


def _and_restart(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that changes what others are shown, after which we are shown everything again."""

    @functools.wraps(function)
    def changed(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        finally:
            sys.monitoring.restart_events()

    return changed


# What is called instead of functions that would blind us, wherever it is called from.
if sys.version_info >= (3, 12):
    _BLINDING = [(sys, "settrace"), (sys.monitoring, "set_events"), (sys.monitoring, "set_local_events")]
    PATCHES = [(module, name, _and_restart(getattr(module, name))) for module, name in _BLINDING]
    SUBSTITUTES: dict[Any, Any] = {getattr(module, name): instead for module, name, instead in PATCHES}
else:
    PATCHES = []
    SUBSTITUTES = {sys.settrace: _settrace, sys.gettrace: _gettrace}


@contextlib.contextmanager
def instrumented(by_lines: bool = False) -> Iterator[None]:
    """Callbacks before each instruction, while it lasts; and before each line, if asked for."""
    if _drawloom.is_controlled():
        # Its own thread would not be looked at any more.
        raise RuntimeError("an exploration cannot be started from within an exploration")
    if sys.version_info >= (3, 12):
        with _monitored(by_lines):
            yield
    else:
        tracing = sys.gettrace()
        try:
            yield
        finally:
            sys.settrace(tracing)


if sys.version_info >= (3, 12):
    _native_set_events = sys.monitoring.set_events

    @contextlib.contextmanager
    def _monitored(by_lines: bool) -> Iterator[None]:
        monitoring = sys.monitoring
        monitoring.use_tool_id(TOOL, "drawloom")
        events = monitoring.events
        callbacks: dict[int, Callable[..., object]] = {
            events.INSTRUCTION: _drawloom.on_instruction,
            events.PY_UNWIND: _drawloom.on_unwind,
        }
        if by_lines:
            callbacks[events.LINE] = _drawloom.on_line
        for event, callback in callbacks.items():
            monitoring.register_callback(TOOL, event, callback)
        _end_what_nobody_hears()
        with _others_hear_every_line():
            _native_set_events(TOOL, sum(callbacks))
            # What somebody else, or an exploration before, wanted to hear no more of may be what this one does.
            monitoring.restart_events()
            try:
                yield
            finally:
                _native_set_events(TOOL, 0)
                for event in callbacks:
                    monitoring.register_callback(TOOL, event, None)
                monitoring.free_tool_id(TOOL)

    def _end_what_nobody_hears() -> None:
        """Ends events of tools that were freed before these were: up to 3.13 that does not end them."""
        monitoring = sys.monitoring
        for tool in _TOOLS:
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "drawloom")
                if monitoring.get_events(tool):
                    _native_set_events(tool, 0)
                monitoring.free_tool_id(tool)

    @contextlib.contextmanager
    def _others_hear_every_line() -> Iterator[None]:
        """While it lasts, nobody ends to hear of a line."""
        monitoring, line = sys.monitoring, sys.monitoring.events.LINE
        instead: dict[int, tuple[Any, Any]] = {}
        for tool in _TOOLS:
            if tool == TOOL or monitoring.get_tool(tool) is None:
                continue
            heard = monitoring.register_callback(tool, line, None)
            if heard is not None:
                ours = _hearing(heard)
                instead[tool] = heard, ours
                monitoring.register_callback(tool, line, ours)
        try:
            yield
        finally:
            for tool, (heard, ours) in instead.items():
                # Unless it has another one by now.
                now = monitoring.register_callback(tool, line, heard)
                if now is not ours:
                    monitoring.register_callback(tool, line, now)

    def _hearing(heard: Callable[..., Any]) -> Callable[..., Any]:
        # By identity: code is compared by all that is in it. What is kept here has its number for itself.
        enough: dict[tuple[int, int], Any] = {}

        def hear(code: Any, line: int) -> None:
            place = id(code), line
            if place not in enough and heard(code, line) is DISABLE:
                enough[place] = code

        return hear
