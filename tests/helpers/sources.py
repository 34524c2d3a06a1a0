"""The add-on's sources, each read and parsed once."""

import ast
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@cache
def parsed(text: str) -> ast.Module:
    """Nobody changes it: it is the same for everyone who asks."""
    return ast.parse(text)


@cache
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """All that is in it, as `ast.walk` finds it."""
    return tuple(ast.walk(parsed(text)))


@cache
def add_on_sources() -> dict[str, str]:
    """By the path of a file below ik_addon its text."""
    root = CHECKOUT / "ik_addon"
    found = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    assert "__init__.py" in found
    return found
