"""Docstrings of functions on arrays give shapes, which types cannot say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pgs_neo4j

ARRAY_TYPES = re.compile(r"\b(NDArray|Floats|Ints|Bools|np\.ndarray|Vector|Matrix|Array)\b")
SHAPE = re.compile(r"``\([^)]*\)|\((n|m|k|d|p|e)[,)]")


def without_shape(source: str) -> Iterator[str]:
    """Yield the public functions on arrays whose docstrings give no shape."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
            returned = ast.unparse(node.returns) if node.returns else ""
            signature = f"{ast.unparse(node.args)} -> {returned}"
            if ARRAY_TYPES.search(signature) and not SHAPE.search(ast.get_docstring(node) or ""):
                yield node.name


def test_public_functions_on_arrays_document_shapes():
    package = Path(pgs_neo4j.__file__).parent
    silent = [
        f"{path.relative_to(package)}:{name}"
        for path in sorted(package.rglob("*.py"))
        for name in without_shape(path.read_text(encoding="utf-8"))
    ]
    assert silent == []


def test_a_shape_is_required_of_public_functions_on_arrays_only():
    source = (
        'def a(x: NDArray) -> int:\n    """Of ``(n,)``."""\n'
        'def b(x: NDArray) -> int:\n    """Of an array."""\n'
        'def _c(x: NDArray) -> int:\n    """Of an array."""\n'
        'def d(x: int) -> int:\n    """Of a number."""\n'
    )
    assert list(without_shape(source)) == ["b"]
