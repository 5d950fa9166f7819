"""A test that asserts nothing cannot fail. No test is like that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def without_assertion(source: str) -> Iterator[str]:
    """Yield the tests that neither assert nor expect an error."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_silent(node):
            yield node.name


def _is_silent(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    nodes = list(ast.walk(function))
    calls = (ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call))
    names = {call.rpartition(".")[2] for call in calls}
    return function.name.startswith("test_") and not (
        any(isinstance(node, ast.Assert) for node in nodes)
        or names & {"raises", "warns", "fail"}
        or any(name.startswith("assert_") for name in names)
    )


def test_every_test_asserts():
    silent = [
        f"{path.relative_to(TESTS)}:{name}"
        for path in sorted(TESTS.rglob("*.py"))
        for name in without_assertion(path.read_text(encoding="utf-8"))
    ]
    assert silent == []


def test_an_assertion_may_be_a_statement_or_an_expected_error():
    source = (
        "def test_a():\n    assert x\n"
        "def test_b():\n    with pytest.raises(ValueError):\n        x()\n"
        "def test_c():\n    np.testing.assert_allclose(x, y)\n"
        "def test_d():\n    x()\n"
        "def helper():\n    x()\n"
    )
    assert list(without_assertion(source)) == ["test_d"]
