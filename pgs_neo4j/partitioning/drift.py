"""How far a graph has moved from its current generation, node by node.

Tier one costs nothing: has anybody else committed since? Only then the graph is scanned and
compared with what its generation was made of.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.graph.sketch import difference
from pgs_neo4j.model import Drift, Generation, GraphMapping
from pgs_neo4j.partitioning import membership
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.retrieval.space import Space


@dataclass(frozen=True, slots=True)
class Compared:
    """A scan beside the generation before: the drift, and who belonged where.

    ``labels`` (n,) are the partition of each scanned node, counted from 0, -1 for one that had
    none; ``touched`` are the ids of the partitions in which a text, a weight, or an embedding
    changed.
    """

    drift: Drift
    labels: NDArray[np.int64]
    touched: tuple[int, ...] = field(default=())


def settings_of(config: PGSConfig, space: Space, mapping: GraphMapping) -> str:
    """A digest of all that decides a partitioning besides the graph."""
    knobs: dict[str, Any] = {
        "min": config.min_community_size,
        "max": config.target_partition_max,
        "tokens": config.max_partition_tokens,
        "algorithm": config.algorithm,
        "seed": config.random_seed,
        "centroid": config.centroid,
    }
    return digest([knobs, space.signature, asdict(mapping)])


def holds(current: Generation | None, settings: str, token: str | None) -> bool:
    """Whether a generation is certainly still valid, without a look at the graph."""
    return (
        current is not None
        and token is not None
        and current.token == token
        and current.settings == settings
    )


async def compare(db: Database, current: Generation, found: View, settings: str) -> Compared:
    """Compare a scan with the generation before."""
    members = await membership.read_members(db, current)
    place = np.searchsorted(found.ids, members.nodes)
    place[place == len(found.ids)] = 0
    place[found.ids[place] != members.nodes] = -1
    kept = place >= 0
    at = place[kept]
    texts = found.text_hash[at] != members.hash[kept]
    facts = (found.facts[at] != members.facts[kept]) & ~texts
    count = len(found.source)
    drift = Drift(
        committed=True,
        nodes=len(found.ids),
        relationships=count,
        nodes_added=len(found.ids) - len(at),
        nodes_removed=current.node_count - len(at),
        texts_changed=int(texts.sum()),
        facts_changed=int(facts.sum()),
        relationships_changed=await _relationships_changed(db, current, found, count),
        settings_changed=current.settings != settings,
        grown=current.grown,
    )
    labels = np.full(len(found.ids), -1, dtype=np.int64)
    labels[at] = members.partition[kept] - 1
    touched = np.unique(members.partition[kept][texts | facts])
    return Compared(drift, labels, tuple(touched.tolist()))


async def _relationships_changed(db: Database, current: Generation, found: View, count: int) -> int:
    rows = await db.read(queries.get("partitioning/read_sketches"), generation=current.id)
    stored = np.asarray(rows[0]["sketch"] if rows else [], dtype=np.int64)
    if stored.shape != found.sketch.shape:
        return max(count, 1)  # made by an older release: nothing is known, so all may differ
    differing = difference(stored, found.sketch)
    # One that changed counts as one removed and one added; the larger of the two is reported.
    return (differing + abs(count - current.relationship_count) + 1) // 2
