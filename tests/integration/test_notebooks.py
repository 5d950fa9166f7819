"""The notebooks of the manual, cell by cell, against a real database."""

from __future__ import annotations

import ast
import json
from importlib.util import find_spec
from inspect import isawaitable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import pgs_neo4j.manual
from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import KNOBS
from tests.graphs import papers

FOLDER = Path(pgs_neo4j.manual.__file__).parent / "notebooks"
AWAITED = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def cells(name: str) -> list[tuple[str, bool]]:
    """The code cells of a notebook, and whether each needs an extra."""
    written = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))
    return [
        ("".join(cell["source"]), "needs-extra" in cell["metadata"].get("tags", ()))
        for cell in written["cells"]
        if cell["cell_type"] == "code"
    ]


async def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as Jupyter does, and return its last value."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        return await _run(compile(source, "cell", "exec", AWAITED), names)
    await _run(compile(ast.Module(before, []), "cell", "exec", AWAITED), names)
    return await _run(compile(ast.Expression(last.value), "cell", "eval", AWAITED), names)


async def _run(code: CodeType, names: dict[str, Any]) -> Any:
    value = eval(code, names)  # noqa: S307
    return await value if isawaitable(value) else value


@pytest.fixture
async def _settings(
    db: Database, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await papers(db)
    monkeypatch.chdir(tmp_path)
    knobs = {f"PGS_{name.upper()}": str(value) for name, value in KNOBS.items()}
    for name, value in {**endpoint.environment(), **knobs, "PGS_CACHE": "false"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.thorough
@pytest.mark.usefixtures("_settings")
async def test_the_notebooks_run_from_top_to_bottom() -> None:
    shown: dict[str, list[str]] = {}
    for name in ("answer", "partitions"):
        names: dict[str, Any] = {}
        for source, needs_extra in cells(name):
            if needs_extra and find_spec("anywidget") is None:
                continue
            value = await run(source, names)
            if hasattr(value, "_repr_html_"):
                assert "<" in value._repr_html_()
                shown.setdefault(name, []).append(type(value).__name__)
            elif isinstance(value, list):
                assert value, source
    assert shown["answer"] == ["Plan", "Answer", "Coverage", "Coverage"]
    assert shown["partitions"][:2] == ["Generation", "Routing"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    written = json.loads(path.read_text("utf-8"))
    assert (written["nbformat"], bool(written["cells"])) == (4, True)
    code = [cell for cell in written["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in written["cells"]}) == len(written["cells"])
