"""Builds a new generation: finds communities in GDS, applies limits in Python, and stores them.

A seeded build starts from the earlier partitions, which get a label while GDS reads them.
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

ADJACENT = 15  # neighbors of a partition that a sweep sees; the published number, 5, misses half


async def build_generation(
    order: BuildOrder, tools: BuildTools, view: View, previous: Predecessor | None, *, seeded: bool
) -> bool:
    """Write a generation and make it current; return False if nodes vanished.

    With ``seeded``, starts from the partitions of ``previous`` and not from scratch.
    """
    weight, uniform = usable_weights(view.weight)
    root = previous if seeded else None
    bundled = await asyncio.to_thread(bundle, order, view, weight)
    if bundled is not None:
        weight = bundled.weight
    # GDS uses one core most of the time, so this process can use another one at the same time.
    communities, edges = await together(
        _project_and_detect(order, tools, view, uniform, root, bundled),
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
    """Write and describe the partitions; return None if nodes vanished.

    ``edges`` are the relationships. ``binding`` also has edges between similar documents. ``raw``
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


async def _project_and_detect(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    uniform: bool,
    root: Predecessor | None,
    bundled: Bundled | None,
) -> Communities:
    """Detect communities, and start from the partitions of ``root`` if GDS can read the graph.

    With ``bundled``, the nodes of the projection are the bundles, and the id of a bundle is the id
    of its first node.
    """
    config, gds = order.config, tools.gds
    # GDS itself does not know the scope.
    direct = (view.clean or uniform) and not tools.db.scope
    with tools.timer.step("estimate"):
        await refuse_if_too_large(gds, len(view.ids), len(view.source), config.algorithm)
    async with AsyncExitStack() as stack:
        with tools.timer.step("project"):
            if bundled is not None:
                first = view.ids[bundled.bundles.first]
                projection = await stack.enter_async_context(
                    project_edges(gds, first, bundled.edges)
                )
                return await _detect_communities(order, tools, projection)
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
        return await _detect_communities(order, tools, projection)


async def _detect_communities(
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
    """Mark the partitions of a generation with a label while GDS reads them."""
    label = seed_label(db.scope.qualify(graph))
    rows = await db.write(
        queries.get("pgs/partitioning/set_seeds"), generation=generation, label=label
    )
    try:
        yield Seeds(label, int(rows[0]["marked"]))
    finally:
        with suppress(DatabaseError):
            await to_the_end(clear_seeds(db, graph))


async def clear_seeds(db: Database, graph: str) -> None:
    """Remove the label that ``mark_seeds`` set."""
    await db.write(
        queries.get("pgs/partitioning/delete_seeds"), label=seed_label(db.scope.qualify(graph))
    )


async def prepare_seeds(db: Database, graph: str) -> None:
    """Create the label of a graph's seeds and remove it from all nodes.

    Call this before a change token is read, because the database counts a new label as a commit.
    """
    label = seed_label(db.scope.qualify(graph))
    await db.write(queries.get("pgs/partitioning/create_seed_labels"), label=label)
    await clear_seeds(db, graph)


def _draft_partitions(
    generation_id: str,
    view: View,
    edges: Edges,
    division: Division,
    previous: Predecessor | None,
) -> list[Partition]:
    """Return the partitions by id. Only shared partitions have descriptions."""
    limited = division.limited
    lineages = _find_lineages(limited, previous)
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


def _find_lineages(limited: Limited, previous: Predecessor | None) -> list[str | None]:
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
    """Return the quality and the hierarchy of the partitions ``labels`` ``(n,)``."""
    return quality(edges, labels), hierarchy(edges, labels, raw)


def _note_torn(view: View, edges: Edges, limited: Limited) -> dict[str, int]:
    """Add the number of partitions in pieces to the irregularities of a view.

    Pools do not count, since they collect nodes that belong nowhere.
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
    """Return the generation with its figures, but without its origin and embedder."""
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
