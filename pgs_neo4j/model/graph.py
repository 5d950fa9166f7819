"""A graph and how it is divided: mapping, nodes, partitions, generations."""

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
"""What the published schemas call the relationship of a passage and its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """The named view of a database: its nodes, relationships, and properties.

    Everything is optional. Without labels or relationship types, all take part except those of
    this package. ``text`` properties are joined in this order. ``User.display_name`` in ``text``,
    ``titles``, or ``keys`` is a property of the nodes with one label; it is preferred to ``title``
    and ``key``, which are for all labels. ``relationship_name`` and
    ``relationship_text`` name what a relationship is called and the fact that it states. A fact is
    part of its source's text, if both ends are nodes of the view. ``relationship_embedding`` is a
    stored vector of the fact. ``embedding_model`` is the
    embedder that made the vectors, if that is known. ``chunk_labels`` are those of
    text passages; ``mention_types`` connect a passage and the entities that it mentions.
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

    @property
    def text_properties(self) -> list[Row]:
        """The parameter that tells statements which properties are text, in this order."""
        return _list_properties(self.text)

    @property
    def title_properties(self) -> list[Row]:
        """The parameter that tells statements where titles are; the first value counts."""
        return _list_properties((*self.titles, *filter(None, (self.title,))))

    @property
    def key_properties(self) -> list[Row]:
        """The parameter that tells statements where keys are; the first value counts."""
        return _list_properties((*self.keys, *filter(None, (self.key,))))

    @property
    def name_properties(self) -> list[Row]:
        """The same for what a node is called: its title, or else its key."""
        return [*self.title_properties, *self.key_properties]

    @property
    def words(self) -> tuple[str, ...]:
        """The properties of nodes with words, titles first, each once.

        Those of one label are listed if the label takes part.
        """
        listed = (own for label in self.labels or ("",) for own in self.list_words(label))
        return tuple(dict.fromkeys(listed))

    def list_words(self, label: str) -> tuple[str, ...]:
        """Return the properties with words of the nodes of one label, titles first, each once."""
        named = (*self.titles, *filter(None, (self.title,)), *self.text)
        found = (self._find_property(label, name) for name in named)
        return tuple(dict.fromkeys(filter(None, found)))

    def _find_property(self, label: str, name: str) -> str:
        """Return the property of a label that a name stands for, empty if it is another label's."""
        own = dict(split_property(name))
        if label and label in own:
            return own[label]
        return "" if any(other in own for other in self.labels) else name

    @property
    def searched_properties(self) -> list[Row]:
        """The parameter that tells statements where words are: texts, then other titles."""
        return [*self.text_properties, *self.other_titles]

    @property
    def other_titles(self) -> list[Row]:
        """The titles that are no text of the same nodes."""
        text = self.text_properties
        return [
            own
            for own in self.title_properties
            if own not in text and own | {"label": ""} not in text
        ]

    @property
    def has_title(self) -> bool:
        """Whether it names any title."""
        return bool(self.titles or self.title)

    @property
    def has_text(self) -> bool:
        """Whether it names any text, of nodes or of relationships."""
        return bool(self.text or self.relationship_text)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The parameter that tells statements which facts to read; empty if there are none.

        Statements look at no relationship then.
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
    """Return the labels and properties that a name can stand for; the label of all nodes is empty.

    ``User.name`` is ``name`` of a user, or else a property of any node that has a dot in its name.
    """
    places = [place for place, sign in enumerate(name) if sign == "."]
    parts = ((name[:place], name[place + 1 :]) for place in places)
    return (("", name), *((label, own) for label, own in parts if label and own))


def _list_properties(names: Iterable[str]) -> list[Row]:
    pairs = dict.fromkeys(pair for name in names for pair in split_property(name))
    return [{"label": label, "property": own} for label, own in pairs]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a relationship of a node states; ``target`` is the element id of the other end."""

    target: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node as a sweep reads it.

    ``rank`` is its place in the partition; 0 is the heaviest node. ``text`` ends with a line for
    each of its ``facts``, those that its outgoing relationships state.
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

    ``name`` is empty unless the mapping names a property that holds it.
    """

    source: int
    target: int
    type: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Adjacent:
    """A neighbor of a partition: the number and weight of shared relationships."""

    id: int
    edges: int
    weight: float


LABEL_JOINT = ", "
"""Stands between the terms of a label."""


def ordered_topics(
    label: str, terms: tuple[str, ...], keywords: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the distinct words of a label, further terms, and keywords, in this order."""
    return tuple(dict.fromkeys((*filter(None, label.split(LABEL_JOINT)), *terms, *keywords)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A described partition of one generation.

    ``id`` counts from 1. ``centroid`` is ``(d,)``, None without embeddings. ``pool``: it collects
    nodes that no relationship places. ``lineage`` stays the same across generations while most
    members stay. ``parent`` is the id of the unit above. ``terms`` tell it apart from the others;
    ``label`` consists of the best of them. ``titles`` are those of its heaviest nodes. ``abstract``
    consists of its most typical sentences. ``texts`` counts its nodes with text.
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
        """The name used in prompts, flags, and on the page."""
        return f"P{self.id}"

    @property
    def topics(self) -> tuple[str, ...]:
        """Its label and terms, which distinguish it, followed by its keywords."""
        return ordered_topics(self.label, self.terms, self.keywords)

    @property
    def gist(self) -> str:
        """Its most typical sentences, else the published summary."""
        return self.abstract or self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of the hierarchy above the partitions.

    Level 1 groups partitions; each further level groups the one below. ``id`` counts from 1 within
    the level. ``partitions`` and ``size`` count the partitions and nodes beneath. ``centroid`` is
    ``(d,)``. ``parent`` is the id of the unit above, None at the top. ``label``, ``terms``, and
    ``titles`` are the best of those beneath.
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
    """A lineage in two generations: its partition in each, None where it has none.

    ``label`` is that of the later one.
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
    ``documents_together`` is the share of passages that are in the same partition as most of their
    document, 0 to 1; None without documents of several passages. With such documents, modularity
    is computed from the weights by which they are divided.

    ``token`` is the database's change token when the generation was last seen to be valid.
    ``common`` are words that too many partitions mention to be keywords. ``grown`` sums the shares
    of the graph that changed since partitions were last made from scratch. ``knobs`` are the
    settings of partitioning that it was made with, and ``standing`` the values of them that files
    and variables have set, the latest last. ``damaged`` says why the figures of a listed generation
    cannot be read; all of them are empty then.
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
        """Return how many nodes have text."""
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
    """How far a graph has moved from its current generation.

    ``committed``: another program has committed since the generation was made. Only then is the
    graph scanned, and only then are the counts meaningful. ``nodes`` and ``relationships`` count
    those of the graph now. ``facts_changed`` counts nodes whose weight or embedding changed.

    Relationships are compared by a sketch. ``relationships_changed`` counts those added, removed,
    or reweighted: exactly if it is 0, and else as an estimate. ``grown`` sums the fractions that
    had changed before, since partitions were last made from scratch. ``algorithm`` is the one that
    divides the graph next time, empty if that is not known.
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
        """Sum of changed fractions since partitions were last made from scratch."""
        return self.grown + self.fraction
