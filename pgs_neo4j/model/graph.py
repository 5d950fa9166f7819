"""A graph and how it is divided: mapping, nodes, partitions, generations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Origin = Literal["cold", "seeded", "refreshed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """The named view of a database: what takes part and which property means what.

    Everything is optional. No labels or relationship types means all but our own;
    ``text`` properties are joined in the order given.
    """

    labels: tuple[str, ...] = ()
    relationship_types: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    title: str | None = None
    key: str | None = None
    weight: str | None = None
    relationship_weight: str | None = None
    embedding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node as a sweep reads it; ``rank`` is its place in the partition, 0 the heaviest."""

    rank: int
    element_id: str
    key: str
    title: str
    text: str
    labels: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def alias(self) -> str:
        """The short in-prompt name, ``n1`` for the heaviest node."""
        return f"n{self.rank + 1}"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship between two nodes of one partition, by their ranks."""

    source: int
    target: int
    type: str


@dataclass(frozen=True, slots=True)
class Adjacent:
    """A neighbouring partition, with the number and weight of the relationships shared."""

    id: int
    edges: int
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A described partition of one generation. Ids count from 1."""

    id: int
    size: int
    tokens: int
    keywords: tuple[str, ...] = ()
    summary: str = ""
    adjacent: tuple[Adjacent, ...] = ()
    centroid: NDArray[np.float32] | None = field(default=None, compare=False)
    pool: bool = False
    uid: str = ""
    lineage: str = ""
    parent: int | None = None

    @property
    def name(self) -> str:
        """The name used in prompts, flags, and on the page."""
        return f"P{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of the hierarchy: level 1 groups partitions, each further level the one below.

    ``id`` counts from 1 within the level, ``partitions`` and ``size`` are those beneath, and
    ``parent`` is the id of the unit above, None at the top.
    """

    id: int
    level: int
    size: int
    partitions: int
    keywords: tuple[str, ...] = ()
    centroid: NDArray[np.float32] | None = field(default=None, compare=False)
    parent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One complete, immutable partitioning of a graph and its figures.

    ``origin`` tells how it came about: communities detected from nothing (cold), from the
    labels of the generation before (seeded), or the partitions before with what changed of
    their texts (refreshed). ``raw_modularity`` is that of the communities before the limits,
    ``conductance`` the mean over the partitions, ``split`` and ``merged`` count communities,
    ``levels`` how many units each level of the hierarchy above has, ``seconds`` are by step.
    ``token`` is the change token of the database at which it was last found to hold, ``common``
    are the words that too many partitions mention to be keywords, and ``grown`` sums the shares
    of the graph that changed since partitions were last made from nothing. ``sizes`` are by
    partition id.
    """

    id: str
    graph: str
    created_at: str
    algorithm: str
    fingerprint: str
    node_count: int
    relationship_count: int
    partition_count: int
    modularity: float
    sizes: tuple[int, ...]
    pooled_nodes: int
    embedder: str | None
    dimensions: int | None
    issues: dict[str, int] = field(default_factory=dict)
    origin: Origin = "cold"
    raw_modularity: float = 0.0
    conductance: float = 0.0
    split: int = 0
    merged: int = 0
    pools: int = 0
    levels: tuple[int, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    token: str | None = None
    settings: str = ""
    common: tuple[str, ...] = ()
    grown: float = 0.0

    @property
    def largest_fraction(self) -> float:
        """Share of all nodes that the largest partition holds."""
        return max(self.sizes, default=0) / self.node_count if self.node_count else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How far a graph has moved from its current generation.

    ``committed``: something was, by others than ourselves, since the generation was made; only
    then is the graph scanned, and only then the counts mean something. ``nodes`` and
    ``relationships`` are those of the graph now. Relationships are compared by a sketch:
    ``relationships_changed`` (added, removed, or of another weight) is exact when it is 0, and
    else an estimate. ``facts_changed`` counts nodes of another weight or embedding. ``grown``
    is what changed before, since partitions were last made from nothing, as a sum of fractions.
    """

    committed: bool
    nodes: int = 0
    relationships: int = 0
    nodes_added: int = 0
    nodes_removed: int = 0
    texts_changed: int = 0
    facts_changed: int = 0
    relationships_changed: int = 0
    settings_changed: bool = False
    grown: float = 0.0

    @property
    def changed(self) -> bool:
        """Whether anything that partitions depend on is another than before."""
        return self.settings_changed or self.fraction > 0

    @property
    def structure_changed(self) -> bool:
        """Whether nodes or relationships came, went, or bind otherwise."""
        return bool(self.nodes_added or self.nodes_removed or self.relationships_changed)

    @property
    def fraction(self) -> float:
        """The larger of the shares of nodes and of relationships that changed, 0 to 1."""
        nodes = self.nodes_added + self.nodes_removed + self.texts_changed + self.facts_changed
        shares = (
            nodes / max(self.nodes, self.nodes_removed, 1),
            self.relationships_changed / max(self.relationships, 1),
        )
        return min(max(shares), 1.0)

    @property
    def accumulated(self) -> float:
        """What changed since partitions were last made from nothing, as a sum of fractions."""
        return self.grown + self.fraction
