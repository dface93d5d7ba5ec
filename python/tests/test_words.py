"""What Python shows its users is in plain English: no phrase of `.ci/plain-english.txt` is in messages, nor in public docstrings."""

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "drawloom"
# Modules whose functions and classes users call.
PUBLIC = ["__init__.py", "_explore.py", "_options.py", "_result.py", "_testing.py", "pytest_plugin.py", "markers", "frontrun"]
BODIES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def phrases():
    lines = (ROOT / ".ci" / "plain-english.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def is_public(node):
    return isinstance(node, ast.Module) or not node.name.startswith("_")


def texts(path):
    """The strings of a module: messages, and docstrings of what is public in modules that are."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    private = set()
    shown = path.relative_to(PACKAGE).parts[0] in PUBLIC
    for node in ast.walk(tree):
        if isinstance(node, BODIES) and not (shown and is_public(node)):
            private |= {id(each.value) for each in node.body if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in private and " " in node.value:
            yield node.lineno, node.value


def test_everything_that_users_read_is_in_plain_english():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, text in texts(path):
            words = " ".join(["", *re.findall(r"[\w'’-]+", re.sub(r"`[^`]*`", " code ", text).lower()), ""])
            found += [
                f"{path.relative_to(ROOT)}:{line}: {phrase!r}; say: {better}" for phrase, better in phrases() if f" {phrase} " in words
            ]
    assert not found, "\n".join([f"{len(found)} places", *found])
