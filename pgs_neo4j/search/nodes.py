"""Reads nodes with their texts, by their ids or places, and their stored embeddings.

The place of a node is its partition and its rank there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.stored_data import COUNT, FIX, check_stored
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import GraphMapping, Node, Partition
from pgs_neo4j.text import node_text

NAMES = ("element_id", "labels", "text", "title", "key")
COLUMNS = ("partition", "rank", *NAMES)
"""The columns that the statement ``read_placed`` returns for each node, in order."""


class Place(NamedTuple):
    """The position of a node: the id of its partition, and its rank there."""

    partition: int
    rank: int


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node's place, and the row with its stored properties."""

    place: Place
    row: Row

    @property
    def node(self) -> Node:
        """The node in the form that a sweep reads."""
        return node_text.node(**{name: self.row[name] for name in ("rank", *NAMES)})


async def read_nodes(
    db: Database, mapping: GraphMapping, element_ids: Sequence[str]
) -> tuple[Node, ...]:
    """Return nodes with their texts, in the order of ``element_ids``, without deleted nodes."""
    rows = await db.read(
        queries.get("search/read_nodes"),
        nodes=list(element_ids),
        text=mapping.text_properties,
        facts=mapping.facts,
        title=mapping.title_properties,
        key=mapping.key_properties,
    )
    return tuple(
        node_text.node(rank=rank, **{name: row[name] for name in NAMES})
        for rank, row in enumerate(rows[0]["nodes"])
    )


async def read_placed(
    db: Database,
    mapping: GraphMapping,
    partitions: Iterable[Partition],
    places: Iterable[Place],
    *,
    most_characters: int | None = None,
) -> Mapping[Place, PlacedNode]:
    """Return the nodes at ``places``, without deleted nodes.

    With ``most_characters``, the database cuts each text to that length, and facts are left out.
    Raises DatabaseError.
    """
    rows = await db.read(
        queries.get("search/read_placed"),
        places=group_by_partition(partitions, places),
        text=mapping.text_properties,
        facts=mapping.facts if most_characters is None else [],
        title=mapping.title_properties,
        key=mapping.key_properties,
        most=most_characters,
    )
    members = (dict(zip(COLUMNS, member, strict=True)) for member in rows[0]["members"])
    return {node.place: node for node in map(place_node, members)}


def place_node(row: Row) -> PlacedNode:
    """Return the node of a row. Raises StoredDataError if its stored place is invalid."""
    what = "the place of a node"
    partition, rank = (check_stored(COUNT, row[name], what, FIX) for name in ("partition", "rank"))
    return PlacedNode(Place(partition, rank), row)


def group_by_partition(
    partitions: Iterable[Partition], places: Iterable[Place]
) -> list[dict[str, str | list[int]]]:
    """Return places as parameters of a statement, one per partition: its uid and sorted ranks."""
    ranks: dict[int, set[int]] = defaultdict(set)
    for place in places:
        ranks[place.partition].add(place.rank)
    uids = {part.id: part.uid for part in partitions}
    return [{"partition": uids[part], "ranks": sorted(of)} for part, of in sorted(ranks.items())]


async def read_vectors(
    db: Database, nodes: Iterable[str], embedding: str, dimensions: int
) -> dict[str, NDArray[np.float64]]:
    """Return the embeddings ``(d,)`` of nodes at unit length, by element id.

    Nodes without an embedding of that length are left out. Raises DatabaseError.
    """
    rows = await db.read(
        queries.get("search/read_vectors"),
        nodes=list(nodes),
        embedding=embedding,
        dimensions=dimensions,
    )
    return {row["element_id"]: unit(np.asarray(row["vector"], np.float64)) for row in rows}
