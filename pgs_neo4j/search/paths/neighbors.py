"""Finds nodes around the best nodes of a search: four paths that start where other paths end.

They lead to neighbors, to nodes beyond hubs without text, to passages that mention the best nodes,
and to analogies, which describe the same mechanism in other words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.graph.scores import SPREADERS, best_first, scale
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.text import scores_of
from pgs_neo4j.search.paths.walk import Hits
from pgs_neo4j.text.shown import one_line

ENTRIES = 10
"""Best nodes from which the paths start (published default of structural search)."""
TITLE = 60
"""Maximum characters of a title in a path."""
# The following values are published defaults of the FalkorDB GraphRAG SDK.
NEAR_NODES, NEAR_EACH = 15, 3
"""Number of best nodes whose mentions count, and maximum number of passages that each adds."""
FAR_NODES, FAR_EACH = 10, 1
"""Number of best nodes whose neighbors' mentions count, and maximum number of passages that each
adds.
"""
FAR_SHARE = 0.5
"""Factor for a passage that only mentions a neighbor, because the neighbor may be irrelevant."""
UNKNOWN_COSINE = 0.5
"""Value used as the cosine of a passage without an embedding."""


async def find_neighbors(
    db: Database, mapping: GraphMapping, scores: Mapping[str, float], k: int
) -> Hits:
    """Return the ``k`` neighbors of the best nodes that gain most from them, best first.

    ``scores`` are by element id, best first. A neighbor m gains s(n) · w(n, m) / √(d(n) · d(m))
    from each best node n, where s is the score, w the relationship's weight, and d a degree. Raises
    DatabaseError.
    """
    sources = dict(islice(scores.items(), SPREADERS))
    if not sources:
        return Hits("no nodes to walk from")
    rows = await db.read(
        queries.get("search/paths/find_neighbors"),
        sources=list(sources),
        scores=list(map(float, sources.values())),
        types=list(mapping.relationship_types),
        labels=list(mapping.labels),
        weight=mapping.relationship_weight or "",
        k=k,
    )
    return Hits(f"relationships of the {len(sources)} best nodes", scores_of(rows))


async def find_through_hubs(
    db: Database,
    mapping: GraphMapping,
    scores: Mapping[str, float],
    vector: NDArray[np.float32] | None,
    k: int,
) -> Hits:
    """Return the ``k`` nodes with text beyond one or two hubs without text, the nearest first.

    Paths start at the best nodes of ``scores``; ``vector`` ``(d,)`` is the question. A hub may have
    any degree and any label. Scores are cosines, 0 without a vector. Raises DatabaseError.
    """
    entries = [*islice(scores, ENTRIES)]
    if not entries or not mapping.text_properties:
        return Hits("no nodes to walk from")
    rows = await db.read(
        queries.get("search/paths/find_through"),
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
        {one["element_id"]: _draw_row(one) for one in far},
    )


def _draw_row(row: Row) -> str:
    names = [_shorten_title(title) for title in row["nodes"]]
    return draw_path(names, row["types"], row["forward"])


def draw_path(names: Sequence[str], types: Sequence[str], forward: Sequence[bool]) -> str:
    """Return a path as text; each node between the ends is a hub and appears in parentheses.

    An arrow has the direction of its relationship: ``hit --[TYPE]--> (hub) <--[TYPE]-- node``.
    """
    last = len(names) - 1
    drawn = [name if place in (0, last) else f"({name})" for place, name in enumerate(names)]
    steps = [drawn[0]]
    for name, kind, away in zip(drawn[1:], types, forward, strict=True):
        arrow = f"--[{one_line(kind)}]-->" if away else f"<--[{one_line(kind)}]--"
        steps += [arrow, name]
    return " ".join(steps)


async def find_passages(
    db: Database,
    mapping: GraphMapping,
    scores: Mapping[str, float],
    vector: NDArray[np.float32] | None,
) -> Hits:
    """Return the passages that mention the best nodes or their neighbors, best first.

    ``scores`` are by element id, best first; ``vector`` ``(d,)`` is the question. A passage's score
    is the highest scaled score of a node that it mentions, times its cosine to the question. A
    neighbor's mention counts ``FAR_SHARE``. Raises DatabaseError.
    """
    nodes = scale(dict(islice(scores.items(), NEAR_NODES)))
    if not mapping.chunk_labels or not mapping.mention_types or not nodes:
        return Hits("every node with text is a passage")
    rows = await db.read(
        queries.get("search/paths/find_passages"),
        nodes=list(nodes),
        far=FAR_NODES,
        types=list(mapping.relationship_types),
        mention_types=list(mapping.mention_types),
        chunk_labels=list(mapping.chunk_labels),
        embedding=mapping.embedding or "",
        vector=[] if vector is None else vector.tolist(),
        near_each=NEAR_EACH,
        far_each=FAR_EACH,
    )
    found: dict[str, float] = {}
    for row in rows[0]["passages"]:
        found[row["passage"]] = max(found.get(row["passage"], 0.0), _score_passage(row, nodes))
    return Hits(f"mentions of the {len(nodes)} best nodes", best_first(found))


def _score_passage(row: Row, nodes: Mapping[str, float]) -> float:
    cosine = UNKNOWN_COSINE if row["score"] is None else max(float(row["score"]), 0.0)
    share = 1.0 if row["direct"] else FAR_SHARE
    return nodes[row["node"]] * share * cosine


async def find_analogies(
    db: Database, graph: str | None, mapping: GraphMapping, scores: Mapping[str, float], k: int
) -> Hits:
    """Return the ``k`` best analogies of the best nodes of ``scores``.

    An analogy's score is the node's score times the cosine of both skeletons. Raises DatabaseError.
    """
    entries = dict(islice(scores.items(), ENTRIES))
    if graph is None or not entries:
        return Hits("no stored graph" if graph is None else "no nodes to begin at")
    rows = await db.read(
        queries.get("search/paths/find_analogies"),
        graph=graph,
        entries=[*entries],
        scores=[float(score) for score in entries.values()],
        labels=list(mapping.labels),
        title=mapping.name_properties,
        k=k,
    )
    if not rows[0]["made"]:
        return Hits(f"no analogies were made; 'pgs analogies --graph {graph}' makes them")
    alike = rows[0]["analogies"]
    return Hits(
        "skeletons of the best nodes",
        {one["element_id"]: one["score"] for one in alike},
        {one["element_id"]: _draw_analogy(one) for one in alike},
    )


def _draw_analogy(row: Row) -> str:
    entry, title = (_shorten_title(row[end]) for end in ("entry", "title"))
    return f"{entry} ~~[analogy, delta {row['delta']:.2f}]~~ {title}"


def _shorten_title(title: object) -> str:
    return one_line(str(title), TITLE) if title is not None else "?"
