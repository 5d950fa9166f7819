"""Finds Cypher statements in the strings of Python source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

GAP = "\N{HORIZONTAL ELLIPSIS}"  # stands for a value that is only known at run time
STATEMENT = re.compile(
    r"""
      \b(?:OPTIONAL\s+)?MATCH\s+(?:\w+\s*=\s*)?\(       # a pattern
    | (?i:\bmatch\s*\(\w*[:)].*\breturn\b)
    | \bMERGE\s*\(
    | \bCREATE\s*(?:\(|(?:OR\s+REPLACE\s+)?(?:\w+\s+)?(?:CONSTRAINT|INDEX|DATABASE)\b)
    | \bDROP\s+(?:CONSTRAINT|INDEX|DATABASE)\b
    | \bSHOW\s+(?:\w+\s+)?(?:CONSTRAINTS?|INDEXE?S?|PROCEDURES?|TRANSACTIONS?|DATABASES?)\b
    | \bCALL\s*(?:\{|\([\w\s,]*\)\s*\{|(?:[\w…]+\.)*[\w…]+\s*\()
    | \bUNWIND\s+\S.*\bAS\b
    | \bFOREACH\s*\(
    | \bLOAD\s+CSV\b
    | \b(?:DETACH\s+)?DELETE\s+\w+\s*(?:$|,|\})
    | \bSET\s+\w+(?:\.\w+\s*\+?=|\s*\+=|:\w)
    | \bREMOVE\s+\w+[.:]\w
    | ^\s*(?:WITH\b.*\b)?RETURN\s+\S                    # a statement that reads nothing
    | \bRETURN\s+(?:DISTINCT\s+)?[\w.…()*]+\s+AS\s+\w
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def iterate_strings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string: joined by ``+``, formatted, or plain; no docstrings."""
    tree = ast.parse(source)
    seen = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):  # outer nodes come before their parts
        if id(node) in seen:
            continue
        text = _text(node)
        if text is not None:
            seen.update(id(part) for part in ast.walk(node))
            yield node.lineno, text  # type: ignore[attr-defined]


def find_statements(source: str) -> list[tuple[int, str]]:
    """Line and text of the strings that look like a statement or a part of one."""
    return [(line, text) for line, text in iterate_strings(source) if STATEMENT.search(text)]


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = body[0] if body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _text(node: ast.AST) -> str | None:
    """The text of a string expression, with a gap for what is formatted into it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or GAP for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        left, right = _text(node.left), _text(node.right)
        if left is None and right is None:
            return None
        return (left or GAP) + (right or GAP)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "join"
        and _text(node.func.value) is not None
        and node.args
        and isinstance(node.args[0], ast.List | ast.Tuple)
    ):
        separator = _text(node.func.value) or ""
        return separator.join(_text(part) or GAP for part in node.args[0].elts)
    return None
