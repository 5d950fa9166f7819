"""Finds nodes beyond bare hubs: nodes without text that relationships lead through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.text.shown import one_line

ENTRIES = 10
"""Best nodes that are walked from (structural search, published default)."""
TITLE = 60
"""Characters of a title in a path."""


async def find_through(
    db: Database,
    mapping: GraphMapping,
    scores: Mapping[str, float],
    vector: NDArray[np.float32] | None,
    k: int,
) -> Hits:
    """Return the ``k`` nodes with text beyond one or two hubs without, the nearest first.

    The best nodes of ``scores`` are walked from; ``vector`` ``(d,)`` is the question. A hub is
    walked through whatever its degree and label. Scores are cosines, 0 without a vector. Raises
    DatabaseError.
    """
    entries = [*islice(scores, ENTRIES)]
    if not entries or not mapping.text_properties:
        return Hits("no nodes to walk from")
    rows = await db.read(
        queries.get("search/find_through"),
        entries=entries,
        types=list(mapping.relationship_types),
        labels=list(mapping.labels),
        text=mapping.text_properties,
        title=mapping.name_properties,
        embedding=mapping.embedding or "",
        vector=[] if vector is None else vector.tolist(),
        k=k,
    )
    far = rows[0]["far"]
    return Hits(
        "relationships through nodes without text",
        {one["element_id"]: one["score"] for one in far},
        {one["element_id"]: _path(one) for one in far},
    )


def _path(row: Row) -> str:
    names = [_name(title) for title in row["nodes"]]
    return draw_path(names, row["types"], row["forward"])


def _name(title: object) -> str:
    return one_line(str(title), TITLE) if title is not None else "?"


def draw_path(names: Sequence[str], types: Sequence[str], forward: Sequence[bool]) -> str:
    """Return a path as text; every node between the ends is a hub, in parentheses.

    An arrow points as its relationship does: ``hit --[TYPE]--> (hub) <--[TYPE]-- node``.
    """
    last = len(names) - 1
    drawn = [name if place in (0, last) else f"({name})" for place, name in enumerate(names)]
    steps = [drawn[0]]
    for name, kind, away in zip(drawn[1:], types, forward, strict=True):
        arrow = f"--[{one_line(kind)}]-->" if away else f"<--[{one_line(kind)}]--"
        steps += [arrow, name]
    return " ".join(steps)
