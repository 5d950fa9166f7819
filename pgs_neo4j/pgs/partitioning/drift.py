"""Measures how far a graph has moved from its current generation.

The first check is cheap: has another program committed since the last check? Only then is the graph
scanned and compared, node by node, with the contents that its generation was built from. The next
generation may grow from that comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.graph.sketch import difference
from pgs_neo4j.model import (
    Drift,
    Generation,
    GraphDrift,
    GraphMapping,
    Origin,
    Partition,
    PartitionDrift,
)
from pgs_neo4j.pgs.partitioning import generation, membership
from pgs_neo4j.pgs.partitioning import view as scanner
from pgs_neo4j.pgs.partitioning.kept_settings import keep_settings
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools, settings_digest
from pgs_neo4j.pgs.partitioning.view import View, refuse_empty


@dataclass(frozen=True, slots=True)
class Comparison:
    """A scan compared with the current generation.

    ``labels`` ``(n,)`` int64 are the partitions of the scanned nodes, from 0, or -1 for a node
    without a partition. ``touched`` are the ids, ascending, of the partitions in which a text, a
    weight, or an embedding changed.
    """

    drift: Drift
    labels: NDArray[np.int64]
    touched: tuple[int, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The earlier generation, its partitions by id, and its comparison with a scan."""

    generation: Generation
    partitions: tuple[Partition, ...]
    comparison: Comparison

    @property
    def labels(self) -> NDArray[np.int64]:
        """The partitions ``(n,)`` of the scanned nodes, from 0, or -1."""
        return self.comparison.labels

    @property
    def bound(self) -> NDArray[np.int64]:
        """Labels ``(n,)``, but -1 for nodes in pools, which may move freely."""
        pool = np.asarray([part.pool for part in self.partitions] + [True])
        return np.where(pool[self.labels], -1, self.labels)


async def check_drift(
    order: PartitionOrder, tools: PartitionTools, *, scan: bool = True
) -> Drift | None:
    """Measure how far a graph has moved; return None before the first generation.

    The first check compares one number. If another program has committed since the last check and
    ``scan`` allows it, the graph is scanned and compared. The generation of an unchanged graph gets
    the new token, so that the next check is quick again. Raises EmptyGraphError, DatabaseError.
    """
    db, graph = tools.db, order.graph
    current = await generation.read_current(db, graph)
    if current is None:
        return None
    config = keep_settings(order.config, order.chosen, current)
    settings = settings_digest(replace(order, config=config), tools.space)
    token = await read_change_token(db)
    changed = current.settings != settings
    if token is not None and token == current.token:
        drift = unchanged_drift(current, committed=False)
        return replace(drift, settings_changed=changed, algorithm=config.algorithm)
    if not scan:
        return Drift(committed=True, settings_changed=changed, algorithm=config.algorithm)
    view = await scanner.scan(db, order.mapping, tools.on_event)
    refuse_empty(graph, view)
    if await confirm_generation(db, current, view.fingerprint(settings), token):
        return replace(unchanged_drift(current, committed=True), algorithm=config.algorithm)
    drift = (await compare_scan(db, current, view, settings)).drift
    return replace(drift, algorithm=config.algorithm)


async def may_have_changed(db: Database, current: Generation) -> bool:
    """Return whether another program may have committed since the last check of a generation; O(1).

    Returns True if this cannot be known. Raises DatabaseError.
    """
    token = await read_change_token(db)
    return token is None or token != current.token


async def measure_partitions(
    tools: PartitionTools, mapping: GraphMapping, current: Generation
) -> GraphDrift:
    """Measure how far each partition of the current generation has moved, without writing.

    Scans the graph only if another program may have committed since the last check. Raises
    DatabaseError.
    """
    token = await read_change_token(tools.db)
    if token is not None and token == current.token:
        still = (
            PartitionDrift(partition=place, nodes=size, removed=0, changed=0)
            for place, size in enumerate(current.sizes, 1)
        )
        return GraphDrift(generation=current.id, added=0, partitions=tuple(still))
    view = await scanner.scan(tools.db, mapping, tools.on_event)
    return count_changes(current, await membership.read_members(tools.db, current), view)


