"""The page of results, as Markdown: every value that the API returns, with its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import getdoc, getsource
from types import ModuleType
from typing import Any, get_args

from pgs_neo4j import engine
from pgs_neo4j.model import (
    analogies,
    answer,
    browsing,
    crosscheck,
    found,
    graph,
    ingest,
    plan,
    report,
)
from tests.tools.event_table import plain_doc, plain_paragraph, table

INTRODUCTION = """\
# Results

Every value that the [Python API](python.md) returns, with its fields. All are frozen dataclasses,
from `pgs_neo4j.model` unless another module is named.
"""
GROUPS: tuple[tuple[str, tuple[ModuleType, ...]], ...] = (
    ("Answers and feedback", (answer, report, crosscheck)),
    ("Plans", (plan,)),
    ("Searches", (found,)),
    ("Graphs and partitions", (graph,)),
    ("Nodes, maps, and entities", (browsing,)),
    ("Analogies", (analogies,)),
    ("Documents", (ingest,)),
)
"""The topics of the page, each with the modules that define its values."""
STORED = (
    *("StoredGraph", "RunInfo", "StoredRun", "SessionInfo", "Job", "FailedJob"),
    *("DayCost", "Check", "SearchIndex", "CreatedIndexes", "LoadResult", "Purged"),
    *("Survey", "LabelSample", "NodeProperty", "Proposal", "SearchAnswer", "LayeredAnswer"),
)
"""Values that are exported by ``pgs_neo4j.engine``."""


def results_page() -> str:
    """Return all values with their fields."""
    listed = (_group(title, [*_values(*modules)]) for title, modules in GROUPS)
    stored = [(name, getattr(engine, name)) for name in STORED]
    return "".join((INTRODUCTION, *listed, _group("Records and checks", stored, "engine")))


def _group(title: str, values: list[tuple[str, Any]], module: str = "") -> str:
    told = f"\nFrom `pgs_neo4j.{module}`.\n" if module else ""
    return f"\n## {title}\n{told}" + "".join(_section(name, value) for name, value in values)


def _values(*modules: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the dataclasses and the choices that modules define, in their order."""
    for module in modules:
        for name in _defined(module):
            value = getattr(module, name)
            if is_dataclass(value) or _choices(value):
                yield name, value


def _defined(module: ModuleType) -> Iterator[str]:
    """Yield the public names of classes and constants that a module defines, in their order."""
    for statement in ast.parse(getsource(module)).body:
        if isinstance(statement, ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield statement.targets[0].id


def _choices(value: object) -> tuple[object, ...]:
    """Return the texts that a Literal allows; none for anything else."""
    choices = get_args(value)
    return choices if choices and all(isinstance(one, str) for one in choices) else ()


def _section(name: str, value: Any) -> str:
    head = f"\n### {name}\n\n"
    if choices := _choices(value):
        return f"{head}One of {', '.join(f'`{one}`' for one in choices)}.\n"
    rows = ((f"`{one.name}`", f"`{_type(one)}`", _default(one)) for one in fields(value))
    return (
        f"{head}{plain_doc(value)}\n" + table(("field", "type", "default"), rows) + _derived(value)
    )


def _type(field: Field[Any]) -> str:
    return str(field.type)


def _default(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"`{field.default!r}`"
    return "" if field.default_factory is MISSING else "empty"


def _derived(value: type) -> str:
    """Return the computed properties, each with its description."""
    own = (
        (name, plain_paragraph((getdoc(found) or "").partition("\n\n")[0]))
        for name, found in vars(value).items()
        if isinstance(found, property) and not name.startswith("_")
    )
    return table(("worked out", "is"), ((f"`{name}`", told) for name, told in own))
