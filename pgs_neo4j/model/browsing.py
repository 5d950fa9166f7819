"""Parts of a graph to browse: nodes, neighbors, findings, members, and entities.

``element_id`` is the database's current handle for a node, as in citations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDetails:
    """A node of a graph: its text as a sweep shows it, and its other properties.

    ``properties`` are JSON data; long values are cut, and vectors are left out.
    ``properties_left_out`` counts further properties that are left out. ``partition`` is the node's
    partition in the current generation, ``partition_label`` its label, and ``rank`` the node's rank
    in it, 0 for the heaviest; all three are None if the node was added later. ``weight`` is the
    value of the mapping's weight property, None if the mapping has no weight property.
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

    ``name`` and ``fact`` are empty unless the mapping names properties for them.
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

    Only the first page has ``counts``, the largest first. Pass ``after`` to get the next page; it
    is None at the end. Unless ``complete``, the node has more relationships than were examined, and
    all counts are lower bounds.
    """

    neighbors: tuple[NodeNeighbor, ...]
    counts: tuple[NeighborCount, ...] = ()
    after: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinding:
    """A finding of a run that cites a node. A model derived it from the graph.

    ``quotes`` are the quotations of the finding that the node's text contains now. ``supported``:
    at least one of its citations was valid.
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
        """Whether the finding quotes the node."""
        return bool(self.quotes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMember:
    """A node of a partition; ``rank`` 0 is the heaviest.

    ``weight`` is the value of the mapping's weight property, None if the mapping has no weight
    property.
    """

    element_id: str
    title: str
    labels: tuple[str, ...]
    rank: int
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPage:
    """Some members of a partition, heaviest first.

    ``size`` is the number of members when the partition was made. Pass ``after`` to get the next
    page; it is None at the end.
    """

    partition: int
    size: int
    members: tuple[PartitionMember, ...]
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPlace:
    """A partition, or a unit of partitions, on the map.

    ``x`` and ``y`` are its position, from 0 to 1; neighbors are close together. ``area`` is its
    rectangle in a frame of 1.6 by 1: left, top, width, and height; areas are proportional to nodes.
    ``partitions`` are the ids of the partitions in it: its own id, or the ids of the partitions
    beneath the unit.
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
    """The places of a generation's partitions or units on the map, the largest first.

    ``level`` 0 shows partitions, and higher levels show units of the hierarchy. ``links`` are pairs
    of places, given by their index in ``places``, with the weight between them, the heaviest first.
    """

    generation: str
    level: int
    places: tuple[MapPlace, ...]
    links: tuple[tuple[int, int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionAnalogy:
    """Two partitions that analogies link, the lower id first.

    ``links`` counts the analogies. ``titles`` are the titles of the two linked nodes whose texts
    differ most.
    """

    first: int
    second: int
    links: int
    titles: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReading:
    """What a session has read of a partition.

    ``nodes_unproven`` counts further nodes that were shown without proof.
    """

    partition: int
    nodes_read: int
    nodes_unproven: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFlag:
    """A flag in the report on the partition ``source`` that points to the partition ``target``.

    ``chased``: the session has also read nodes of the target. A model wrote ``text``.
    """

    source: int
    target: int
    text: str
    run: str
    chased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDrift:
    """How the nodes of a partition have changed since its generation was made.

    ``nodes`` counts the nodes that the partition had then. Of these, ``removed`` were deleted or no
    longer belong to the graph, and ``changed`` have a new text, weight, or embedding.
    """

    partition: int
    nodes: int
    removed: int
    changed: int

    @property
    def fraction(self) -> float:
        """The share of the partition's nodes that were removed or changed."""
        return (self.removed + self.changed) / max(self.nodes, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDrift:
    """The drift of each current partition; ``added`` counts nodes that are in no partition yet."""

    generation: str
    added: int
    partitions: tuple[PartitionDrift, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityInfo:
    """An entity of a graph.

    ``mentions`` counts the chunks that mention it, once for each name and type that a chunk gives
    the entity.
    """

    id: str
    name: str
    type: str
    mentions: int
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityName:
    """A name of an entity, with its spellings, the most common first.

    ``joined`` says why the name belongs to this entity: ``leads`` if it is the leading name, or
    else the kind of variant, such as ``initials``. ``merged`` and ``apart``: a ruling joined or
    split it. ``type``: few chunks give it this type, so it joins the entity of the more frequent
    type. ``to`` is the id of the name that it is a variant of or was joined to, otherwise empty.
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

    ``chunk_count`` and ``relation_count`` count all its chunks and relations.
    """

    entity: EntityInfo
    names: tuple[EntityName, ...]
    chunks: tuple[EntityChunk, ...]
    chunk_count: int
    relations: tuple[EntityRelation, ...]
    relation_count: int
