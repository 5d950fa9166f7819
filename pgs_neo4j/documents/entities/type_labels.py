"""Which types of entities are labels of their nodes as well."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.text.extraction.schema import MOST_TYPES


@dataclass(frozen=True, slots=True)
class TypeLabels:
    """Chooses the types of a graph that are labels. Each type is a property in any case.

    ``taken`` are labels of graphs: an entity with one of them would come into the view of that
    graph. ``used`` are the types that are labels so far. Neo4j never forgets the name of a label,
    so only the first ``MOST_TYPES`` become one.
    """

    taken: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)

    def reserve(self, types: Iterable[str]) -> None:
        """Make labels of types that people chose, whatever comes first."""
        self.used.update(types)

    def labels_of(self, type_: str) -> list[str]:
        """Return the label of a type, or an empty list if it has none."""
        if type_ in self.taken:
            return []
        if type_ not in self.used and len(self.used) >= MOST_TYPES:
            return []
        self.used.add(type_)
        return [type_]


async def read_type_labels(db: Database, graph: str, own: Iterable[str]) -> TypeLabels:
    """Return the labels of a graph's types, where ``own`` are the labels of its view.

    Raises DatabaseError.
    """
    taken, used = {*own}, set[str]()
    for row in await db.read(queries.get("documents/read_type_labels"), graph=graph):
        used.update(row["used"])
        for mapping in row["mappings"]:
            taken.update(json.loads(mapping).get("labels") or ())
    return TypeLabels(frozenset(taken), used)
