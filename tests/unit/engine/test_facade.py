"""The facade is complete and typed: no command reaches around it, no signature says Any."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import pgs_neo4j
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.core import Core
from pgs_neo4j.llm.factory import Readers
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply

PACKAGE = Path(pgs_neo4j.__file__).parent
ENGINE = sorted((PACKAGE / "engine").glob("*.py"))
ABOVE = sorted([*(PACKAGE / "cli").rglob("*.py"), PACKAGE / "engine" / "schedule.py"])


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: path.stem)
def test_no_public_signature_says_any(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_") and not node.name.startswith("__"):
                continue
            everything = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            everything += [arg for arg in (node.args.vararg, node.args.kwarg) if arg]
            notes = [arg.annotation for arg in everything if arg.annotation] + [node.returns]
            names = {name.id for note in notes if note for name in ast.walk(note)
                     if isinstance(name, ast.Name)}  # fmt: skip
            assert "Any" not in names, f"{path.stem}.{node.name}"


@pytest.mark.parametrize("path", ABOVE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_above_reaches_for_the_database(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    reaches = [node.lineno for node in ast.walk(tree)
               if isinstance(node, ast.Attribute) and node.attr in ("db", "_core")]  # fmt: skip
    assert not reaches


def test_the_views_share_what_is_set_on_the_engine() -> None:
    nobody: Any = None
    llm, other = ScriptedLLM(contract_reply), ScriptedLLM(contract_reply, name="another")
    shared = Core(
        nobody, pgs_neo4j.Settings(), pgs_neo4j.PGSConfig(), Readers(llm, llm, llm, llm, llm)
    )
    pgs = PGS(shared)
    pgs.sweep_llm = other
    pgs.settings = pgs.settings.model_copy(update={"graph": "papers"})
    assert shared.sweep_llm is pgs.sweep_llm is other
    assert shared.settings.graph == "papers"


def test_every_exported_name_can_be_imported() -> None:
    from pgs_neo4j import engine

    assert all(getattr(engine, name) is not None for name in engine.__all__)
    assert set(engine.__all__) == set(engine._HOMES)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = engine.nothing_here
