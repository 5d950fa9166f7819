"""A graph and its partitions: mapping, nodes, relationships, partitions, and generations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pgs_neo4j.model.notebook import render

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Row = dict[str, Any]
Origin = Literal["cold", "seeded", "refreshed"]

PART_TYPES = ("PART_OF", "FROM_DOCUMENT", "HAS_CHUNK")
"""Types of the relationship between a passage and its document, as in published schemas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """The named view of a database: its nodes, relationships, and properties.

    Everything is optional. Without ``labels`` or ``relationship_types``, all labels or types belong
    to the view, except the labels and types of this package. ``text`` properties are joined in this
    order. ``User.display_name`` in ``text``, ``titles``, or ``keys`` is a property of nodes with
    that label only; it has priority over ``title`` and ``key``, which are for all labels.

    ``relationship_name`` is the property with a relationship's name, and ``relationship_text`` the
    property with the fact that it states. A fact is part of the text of its source if both ends are
    nodes of the view. ``relationship_embedding`` is the property with a vector of the fact.
    ``embedding_model`` is the embedder that made the stored vectors, None if it is not known.
    ``chunk_labels`` are the labels of text passages. Relationships of ``mention_types`` connect a
    passage and the entities that it mentions. ``scope`` are properties that divide the graph among
    scopes: only an engine with a value for each of them opens it. ``valid_from`` and ``valid_to``
    are the properties of nodes and relationships with the dates between which they are valid.
    """

    labels: tuple[str, ...] = ()
    relationship_types: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    title: str | None = None
    key: str | None = None
    weight: str | None = None
    relationship_weight: str | None = None
    embedding: str | None = None
    relationship_name: str | None = None
    relationship_text: str | None = None
    relationship_embedding: str | None = None
    chunk_labels: tuple[str, ...] = ()
    mention_types: tuple[str, ...] = ()
    embedding_model: str | None = None
    titles: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def text_properties(self) -> list[Row]:
        """The text properties, in order, as a parameter for statements."""
        return _list_properties(self.text)

    @property
    def title_properties(self) -> list[Row]:
        """The title properties, as a parameter for statements; the first with a value counts."""
        return _list_properties((*self.titles, *filter(None, (self.title,))))

    @property
    def key_properties(self) -> list[Row]:
        """The key properties, as a parameter for statements; the first with a value counts."""
        return _list_properties((*self.keys, *filter(None, (self.key,))))

    @property
    def name_properties(self) -> list[Row]:
        """The title properties, then the key properties, as a parameter for statements."""
        return [*self.title_properties, *self.key_properties]

    @property
    def words(self) -> tuple[str, ...]:
        """The properties of nodes that contain words, titles first, each once.

        Properties of a single label are listed only if that label belongs to the view.
        """
        listed = (own for label in self.labels or ("",) for own in self.list_words(label))
        return tuple(dict.fromkeys(listed))

    def list_words(self, label: str) -> tuple[str, ...]:
        """Return the properties with words of nodes with this label, titles first, each once."""
        named = (*self.titles, *filter(None, (self.title,)), *self.text)
        found = (self._find_property(label, name) for name in named)
        return tuple(dict.fromkeys(filter(None, found)))

    def _find_property(self, label: str, name: str) -> str:
        """Return the property that a name in the mapping means for nodes of a label.

        It is empty if the name is a property of another label.
        """
        own = dict(split_property(name))
        if label and label in own:
            return own[label]
        return "" if any(other in own for other in self.labels) else name

    @property
    def searched_properties(self) -> list[Row]:
        """The text properties, then the other title properties, as a parameter for statements."""
        return [*self.text_properties, *self.other_titles]

    @property
    def other_titles(self) -> list[Row]:
        """The titles that are not text of the same nodes, as a parameter for statements."""
        text = self.text_properties
        return [
            own
            for own in self.title_properties
            if own not in text and own | {"label": ""} not in text
        ]

    @property
    def has_title(self) -> bool:
        """Whether the mapping names any title."""
        return bool(self.titles or self.title)

    @property
    def has_text(self) -> bool:
        """Whether the mapping names any text, of nodes or of relationships."""
        return bool(self.text or self.relationship_text)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The properties of the facts to read, as a parameter for statements: a list of one map.

        It is empty if the mapping names no facts; statements then read no relationships.
        """
        if not self.relationship_text:
            return []
        view = {
            "fact": self.relationship_text,
            "name": self.relationship_name or "",
            "types": list(self.relationship_types),
            "labels": list(self.labels),
            "names": self.name_properties,
        }
        return [view]


def split_property(name: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of label and property that a name can mean; an empty label means all labels.

    ``User.name`` can be the property ``name`` of nodes with the label ``User``, or a property of
    any node whose own name contains a dot.
    """
    places = [place for place, sign in enumerate(name) if sign == "."]
    parts = ((name[:place], name[place + 1 :]) for place in places)
    return (("", name), *((label, own) for label, own in parts if label and own))