def count_changes(current: Generation, members: Membership, view: View) -> GraphDrift:
    """Count per partition the nodes that are missing from a scan and the nodes that changed."""
    remaining, at = _find_places(members, view)
    ids = members.partition_ids[remaining]
    changed = (view.text_hash[at] != members.hash[remaining]) | (
        view.facts[at] != members.facts[remaining]
    )
    most = len(current.sizes) + 1
    left = np.bincount(ids, minlength=most)
    altered = np.bincount(ids[changed], minlength=most)
    return GraphDrift(
        generation=current.id,
        added=len(view.ids) - len(at),
        partitions=tuple(
            PartitionDrift(
                partition=place,
                nodes=size,
                removed=size - int(left[place]),
                changed=int(altered[place]),
            )
            for place, size in enumerate(current.sizes, 1)
        ),
    )


def _find_places(members: Membership, view: View) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return a mask ``(m,)`` of the members in a scan, and their positions in the scan ``(k,)``."""
    place = np.searchsorted(view.ids, members.nodes)
    place[place == len(view.ids)] = 0
    place[view.ids[place] != members.nodes] = -1
    remaining = place >= 0
    return remaining, place[remaining]


def choose_origin(drift: Drift, config: PGSConfig) -> Origin | None:
    """Return how to build the next generation; None if the current one is still valid."""
    if not drift.changed:
        return None
    if drift.settings_changed:
        return "cold"
    if not drift.structure_changed:
        return "refreshed"
    # Leiden in GDS accepts no starting communities.
    seeded = drift.accumulated <= config.seed_drift and config.algorithm != "leiden"
    return "seeded" if seeded else "cold"


def is_valid(current: Generation | None, settings: str, token: str | None) -> bool:
    """Return whether a generation is known to be still valid, without reading the graph."""
    return (
        current is not None
        and token is not None
        and current.token == token
        and current.settings == settings
    )


async def confirm_generation(
    db: Database, current: Generation, fingerprint: str, token: str | None
) -> bool:
    """Return whether a generation is still valid; if so, record the change token.

    A node that was deleted and created again with the same content and internal id has the same
    fingerprint but is no longer a member. So the members are counted as well.
    """
    if current.fingerprint != fingerprint:
        return False
    if await membership.count_members(db, current.id) != current.node_count:
        return False
    await generation.verify(db, current.id, token)
    return True


def unchanged_drift(current: Generation, *, committed: bool) -> Drift:
    """Return a drift of zero. ``committed`` says that another program wrote outside the graph."""
    return Drift(
        committed=committed,
        nodes=current.node_count,
        relationships=current.relationship_count,
        grown=current.grown,
    )


async def compare_scan(db: Database, current: Generation, view: View, settings: str) -> Comparison:
    """Compare a scan with the current generation."""
    members = await membership.read_members(db, current)
    rows = await db.read(queries.get("pgs/partitioning/read_sketches"), generation=current.id)
    sketch = np.asarray(rows[0]["sketch"] if rows else [], dtype=np.int64)
    return compare_arrays(current, members, sketch, view, settings)


def compare_arrays(
    current: Generation,
    members: Membership,
    sketch: NDArray[np.int64],
    view: View,
    settings: str,
) -> Comparison:
    """Compare a scan with a generation's members and its ``sketch`` ``(s,)``.

    The members may be in any order. Members whose node is gone count as removed.
    """
    remaining, at = _find_places(members, view)
    texts = view.text_hash[at] != members.hash[remaining]
    facts = (view.facts[at] != members.facts[remaining]) & ~texts
    drift = Drift(
        committed=True,
        nodes=len(view.ids),
        relationships=len(view.source),
        nodes_added=len(view.ids) - len(at),
        nodes_removed=current.node_count - len(at),
        texts_changed=int(texts.sum()),
        facts_changed=int(facts.sum()),
        relationships_changed=_estimate_changes(current, sketch, view),
        settings_changed=current.settings != settings,
        grown=current.grown,
    )
    labels = np.full(len(view.ids), -1, dtype=np.int64)
    labels[at] = members.partition_ids[remaining] - 1
    touched = np.unique(members.partition_ids[remaining][texts | facts])
    return Comparison(drift, labels, tuple(touched.tolist()))


def _estimate_changes(current: Generation, sketch: NDArray[np.int64], view: View) -> int:
    """Estimate how many relationships were added, removed, or changed."""
    count = len(view.source)
    if sketch.shape != view.sketch.shape:
        return max(count, 1)  # the generation was just deleted, so all may differ
    differing = difference(sketch, view.sketch)
    # ``differing`` is the sum of removed and added relationships, and a changed one counts as both.
    # The result is the larger of the two numbers.
    return (differing + abs(count - current.relationship_count) + 1) // 2
