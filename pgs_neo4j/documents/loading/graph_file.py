"""Represents a checked and complete graph from a file: its nodes, relationships, and mapping.

Nodes and relationships are stored in columns, which take a tenth of the memory of objects.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

import numpy as np

from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    from numpy.typing import NDArray

NodeId = str | int
Scalar = str | int | float | bool
ABSENT = math.nan  # Marks a missing number; numbers in a file are finite.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileNode:
    """A node to load. ``properties`` does not include ``id`` and the embedding."""

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
    """Nodes with distinct ids, relationships between them, and the mapping of their properties.

    ``ignored`` counts the file's unknown keys, by name.
    """

    nodes: Sequence[FileNode]
    relationships: Sequence[FileRelationship]
    mapping: GraphMapping
    ignored: dict[str, int] = field(default_factory=dict)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The distinct lengths of the embeddings, sorted. More than one length suggests a fault."""
        return tuple(sorted({n.embedding.size for n in self.nodes if n.embedding is not None}))

    @property
    def self_loops(self) -> int:
        """The number of relationships that end at their start node."""
        return sum(r.source == r.target for r in self.relationships)


class Texts:
    """A list of texts in one array of UTF-8 bytes; each text may be absent."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("q")
        self._absent = bytearray()

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, text: str | None) -> None:
        """Add a text at the end."""
        if text is not None:
            self._bytes += text.encode()
        self._ends.append(len(self._bytes))
        self._absent.append(text is None)

    def raw(self, place: int) -> bytes:
        """Return the UTF-8 bytes of a text, empty if it is absent."""
        begin = self._ends[place - 1] if place else 0
        return bytes(self._bytes[begin : self._ends[place]])

    def get(self, place: int) -> str | None:
        """Return a text, None if it is absent."""
        return None if self._absent[place] else self.raw(place).decode()


class Ids:
    """A list of node ids, each a number or a text; the number 17 equals the text "17"."""

    def __init__(self) -> None:
        self.texts = Texts()
        self._hashes = array("q")
        self._numbers = bytearray()

    def __len__(self) -> int:
        return len(self._hashes)

    def append(self, id_: NodeId) -> None:
        """Add an id at the end."""
        text = str(id_)
        self.texts.append(text)
        self._hashes.append(hash(text))
        self._numbers.append(isinstance(id_, int))

    def get(self, place: int) -> NodeId:
        """Return an id in its original type."""
        text = self.texts.raw(place).decode()
        return int(text) if self._numbers[place] else text

    def hashes(self) -> NDArray[np.int64]:
        """Return a hash of each id, ``(n,)``."""
        if not self._hashes:
            return np.empty(0, np.int64)
        return np.frombuffer(self._hashes, dtype=np.int64)


class Positions:
    """Finds the positions of ids among node ids, without an object per id."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        hashes = ids.hashes()
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]

    def repeated(self) -> tuple[int, int] | None:
        """Return the position of the first repeated id and the position of its first occurrence.

        Returns None if all ids are distinct.
        """
        same = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        repeats = []
        for at in sorted({int(self._order[at + 1]) for at in same}):
            first = self.find(self._ids, at)
            if first is not None and first != at:
                repeats.append((at, first))
        return min(repeats, default=None)

    def find(self, ids: Ids, place: int, hashed: int | None = None) -> int | None:
        """Return the first position of the id ``ids[place]`` among the node ids, None if missing.

        ``hashed`` is the hash of this id, if the caller has it.
        """
        raw = ids.texts.raw(place)
        value = int(ids.hashes()[place]) if hashed is None else hashed
        at = int(np.searchsorted(self._sorted, value))
        while at < len(self._sorted) and self._sorted[at] == value:
            position = int(self._order[at])
            if self._ids.texts.raw(position) == raw:
                return position
            at += 1
        return None

    def find_all(self, ids: Ids) -> Iterator[int | None]:
        """Yield the first position of each id in ``ids``, None for a missing id."""
        hashes = ids.hashes()
        starts = np.searchsorted(self._sorted, hashes)
        for place in range(len(ids)):
            at = int(starts[place])
            if at < len(self._sorted) and self._sorted[at] == hashes[place]:
                position = int(self._order[at])
                if self._ids.texts.raw(position) == ids.texts.raw(place):
                    yield position
                    continue
                yield self.find(ids, place, int(hashes[place]))
            else:
                yield None


class NodeColumns(Sequence[FileNode]):
    """The nodes of a brain in columns; each access creates a FileNode."""

    def __init__(self) -> None:
        self.ids = Ids()
        self.weighted = self.embedded = False
        self._concepts, self._tags = Texts(), Texts()
        self._weights = array("d")
        self._embeddings: dict[int, NDArray[np.float64]] = {}

    def append(self, node: FileNode) -> None:
        """Add a node at the end."""
        properties = node.properties
        if node.embedding is not None:
            self._embeddings[len(self.ids)] = node.embedding
        self.ids.append(node.id)
        self._concepts.append(str(properties["concept"]))
        tag, weight = properties.get("tag"), properties.get("weight")
        self._tags.append(None if tag is None else str(tag))
        self._weights.append(ABSENT if weight is None else float(weight))
        self.weighted = self.weighted or weight is not None
        self.embedded = self.embedded or node.embedding is not None

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> FileNode: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[FileNode]: ...
    def __getitem__(self, place: int | slice) -> FileNode | Sequence[FileNode]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        properties: dict[str, Scalar] = {"concept": self._concepts.get(at) or ""}
        tag, weight = self._tags.get(at), self._weights[at]
        if tag is not None:
            properties["tag"] = tag
        if not math.isnan(weight):
            properties["weight"] = weight
        return FileNode(
            id=self.ids.get(at), properties=properties, embedding=self._embeddings.get(at)
        )


class RelationshipColumns(Sequence[FileRelationship]):
    """The relationships of a brain in columns; each access creates a FileRelationship."""

    def __init__(self) -> None:
        self.weighted = False
        self._sources, self._targets = array("q"), array("q")
        self._types: dict[str, int] = {}
        self._names: list[str] = []
        self._kinds, self._weights = array("q"), array("d")

    def append(self, type_: str, weight: float | None) -> None:
        """Add a relationship at the end, without its nodes."""
        if type_ not in self._types:
            self._types[type_] = len(self._names)
            self._names.append(type_)
        self._kinds.append(self._types[type_])
        self._weights.append(ABSENT if weight is None else weight)
        self.weighted = self.weighted or weight is not None

    def join(self, source: int, target: int) -> None:
        """Set the nodes of the first relationship without nodes."""
        self._sources.append(source)
        self._targets.append(target)

    def __len__(self) -> int:
        return len(self._kinds)

    @overload
    def __getitem__(self, place: int) -> FileRelationship: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[FileRelationship]: ...
    def __getitem__(self, place: int | slice) -> FileRelationship | Sequence[FileRelationship]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        weight = self._weights[at]
        return FileRelationship(
            self._sources[at],
            self._targets[at],
            self._names[self._kinds[at]],
            None if math.isnan(weight) else weight,
        )
