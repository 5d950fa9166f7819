"""Finds relationships around the best nodes, and scores them by their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.graph.scores import (
    NEUTRAL,
    end_distance,
    nearness,
    rank_importance,
    scale,
    score_triplet,
)
from pgs_neo4j.model import FoundFact, GraphMapping
from pgs_neo4j.search.paths.walk import Hits
from pgs_neo4j.text.node_text import stated_text
from pgs_neo4j.text.shown import one_line

ENTRIES = 10
"""Best nodes from which the first hop starts."""
WIDTH = 30
"""Nodes from which each further hop starts, the nearest to the question."""
MOST_ROWS = 100
"""Maximum number of relationships read per hop: those with far ends nearest to the question."""
INFLUENCE = 0.3
"""Weight of feedback (published default of triplet search)."""
TITLE = 100
"""Maximum characters of a title or name in a relationship."""
FACT = 500
"""Maximum characters of the fact that a relationship states."""
# The following values are published defaults of the FalkorDB GraphRAG SDK.
NEAREST = 15
LEAST_COSINE = 0.25
LEAST, MOST = 3, 12
CANDIDATES = 4
"""Relationships to request from an index per wanted one, because some lie outside the view."""


@dataclass(slots=True)
class _Walked:
    """The relationships found so far by id, with their hops, and their end nodes, with cosines."""

    rows: dict[str, tuple[int, Row]] = field(default_factory=dict)
    hops: dict[str, int] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)

    def add(self, hop: int, rows: Sequence[Row]) -> None:
        """Add the relationships of one hop; a relationship found earlier keeps its hop."""
        for row in rows:
            self.rows.setdefault(row["id"], (hop, row))
            self.hops.setdefault(row["far_id"], hop)
            for end in ("near", "far"):
                if row[end] is not None:
                    self.cosines[row[f"{end}_id"]] = row[end]

    def at(self, hop: int) -> list[str]:
        """Return the nodes first reached at ``hop``, the nearest to the question first."""
        reached = [node for node, first in self.hops.items() if first == hop]
        return sorted(reached, key=lambda node: (-self.cosines.get(node, -1.0), node))


async def find_facts(
    db: Database,
    mapping: GraphMapping,
    scores: Mapping[str, float],
    vector: NDArray[np.float32] | None,
    *,
    hops: int,
    k: int,
) -> Hits:
    """Return the ``k`` best relationships within ``hops`` of the best nodes, and their ends.

    ``scores`` are by element id, best first; ``vector`` ``(d,)`` is the question. Without a vector,
    a start node's scaled score replaces its cosine. An end gets the score of its best relationship.
    The formulas are those of triplet search. Raises DatabaseError.
    """
    entries = dict(islice(scores.items(), ENTRIES))
    if not entries:
        return Hits("no nodes to walk from")
    walked = _Walked(hops=dict.fromkeys(entries, 0))
    if vector is None:
        walked.cosines = scale(entries)
    sources = [*entries]
    for hop in range(1, hops + 1):
        walked.add(hop, await _read_facts(db, mapping, sources, vector))
        sources = walked.at(hop)[:WIDTH]
    facts = _select_best_facts(walked, k)
    method = f"relationships within {hops} of the {len(entries)} best nodes"
    return Hits(method, _score_ends(facts, walked.cosines), things=tuple(facts))


def _score_ends(facts: Sequence[FoundFact], cosines: Mapping[str, float]) -> dict[str, float]:
    """Return the scores of relationships' ends, best first, then by cosine to the question."""
    best: dict[str, float] = {}
    for fact in facts:
        for end in (fact.source, fact.target):
            best[end] = max(best.get(end, 0.0), fact.score)
    order = sorted(best, key=lambda end: (-best[end], -cosines.get(end, -1.0), end))
    return {end: best[end] for end in order}


