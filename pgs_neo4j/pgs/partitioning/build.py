"""Builds a new generation: communities in GDS, limits in Python, then storage.

A seeded build begins from the earlier partitions, whose nodes are marked while GDS reads them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import (
    Communities,
    Projection,
    Seeds,
    detect_communities,
    project_edges,
    project_view,
    refuse_if_too_large,
    seed_label,
)
from pgs_neo4j.database.tasks import to_the_end, together
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.graph.adjacency import adjacency
from pgs_neo4j.graph.bundles import share_together
from pgs_neo4j.graph.connected import count_pieces
from pgs_neo4j.graph.csr import Edges, dense, join, undirected
from pgs_neo4j.graph.hierarchy import hierarchy
from pgs_neo4j.graph.limits import Limited
from pgs_neo4j.graph.lineage import inherited
from pgs_neo4j.graph.quality import Quality, modularity, quality
from pgs_neo4j.model import Adjacent, Generation, Partition
from pgs_neo4j.pgs.partitioning import generation, writing
from pgs_neo4j.pgs.partitioning.divide import (
    Bundled,
    Division,
    bundle,
    divide_communities,
    place_communities,
)
from pgs_neo4j.pgs.partitioning.drift import Predecessor
from pgs_neo4j.pgs.partitioning.kept_settings import settings_of
from pgs_neo4j.pgs.partitioning.membership import rank_members
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.rows import uid
from pgs_neo4j.pgs.partitioning.view import TORN, View, usable_weights
from pgs_neo4j.pgs.partitioning.writing import Described, SharedPartitions, begin_generation

ADJACENT = 15  # neighbors of a partition that a sweep sees; the published five miss half


async def build_generation(
    order: BuildOrder, tools: BuildTools, view: View, previous: Predecessor | None, *, seeded: bool
) -> bool:
    """Write a generation and make it current; False if nodes vanished.

    ``seeded`` begins from the partitions of ``previous`` instead of from scratch.
    """
    weight, uniform = usable_weights(view.weight)
    root = previous if seeded else None
    bundled = await asyncio.to_thread(bundle, order, view, weight)
    if bundled is not None:
        weight = bundled.weight
    # GDS works on one core for most of the time; the other one is free for this process.
    communities, edges = await together(
        _detect(order, tools, view, uniform, root, bundled),
        asyncio.to_thread(undirected, len(view.ids), view.source, view.target, weight),
    )
    raw = place_communities(view.ids, communities, bundled)
    binding = edges if bundled is None else join(edges, bundled.alike)
    with tools.timer.step("limits"):
        division = await divide_communities(order, tools, view, edges, raw, root, bundled)
    async with begin_generation(order, tools):
        stored = await _store(order, tools, view, edges, binding, raw, division, previous, root)
        if stored is None:
            await generation.abandon(tools.db, order.generation_id)
            return False
        described, figures = stored
        finished = replace(
            _summarize(order, view, division.limited, described, figures),
            embedder=tools.space.signature,
            raw_modularity=communities.modularity
            if bundled is None
            else modularity(binding, dense(raw)),
            documents_together=None
            if bundled is None
            else share_together(bundled.bundles.document, view.passage, division.limited.labels),
            issues=await asyncio.to_thread(_note_torn, view, binding, division.limited),
            origin="seeded" if root is not None else "cold",
            grown=root.comparison.drift.accumulated if root is not None else 0.0,
        )
        with tools.timer.step("flip"):
            await writing.make_current(order, tools, finished, view)
    return True


async def _store(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    edges: Edges,
    binding: Edges,
    raw: NDArray[np.int64],
    division: Division,
    previous: Predecessor | None,
    root: Predecessor | None,
) -> tuple[Described, Quality] | None:
    """Write and describe the partitions; None if nodes vanished.

    ``edges`` are the relationships, and ``binding`` also holds the likeness of documents. ``raw``
    ``(n,)`` are the communities before the limits.
    """
    labels = division.limited.labels
    shared = SharedPartitions(root.generation, division.shared) if root is not None else None
    drafts = _draft_partitions(order.generation_id, view, edges, division, previous)
    members = rank_members(view, labels)
    with tools.timer.step("write"):
        complete, (figures, levels) = await together(
            writing.write(order, tools, drafts, members, shared),
            asyncio.to_thread(_measure, binding, labels, raw),
        )
    if not complete:
        return None
    with tools.timer.step("enrich"):
        described = await writing.describe(order, tools, view, members, drafts, levels, shared)
    return described, figures


async def _detect(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    uniform: bool,
    root: Predecessor | None,
    bundled: Bundled | None,
) -> Communities:
    """Detect communities; begin from those of ``root`` if possible.

    It is possible if GDS can read them. Documents are detected as the nodes of a graph that is not
    stored, each by the id of its first node.
    """
    config, gds, direct = order.config, tools.gds, view.clean or uniform
    with tools.timer.step("estimate"):
        await refuse_if_too_large(gds, len(view.ids), len(view.source), config.algorithm)
    async with AsyncExitStack() as stack:
        with tools.timer.step("project"):
            if bundled is not None:
                first = view.ids[bundled.bundles.first]
                projection = await stack.enter_async_context(
                    project_edges(gds, first, bundled.edges)
                )
                return await _communities_of(order, tools, projection)
            marks = None
            if root is not None and direct:
                marks = await stack.enter_async_context(
                    mark_seeds(tools.db, order.graph, root.generation.id)
                )
            projection = await stack.enter_async_context(
                project_view(
                    gds, order.mapping, view.ids, uniform=uniform, direct=direct, seeds=marks
                )
            )
        return await _communities_of(order, tools, projection)


async def _communities_of(
    order: BuildOrder, tools: BuildTools, projection: Projection
) -> Communities:
    config = order.config
    with tools.timer.step("communities"):
        return await detect_communities(
            tools.gds,
            projection,
            config.algorithm,
            seed=config.random_seed,
            concurrency=config.gds_concurrency,
        )


@asynccontextmanager
async def mark_seeds(db: Database, graph: str, generation: str) -> AsyncIterator[Seeds]:
    """Mark the partitions of a generation while GDS reads them."""
    label = seed_label(graph)
    rows = await db.write(
        queries.get("pgs/partitioning/set_seeds"), generation=generation, label=label
    )
    try:
        yield Seeds(label, int(rows[0]["marked"]))
    finally:
        with suppress(DatabaseError):
            await to_the_end(clear_seeds(db, graph))


async def clear_seeds(db: Database, graph: str) -> None:
    """Remove the marks."""
    await db.write(queries.get("pgs/partitioning/delete_seeds"), label=seed_label(graph))


async def prepare_seeds(db: Database, graph: str) -> None:
    """Create the label of a graph's seeds and unmark all nodes.

    Called before a change token is read: the database counts a new name as a commit.
    """
    label = seed_label(graph)
    await db.write(queries.get("pgs/partitioning/create_seed_labels"), label=label)
    await clear_seeds(db, graph)


def _draft_partitions(
    generation_id: str,
    view: View,
    edges: Edges,
    division: Division,
    previous: Predecessor | None,
) -> list[Partition]:
    """Return the partitions by id, undescribed except for the shared ones."""
    limited = division.limited
    lineages = _lineages(limited, previous)
    sizes = np.bincount(limited.labels, minlength=limited.partition_count)
    tokens = np.bincount(limited.labels, view.tokens, minlength=limited.partition_count)
    texts = np.bincount(limited.labels, view.tokens > 0, minlength=limited.partition_count)
    links = adjacency(edges, limited.labels, ADJACENT)
    drafts = [
        Partition(
            id=part + 1,
            uid=uid(generation_id, part + 1),
            lineage=lineages[part] or uid(generation_id, part + 1),
            size=int(sizes[part]),
            tokens=int(tokens[part]),
            texts=int(texts[part]),
            adjacent=tuple(Adjacent(n + 1, e, w) for n, e, w in links.of(part)),
            pool=bool(limited.pool[part]),
        )
        for part in range(limited.partition_count)
    ]
    if previous is None:
        return drafts
    return [
        replace(previous.partitions[draft.id - 1], adjacent=draft.adjacent, parent=None)
        if draft.id in division.shared
        else draft
        for draft in drafts
    ]


def _lineages(limited: Limited, previous: Predecessor | None) -> list[str | None]:
    """Return the lineage that each partition continues; None for a new one."""
    if previous is None:
        return [None] * limited.partition_count
    labels = previous.labels
    both = labels >= 0
    heirs = inherited(
        labels[both],
        limited.labels[both],
        np.asarray([part.size for part in previous.partitions]),
        np.bincount(limited.labels, minlength=limited.partition_count),
    )
    return [previous.partitions[at].lineage if at >= 0 else None for at in heirs.tolist()]


def _measure(
    edges: Edges, labels: NDArray[np.int64], raw: NDArray[np.int64]
) -> tuple[Quality, list[NDArray[np.int64]]]:
    """Return quality and hierarchy of the partitions ``labels`` ``(n,)``."""
    return quality(edges, labels), hierarchy(edges, labels, raw)


def _note_torn(view: View, edges: Edges, limited: Limited) -> dict[str, int]:
    """Return the irregularities of a view, with the partitions that nothing holds together.

    A pool collects what belongs nowhere, so it is not one of them.
    """
    pieces = count_pieces(edges, limited.labels)
    torn = int(np.count_nonzero((pieces > 1) & ~limited.pool))
    return {**view.issues, **({TORN: torn} if torn else {})}


def _summarize(
    order: BuildOrder,
    view: View,
    limited: Limited,
    described: Described,
    figures: Quality,
) -> Generation:
    """Return the generation with its figures.

    Its origin and embedder are left blank.
    """
    levels = [unit.level for unit in described.units]
    return Generation(
        id=order.generation_id,
        graph=order.graph,
        created_at="",
        algorithm=order.config.algorithm,
        fingerprint=view.fingerprint(order.settings),
        node_count=len(view.ids),
        relationship_count=len(view.source),
        partition_count=len(described.partitions),
        modularity=figures.modularity,
        conductance=figures.mean_conductance,
        sizes=tuple(part.size for part in described.partitions),
        pooled_nodes=limited.pooled_nodes,
        embedder=None,
        dimensions=described.dimensions,
        split=limited.split,
        merged=limited.merged,
        pools=int(np.count_nonzero(limited.pool)),
        levels=tuple(np.unique(levels, return_counts=True)[1].tolist()),
        token=order.token,
        settings=order.settings,
        common=described.common,
        knobs=settings_of(order.config),
        standing=dict(order.standing),
    )
