"""A graph read from a file, checked and complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NodeId = str | int
Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileNode:
    """A node to load. ``properties`` leaves out ``id`` and the embedding."""

    id: NodeId
    properties: dict[str, Scalar]
    labels: tuple[str, ...] = ()
    embedding: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class FileRelationship:
    """A relationship to load, between two positions in the list of nodes."""

    source: int
    target: int
    type: str
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphFile:
    """Nodes with distinct ids, relationships between them, and what their properties mean.

    ``ignored`` counts keys of the file that have no place in the graph, by name.
    """

    nodes: Sequence[FileNode]
    relationships: Sequence[FileRelationship]
    mapping: GraphMapping
    ignored: dict[str, int] = field(default_factory=dict)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The distinct lengths of the embeddings, sorted; several suggest a fault."""
        return tuple(sorted({n.embedding.size for n in self.nodes if n.embedding is not None}))

    @property
    def self_loops(self) -> int:
        """How many relationships end where they begin."""
        return sum(r.source == r.target for r in self.relationships)