async def _read_facts(
    db: Database, mapping: GraphMapping, nodes: Sequence[str], vector: NDArray[np.float32] | None
) -> list[Row]:
    if not nodes:
        return []
    rows = await db.read(
        queries.get("search/paths/find_facts"),
        nodes=list(nodes),
        types=list(mapping.relationship_types),
        vector=[] if vector is None else vector.tolist(),
        k=MOST_ROWS,
        **_name_properties(mapping),
    )
    facts: list[Row] = rows[0]["facts"]
    return facts


async def find_facts_by_vector(
    db: Database,
    indexes: Sequence[SearchIndex],
    mapping: GraphMapping,
    vector: NDArray[np.float32],
) -> Hits:
    """Return the relationships whose facts are nearest to ``vector`` ``(d,)``, and their ends.

    The ``NEAREST`` relationships by cosine are searched. Relationships with a cosine of at least
    ``LEAST_COSINE`` are returned, but no fewer than ``LEAST`` and no more than ``MOST``. Raises
    DatabaseError.
    """
    rows = await db.read(
        queries.get("search/paths/find_facts_by_vector"),
        indexes=[index.name for index in indexes],
        vector=vector.tolist(),
        candidates=CANDIDATES * NEAREST,
        k=NEAREST,
        **_name_properties(mapping),
    )
    facts: list[Row] = rows[0]["facts"]
    near = [row for row in facts if row["fact"] >= LEAST_COSINE]
    walked = _Walked()
    walked.add(0, max(near, facts[:LEAST], key=len)[:MOST])
    walked.hops = {row[end]: 0 for _, row in walked.rows.values() for end in ("near_id", "far_id")}
    scored = _select_best_facts(walked, MOST)
    method = f"vector index {', '.join(index.name for index in indexes)}"
    return Hits(method, _score_ends(scored, walked.cosines), things=tuple(scored))


def _name_properties(mapping: GraphMapping) -> Row:
    """Return the parameters that name the properties to read of relationships and their ends."""
    return {
        "labels": list(mapping.labels),
        "title": mapping.title_properties,
        "key": mapping.key_properties,
        "text": mapping.text_properties,
        "embedding": mapping.embedding or "",
        "weight": mapping.relationship_weight or "",
        "name": mapping.relationship_name or "",
        "fact_text": mapping.relationship_text or "",
        "fact_embedding": mapping.relationship_embedding or "",
    }


def _select_best_facts(walked: _Walked, k: int) -> list[FoundFact]:
    """Return the ``k`` best relationships as facts, best first."""
    rows = walked.rows.values()
    importance = rank_importance([_weight_of(row["weight"]) for _, row in rows])
    scored = [
        (_score_fact(walked, row, float(weight)), hop, row)
        for (hop, row), weight in zip(rows, importance, strict=True)
    ]
    scored.sort(key=lambda one: (-one[0], one[2]["id"]))
    return [_make_fact(row, hop, score) for score, hop, row in scored[:k]]


def _score_fact(walked: _Walked, row: Row, importance: float) -> float:
    distances = [
        end_distance(walked.cosines.get(node), walked.hops[node])
        for node in (row["near_id"], row["far_id"])
    ]
    if row["fact"] is not None:
        distances.append(1 - row["fact"])
    return score_triplet(nearness(distances), importance, _feedback_of(row), INFLUENCE)


def _make_fact(row: Row, hop: int, score: float) -> FoundFact:
    titles = [one_line(row[f"{end}_title"] or "?", TITLE) for end in ("near", "far")]
    ids = [row["near_id"], row["far_id"]]
    if not row["forward"]:
        titles.reverse()
        ids.reverse()
    return FoundFact(
        id=row["id"],
        type=row["type"],
        source=ids[0],
        target=ids[1],
        source_title=titles[0],
        target_title=titles[1],
        hops=hop,
        score=score,
        name=_shorten_text(row["name"], TITLE),
        text=one_line(stated_text(row["text"]), FACT),
    )


def _feedback_of(row: Row) -> float:
    return NEUTRAL if row["feedback"] is None else float(row["feedback"])


def _shorten_text(value: object, most: int) -> str:
    return one_line(value, most) if isinstance(value, str) else ""


def _weight_of(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None
