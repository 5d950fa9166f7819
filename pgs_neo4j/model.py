"""The values that travel between the phases. Frozen, without behaviour that does I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Mode = Literal["full", "continue", "targeted"]
Task = Literal["sweep", "synthesis", "search"]
Effort = Literal["minimal", "low", "medium", "high"]
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """A described partition of one generation. Ids count from 1."""

    id: int
    size: int
    tokens: int
    keywords: tuple[str, ...] = ()
    summary: str = ""
    adjacent: tuple[Adjacent, ...] = ()
    centroid: NDArray[np.float32] | None = None
    pool: bool = False
    uid: str = ""
    lineage: str = ""
    parent: int | None = None

    @property
    def name(self) -> str:
        """The name used in prompts, flags, and on the page."""
        return f"P{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    centroid: NDArray[np.float32] | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One partition chosen; ``similarity`` is a cosine, or None when it was not scored."""

    partition: int
    similarity: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """All routes of one question, best first, and how they came about."""

    routes: tuple[Route, ...]
    considered: int
    best_similarity: float | None = None
    broad: bool = False
    fallback: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """An alias as the model wrote it, resolved to a node, or kept with ``valid`` false."""

    alias: str
    partition: int
    node: str | None = None
    title: str | None = None
    valid: bool = True
    element_id: str | None = field(default=None, repr=False)
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One discovery of a sweep, with what it cites."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """An outbound flag: a suspected connection to another partition (None if none was named)."""

    text: str
    target: int | None = None
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Something a sweep looked for in its partition and did not find."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one sweep returns: the four sections of the contract, parsed and resolved."""

    partition: int
    domain_state: str = ""
    findings: tuple[Finding, ...] = ()
    flags: tuple[Flag, ...] = ()
    absences: tuple[Absence, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation of findings and flags, in reading order, repeats included."""
        cited = [c for finding in self.findings for c in finding.citations]
        return (*cited, *(c for flag in self.flags for c in flag.citations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Model calls and tokens; ``estimated`` when an endpoint reported no usage."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            estimated=self.estimated or other.estimated,
        )


class SweepStatus(StrEnum):
    """How the reading of one partition ended."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The reading of one partition, in one or more passes.

    ``read`` holds half-open rank ranges of the nodes that stood whole in prompts whose
    reports were accepted; nothing else counts as read.
    """

    partition: int
    status: SweepStatus
    nodes: int
    read: tuple[tuple[int, int], ...] = ()
    passes: int = 0
    passes_accepted: int = 0
    report: Report | None = None
    errors: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    generation: str = ""

    @property
    def nodes_read(self) -> int:
        """Nodes that stood in an accepted prompt."""
        return sum(last - first for first, last in self.read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a session has read of the current generation, in partitions and in nodes."""

    partitions_swept: int
    partitions_total: int
    nodes_read: int
    nodes_total: int

    @property
    def fraction(self) -> float:
        """Nodes read over nodes of the graph, 0 to 1."""
        return self.nodes_read / self.nodes_total if self.nodes_total else 0.0

    @property
    def exhausted(self) -> bool:
        """Whether every node of the graph has been read in this session."""
        return self.nodes_read >= self.nodes_total


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """The synthesis text and its parsed sections."""

    text: str
    thesis: str = ""
    connections: tuple[str, ...] = ()
    absences: tuple[str, ...] = ()
    convergences: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one run."""

    question: str
    graph: str
    session: str
    run: str
    mode: Mode
    model: str
    synthesis: Synthesis
    routing: Routing
    sweeps: tuple[Sweep, ...]
    coverage: Coverage
    usage: Usage
    seconds: dict[str, float]
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The answer as the model wrote it, in Markdown."""
        return self.synthesis.text

    @property
    def partial(self) -> bool:
        """Whether a sweep failed in part or whole, or the synthesis was cut off."""
        return not self.synthesis.complete or any(
            sweep.status is not SweepStatus.ACCEPTED for sweep in self.sweeps
        )


@dataclass(frozen=True, slots=True)
class PromptNode:
    """A node as it stands in a prompt; ``text`` may be one part of a very long one."""

    alias: str
    title: str
    text: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptNeighbor:
    """The digest of a partition that the reader sees but does not read."""

    name: str
    keywords: tuple[str, ...]
    summary: str
    edges: int = 0


@dataclass(frozen=True, slots=True)
class PromptReport:
    """One partition's report as the synthesis sees it; ``text`` is the rendered Markdown."""

    name: str
    keywords: tuple[str, ...]
    report: Report
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One model call: the two messages, and the same content as values.

    A language model is sent ``system`` and ``user`` and nothing else. Readers that are
    not language models (``extractive``, ``scripted``) may use the values.
    """

    task: Task
    system: str
    user: str
    question: str
    nodes: tuple[PromptNode, ...] = ()
    relationships: tuple[tuple[str, str, str], ...] = ()
    neighbors: tuple[PromptNeighbor, ...] = ()
    reports: tuple[PromptReport, ...] = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's whole reply. ``truncated`` when it stopped for want of room."""

    text: str
    usage: Usage
    model: str
    truncated: bool = False
