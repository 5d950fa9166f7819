"""What every source file keeps to: a test asserts something, and docstrings give shapes of arrays.

Types cannot say shapes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pgs_neo4j

Function = ast.FunctionDef | ast.AsyncFunctionDef
TESTS = Path(__file__).resolve().parents[1]
PACKAGE = Path(pgs_neo4j.__file__).parent
ARRAY_TYPES = re.compile(r"\b(NDArray|Floats|Ints|Bools|np\.ndarray|Vector|Matrix|Array)\b")
SHAPE = re.compile(r"``\([^)]*\)|\((n|m|k|d|p|e)[,)]")


def is_silent(function: Function) -> bool:
    """Whether a test neither asserts nor expects an error, so that it cannot fail."""
    nodes = list(ast.walk(function))
    calls = (ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call))
    names = {call.rpartition(".")[2] for call in calls}
    return function.name.startswith("test_") and not (
        any(isinstance(node, ast.Assert) for node in nodes)
        or names & {"raises", "warns", "fail"}
        or any(name.startswith("assert_") for name in names)
    )


def lacks_shape(function: Function) -> bool:
    """Whether a public function on arrays has a docstring that gives no shape."""
    returned = ast.unparse(function.returns) if function.returns else ""
    signature = f"{ast.unparse(function.args)} -> {returned}"
    silent = not SHAPE.search(ast.get_docstring(function) or "")
    return function.name[0] != "_" and bool(ARRAY_TYPES.search(signature)) and silent


def wrong(source: str, is_wrong: Callable[[Function], bool]) -> Iterator[str]:
    """Yield the names of the functions that are wrong."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function) and is_wrong(node):
            yield node.name


@pytest.mark.parametrize(("folder", "is_wrong"), [(TESTS, is_silent), (PACKAGE, lacks_shape)])
def test_no_function_is_wrong(folder, is_wrong):
    listed = [
        f"{path.relative_to(folder)}:{name}"
        for path in sorted(folder.rglob("*.py"))
        for name in wrong(path.read_text(encoding="utf-8"), is_wrong)
    ]
    assert listed == []


def test_what_is_wrong_is_found():
    tests = (
        "def test_a():\n    assert x\n"
        "def test_b():\n    with pytest.raises(ValueError):\n        x()\n"
        "def test_c():\n    np.testing.assert_allclose(x, y)\n"
        "def test_d():\n    x()\n"
        "def helper():\n    x()\n"
    )
    assert list(wrong(tests, is_silent)) == ["test_d"]
    arrays = (
        'def a(x: NDArray) -> int:\n    """Of ``(n,)``."""\n'
        'def b(x: NDArray) -> int:\n    """Of an array."""\n'
        'def _c(x: NDArray) -> int:\n    """Of an array."""\n'
        'def d(x: int) -> int:\n    """Of a number."""\n'
    )
    assert list(wrong(arrays, lacks_shape)) == ["b"]