def _list_properties(names: Iterable[str]) -> list[Row]:
    pairs = dict.fromkeys(pair for name in names for pair in split_property(name))
    return [{"label": label, "property": own} for label, own in pairs]


@dataclass(frozen=True, slots=True)
class Fact:
    """The fact that a relationship of a node states; ``target`` is its end node's element id."""

    target: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node as a sweep reads it.

    ``rank`` is its place in the partition; 0 is the heaviest node. ``facts`` are the facts that its
    outgoing relationships state, and ``text`` ends with a line for each of them.
    """

    rank: int
    element_id: str
    key: str
    title: str
    text: str
    labels: tuple[str, ...] = ()
    weight: float = 1.0
    facts: tuple[Fact, ...] = ()

    @property
    def alias(self) -> str:
        """The short name in prompts; ``n1`` is the heaviest node."""
        return f"n{self.rank + 1}"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship between two nodes of one partition, by their ranks.

    ``name`` is empty unless the mapping names a property for it.
    """

    source: int
    target: int
    type: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Adjacent:
    """A neighbor of a partition, with the number and weight of the relationships between them."""

    id: int
    edges: int
    weight: float


LABEL_JOINT = ", "
"""The separator between the terms of a label."""


def ordered_topics(
    label: str, terms: tuple[str, ...], keywords: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the distinct words of a label, further terms, and keywords, in this order."""
    return tuple(dict.fromkeys((*filter(None, label.split(LABEL_JOINT)), *terms, *keywords)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A described partition of one generation.

    ``id`` counts from 1. ``centroid`` is ``(d,)``, None without embeddings. ``pool``: it collects
    nodes that no relationship connects to the rest of the graph. ``lineage`` stays the same across
    generations while most members stay. ``parent`` is the id of the unit above. ``terms``
    distinguish the partition from the others, and the best terms make up ``label``. ``titles`` are
    the titles of its heaviest nodes. ``abstract`` consists of its most typical sentences. ``texts``
    counts its nodes with text.
    """

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
    label: str = ""
    terms: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    abstract: str = ""
    texts: int = 0

    @property
    def name(self) -> str:
        """The name of the partition in prompts, in flags, and on the page."""
        return f"P{self.id}"

    @property
    def topics(self) -> tuple[str, ...]:
        """The terms of its label, its other terms, and its keywords, each once."""
        return ordered_topics(self.label, self.terms, self.keywords)

    @property
    def gist(self) -> str:
        """The partition's abstract, or its summary if it has no abstract."""
        return self.abstract or self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of the hierarchy above the partitions.

    Level 1 groups partitions; each further level groups the units of the level below. ``id`` counts
    from 1 within the level. ``partitions`` and ``size`` count the partitions and nodes beneath.
    ``centroid`` is ``(d,)``. ``parent`` is the id of the unit above, None at the top. ``label``,
    ``terms``, and ``titles`` are chosen from the partitions beneath.
    """

    id: int
    level: int
    size: int
    partitions: int
    keywords: tuple[str, ...] = ()
    centroid: NDArray[np.float32] | None = field(default=None, compare=False)
    parent: int | None = None
    label: str = ""
    terms: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageChange:
    """A lineage in two generations.

    ``before`` and ``after`` are the ids of its partitions, None in a generation without one.
    ``label`` is the label of the later partition, or of the earlier one if there is no later one.
    """

    lineage: str
    label: str
    before: int | None = None
    after: int | None = None
    size_before: int = 0
    size_after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One complete, immutable partitioning of a graph and its figures.

    ``origin`` is ``cold`` if communities were detected from scratch. It is ``seeded`` if detection
    started from the labels of the previous generation. It is ``refreshed`` if the previous
    partitions were kept and only changed texts were described again. ``sizes`` are by partition id.
    ``raw_modularity`` is the modularity of the communities before size limits were applied.
    ``conductance`` is the mean over the partitions. ``split`` and ``merged`` count communities.
    ``levels`` counts the units of each level of the hierarchy. ``seconds`` are by step.
    ``documents_together`` is the share of passages, from 0 to 1, that are in the same partition as
    most of their document; None without documents of several passages. With such documents, the
    modularity is computed from the adjusted weights with which communities are detected.

    ``token`` is the database's change token when the generation was last found to be valid.
    ``common`` are words that too many partitions mention to be keywords. ``grown`` sums the shares
    of the graph that changed since partitions were last made from scratch. ``knobs`` are the
    settings of partitioning that the generation was made with. ``standing`` are the values that
    files and environment variables have set for these knobs over time, the latest last. ``damaged``
    says why the figures of a listed generation cannot be read; all figures are empty then.
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
    knobs: dict[str, object] = field(default_factory=dict)
    standing: dict[str, list[object]] = field(default_factory=dict)
    documents_together: float | None = None
    damaged: str = ""

    @property
    def texts(self) -> int:
        """How many nodes have text."""
        return self.node_count - self.issues.get("nodes_without_text", 0)

    @property
    def largest_fraction(self) -> float:
        """The share of all nodes in the largest partition, 0 to 1."""
        return max(self.sizes, default=0) / self.node_count if self.node_count else 0.0

    def _repr_html_(self) -> str:
        """Return the figures as an HTML fragment for notebooks."""
        return render(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How much a graph has changed since its current generation was made.

    ``committed``: another program has written to the database since then. Only then is the graph
    scanned, and only then are the counts meaningful. ``nodes`` and ``relationships`` count the
    nodes and relationships that the graph has now. ``facts_changed`` counts nodes whose weight or
    embedding changed.

    Relationships are compared by a sketch. ``relationships_changed`` counts relationships that were
    added, removed, or reweighted; 0 is exact, and any other number is an estimate. ``grown`` sums
    the fractions that had changed before, since partitions were last made from scratch.
    ``algorithm`` is the algorithm that partitions the graph next time, empty if it is not known.
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
    algorithm: str = ""

    @property
    def changed(self) -> bool:
        """Whether anything that partitions depend on has changed."""
        return self.settings_changed or self.fraction > 0

    @property
    def structure_changed(self) -> bool:
        """Whether nodes or relationships were added, removed, or reweighted."""
        return bool(self.nodes_added or self.nodes_removed or self.relationships_changed)

    @property
    def fraction(self) -> float:
        """The larger share of changed nodes or changed relationships, 0 to 1."""
        nodes = self.nodes_added + self.nodes_removed + self.texts_changed + self.facts_changed
        shares = (
            nodes / max(self.nodes, self.nodes_removed, 1),
            self.relationships_changed / max(self.relationships, 1),
        )
        return min(max(shares), 1.0)

    @property
    def accumulated(self) -> float:
        """The sum of changed fractions since partitions were last made from scratch."""
        return self.grown + self.fraction
