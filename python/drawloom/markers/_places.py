"""Where markers are: which lines of which files."""

from __future__ import annotations

import io
import linecache
import re
import tokenize
from types import CodeType

_MARKER = re.compile(r"#\s*(?:drawloom|frontrun)\s*:\s*([\w.-]+)")

_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


Gates = dict[int, tuple[str, "int | None"]]
"""By line: the marker, and, as a `with` is met again when it is left, the last instruction of entering it."""


class MarkerRegistry:
    """The markers of source files, each of which is read once."""

    def __init__(self) -> None:
        self._files: dict[str, dict[int, str]] = {}

    def of_file(self, file: str) -> dict[int, str]:
        """The markers of a file by the line that they gate."""
        if file not in self._files:
            self._files[file] = _markers("".join(linecache.getlines(file)))
        return self._files[file]

    def get_marker(self, file: str, line: int) -> str | None:
        """The marker that gates a line."""
        return self.of_file(file).get(line)

    def gates(self, code: CodeType) -> Gates | None:
        """What gates the lines of a code, if anything does."""
        markers = self.of_file(code.co_filename)
        if not markers:
            return None
        entered = _withs(code)
        lines = {line for _, _, line in code.co_lines() if line in markers}
        return {line: (markers[line], entered.get(line)) for line in lines} or None


def _withs(code: CodeType) -> dict[int, int]:
    """The last instruction of entering each `with` that begins on a line of its own, by line."""
    entered: dict[int, int] = {}
    for start, end, line in code.co_lines():
        if line is not None and line not in entered:
            source = linecache.getline(code.co_filename, line).lstrip()
            if source.startswith(("with ", "async with ")):
                entered[line] = end
    return entered


def _markers(source: str) -> dict[int, str]:
    if not _MARKER.search(source):
        return {}
    markers: dict[int, str] = {}
    alone: str | None = None
    code: set[int] = set()
    comments: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found = _MARKER.search(token.string)
                if found:
                    comments[token.start[0]] = found.group(1)
            elif token.type not in _LAYOUT:
                code.update(range(token.start[0], token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass
    for line in sorted(code | set(comments)):
        if line in comments and line not in code:
            alone = comments[line]
        elif line in comments:
            markers[line] = comments[line]
            alone = None
        elif alone is not None:
            markers[line] = alone
            alone = None
    return markers
