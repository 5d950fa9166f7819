"""Parts of a graph as they are browsed: nodes, neighbors, findings, members, and entities.

``element_id`` is the address of a node: the database's handle for it now, as citations have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDetails:
    """A node of a graph: its text as a sweep shows it, and its other properties.

    ``properties`` are JSON data, each cut to a bounded length; vectors are left out, and so are
    ``properties_left_out`` others. ``partition`` is the one of the current generation that holds
    it, with its label and the node's rank there, 0 the heaviest; all are None for a node that came
    later. ``weight`` is what the graph's mapping names, None without.
    """

    element_id: str
    key: str
    title: str
    labels: tuple[str, ...]
    text: str
    properties: Mapping[str, Any]
    properties_left_out: int = 0
    partition: int | None = None
    partition_label: str | None = None
    rank: int | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborCount:
    """How many relationships of one type lead from a node, or to it."""

    type: str
    outgoing: bool
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNeighbor:
    """A relationship of a node and the node at its other end.

    ``name`` and ``fact`` are empty unless the mapping names properties that hold them.
    """

    element_id: str
    title: str
    labels: tuple[str, ...]
    type: str
    outgoing: bool
    name: str = ""
    fact: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborPage:
    """Some neighbors of a node.

    ``counts`` come with the first page only, most first. ``after`` leads to the next page, None at
    the end. Unless ``complete``, the node has more relationships than are looked at, and so all
    counts are lower bounds.
    """

    neighbors: tuple[NodeNeighbor, ...]
    counts: tuple[NeighborCount, ...] = ()
    after: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinding:
    """A finding of a run that cites a node. A model derived it from the graph.

    ``quotes`` are its quotations that the node's text holds now. ``supported``: at least one of its
    citations was valid.
    """

    id: str
    text: str
    run: str
    session: str
    question: str
    started_at: str
    partition: int
    quotes: tuple[str, ...] = ()
    supported: bool = True

    @property
    def quoted(self) -> bool:
        """Whether it quotes the node."""
        return bool(self.quotes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMember:
    """A node of a partition; ``rank`` 0 is the heaviest.

    ``weight`` is what the graph's mapping names, None without.
    """

    element_id: str
    title: str
    labels: tuple[str, ...]
    rank: int
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPage:
    """Some members of a partition, heaviest first.

    ``size`` counts all that it got when it was made. ``after`` leads to the next page, None at the
    end.
    """

    partition: int
    size: int
    members: tuple[PartitionMember, ...]
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPlace:
    """A partition, or a unit that groups some, on the map.

    ``x`` and ``y`` are its center among its neighbors, from 0 to 1. ``area`` is its rectangle in a
    frame of 1.6 by 1, where areas are proportional to nodes: left, top, width, and height.
    ``partitions`` lists those that it stands for: its own id, or those beneath a unit.
    """

    id: int
    label: str
    nodes: int
    partitions: tuple[int, ...]
    pool: bool = False
    x: float = 0.5
    y: float = 0.5
    area: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMap:
    """Where the partitions of a generation stand, the largest first.

    ``level`` 0 shows partitions, a higher one units of the hierarchy. ``links`` are pairs of
    places, by their position in ``places``, with the weight between them, the strongest first.
    """

    generation: str
    level: int
    places: tuple[MapPlace, ...]
    links: tuple[tuple[int, int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAnalogy:
    """Two partitions that analogies link, the lower id first.

    ``links`` counts the analogies. ``titles`` are those of the two nodes whose texts differ most.
    """

    first: int
    second: int
    links: int
    titles: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReading:
    """What a session has read of a partition.

    ``nodes_unproven`` counts others of its nodes that were shown without proof.
    """

    partition: int
    nodes_read: int
    nodes_unproven: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFlag:
    """A flag that a sweep of one partition raised, and which points to another one.

    ``chased``: the session has read of that one as well. A model wrote ``text``.
    """

    source: int
    target: int
    text: str
    run: str
    chased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDrift:
    """What became of the nodes of a partition since its generation was made.

    ``nodes`` is how many it got, ``removed`` how many of them are gone or have left the graph, and
    ``changed`` how many have another text, weight, or embedding.
    """

    partition: int
    nodes: int
    removed: int
    changed: int

    @property
    def fraction(self) -> float:
        """The share of its nodes that are gone or changed."""
        return (self.removed + self.changed) / max(self.nodes, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDrift:
    """The drift of each current partition; ``added`` nodes are in none of them yet."""

    generation: str
    added: int
    partitions: tuple[PartitionDrift, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityInfo:
    """An entity of a graph. ``mentions`` counts the chunks that mention it, by type and name."""

    id: str
    name: str
    type: str
    mentions: int
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityName:
    """A name of an entity, with its spellings, the commonest first.

    ``joined`` says why it belongs to this entity, and ``to`` which name it follows, by id.
    ``leads``: it is the leading name. ``merged``, ``apart``: by a ruling. ``type``: few chunks give
    it this type. Otherwise the kind of variant, such as ``initials``.
    """

    id: str
    spellings: tuple[str, ...]
    mentions: int
    joined: str
    to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChunk:
    """A chunk that mentions an entity: its document, page, and headings, and the name it uses."""

    chunk: str
    document: str
    name: str
    page: int | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """A relation of an entity to ``other``. ``outgoing``: it begins at the entity."""

    type: str
    other: str
    other_id: str
    outgoing: bool
    fact: str
    mentions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPage:
    """An entity with its names, and with the first of its chunks and relations.

    ``chunk_count`` and ``relation_count`` count all of them.
    """

    entity: EntityInfo
    names: tuple[EntityName, ...]
    chunks: tuple[EntityChunk, ...]
    chunk_count: int
    relations: tuple[EntityRelation, ...]
    relation_count: int
