"""Builds the demo graph from the standard library, without importing it, as a file to load.

Nodes are modules, classes, functions, and methods, with signature and docstring as text.
Relationships are CONTAINS, IMPORTS, INHERITS, and MENTIONS (one docstring names another node). The
graph has real domains, so anyone who knows Python can judge its partitions.
"""

from __future__ import annotations

import builtins
import math
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pgs_neo4j.documents.loading.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.engine.demo.stdlib import Definition, Kind, Library, read_library
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model import GraphMapping

RelationshipType = Literal["CONTAINS", "IMPORTS", "INHERITS", "MENTIONS"]
Edge = tuple[str, str, RelationshipType]
DEMO_QUESTIONS = (
    "How does the standard library handle timeouts and cancellation of concurrent work in "
    "threads, processes, asyncio tasks, subprocesses and sockets, and is there anything to "
    "kill a running thread, retry with exponential backoff, or limit a rate?",
    "Which data formats can be parsed and which can be written (JSON, CSV, XML, TOML, YAML, "
    "pickle, plist), and where does reading lack its counterpart in writing?",
    "What is there for hashing, secrets, random numbers and TLS, and is there any symmetric "
    "encryption of data?",
    "How are temporary files, directories, archives and locks created safely and cleaned up "
    "after errors?",
)
# An import says less than a definition, because nearly everything imports ``re``.
WEIGHTS: dict[RelationshipType, float] = {
    "CONTAINS": 1.0,
    "IMPORTS": 0.5,
    "INHERITS": 2.0,
    "MENTIONS": 1.0,
}
_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\()?")
_NO_ENGLISH_WORD = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Z]{2,}[a-z]")
_SHORTEST = 4  # minimum characters of a name that counts as a mention
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoNode:
    """A module, class, function, or method; its qualified name is the ``id``."""

    id: str
    kind: Kind
    name: str
    module: str
    text: str
    weight: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The Neo4j label of this kind."""
        return (self.kind.capitalize(),)


@dataclass(frozen=True, slots=True)
class DemoRelationship:
    """A relationship between two nodes, by id."""

    source: str
    target: str
    type: RelationshipType
    weight: float


@dataclass(frozen=True, slots=True)
class DemoGraph:
    """The demo graph; nodes by id, relationships by source, target, and type."""

    nodes: tuple[DemoNode, ...]
    relationships: tuple[DemoRelationship, ...]


def build_demo(root: Path | None = None) -> DemoGraph:
    """Build a graph of the standard library or another source folder.

    The same files give the same graph. A node weighs 1 + ln(1 + how many others import,
    inherit from, or mention it + how many it contains). Raises InputFileError when there
    is no source to read.
    """
    folder = root or Path(sysconfig.get_path("stdlib"))
    library = read_library(folder)
    if not library.definitions:
        raise InputFileError(
            f"there is no Python source in {folder}; install the source of the standard "
            "library, or load a graph of your own with 'pgs load'"
        )
    edges = {
        *_link_members(library),
        *_link_imports(library),
        *_link_bases(library),
        *_link_mentions(library),
    }
    uses = Counter(target for _, target, kind in edges if kind != "CONTAINS")
    uses.update(source for source, _, kind in edges if kind == "CONTAINS")
    return DemoGraph(
        nodes=tuple(_make_node(d, uses[d.id]) for _, d in sorted(library.definitions.items())),
        relationships=tuple(DemoRelationship(*e, weight=WEIGHTS[e[2]]) for e in sorted(edges)),
    )


def demo_file(demo: DemoGraph) -> GraphFile:
    """Return the demo graph as a GraphFile, with ids as keys and titles."""
    positions = {node.id: i for i, node in enumerate(demo.nodes)}
    return GraphFile(
        nodes=tuple(
            FileNode(
                id=node.id,
                labels=node.labels,
                properties={
                    "name": node.name,
                    "kind": node.kind,
                    "module": node.module,
                    "text": node.text,
                    "weight": node.weight,
                },
            )
            for node in demo.nodes
        ),
        relationships=tuple(
            FileRelationship(positions[r.source], positions[r.target], r.type, r.weight)
            for r in demo.relationships
        ),
        mapping=GraphMapping(
            text=("text",),
            title="id",
            key="id",
            weight="weight",
            relationship_weight="weight",
        ),
    )


def _make_node(definition: Definition, uses: int) -> DemoNode:
    return DemoNode(
        id=definition.id,
        kind=definition.kind,
        name=definition.name,
        module=definition.module,
        text=f"{definition.signature}\n\n{definition.doc}".rstrip(),
        weight=round(1.0 + math.log1p(uses), 4),
    )


def _link_members(library: Library) -> Iterator[Edge]:
    for definition in library.definitions.values():
        if definition.parent in library.definitions:
            yield str(definition.parent), definition.id, "CONTAINS"


def _link_imports(library: Library) -> Iterator[Edge]:
    """Link a module to the modules, classes, and functions it imports.

    A package contains its members, so it does not import them.
    """
    for module, source in library.sources.items():
        for name in source.imports:
            origin, _, member = name.rpartition(".")
            for target in (name, origin, library.resolve(origin, member)):
                if target in library.definitions and not _is_inside(target, module):
                    yield module, str(target), "IMPORTS"


def _link_bases(library: Library) -> Iterator[Edge]:
    for definition in library.definitions.values():
        for name in definition.bases:
            target = library.resolve(definition.module, name)
            if target and target != definition.id and library.definitions[target].kind == "class":
                yield definition.id, target, "INHERITS"


def _link_mentions(library: Library) -> Iterator[Edge]:
    """Link a docstring to the nodes that it names unambiguously.

    A bare name counts only if it cannot be an English word. It must be written as a call, in
    CamelCase, or in snake_case, and must not be the name of a builtin.
    """
    names = _map_unique_names(library)
    for definition in library.definitions.values():
        for written, call in set(_NAME.findall(definition.doc)):
            target = names.get(written)
            if target is None or not (call or "." in written or _NO_ENGLISH_WORD.search(written)):
                continue
            if not _are_related(library.definitions[target], definition):
                yield definition.id, target, "MENTIONS"


def _map_unique_names(library: Library) -> dict[str, str]:
    """Map every unambiguous spelling of a node to its id."""
    shared: dict[str, str | None] = {}
    for definition in library.definitions.values():
        if definition.kind == "module":
            continue
        owner = str(definition.parent).rpartition(".")[2]
        ways = {definition.id, f"{owner}.{definition.name}", definition.name}
        for way in ways:
            shared[way] = None if way in shared else definition.id
    shared |= {id_: id_ for id_ in library.definitions if "." in id_}
    return {
        way: id_
        for way, id_ in shared.items()
        if id_ is not None and way not in _BUILTINS and len(way) >= _SHORTEST
    }


def _is_inside(id_: str | None, module: str) -> bool:
    return id_ == module or str(id_).startswith(f"{module}.")


def _are_related(one: Definition, other: Definition) -> bool:
    return one.id == other.id or one.parent == other.id or other.parent == one.id
