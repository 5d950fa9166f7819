"""A new generation: communities in GDS, limits in Python, written and described."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.portions import together
from pgs_neo4j.gds import Communities, detect_communities, project_view, refuse_if_too_large
from pgs_neo4j.graph.adjacency import adjacency
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.hierarchy import hierarchy
from pgs_neo4j.graph.limits import Limited
from pgs_neo4j.graph.lineage import inherited
from pgs_neo4j.graph.quality import Quality, quality
from pgs_neo4j.model import Adjacent, Generation, Partition
from pgs_neo4j.partitioning import generation, seeds, writing
from pgs_neo4j.partitioning.attempt import Attempt, building
from pgs_neo4j.partitioning.divide import Division, divide, placed
from pgs_neo4j.partitioning.membership import ranked
from pgs_neo4j.partitioning.predecessor import Before
from pgs_neo4j.partitioning.rows import properties, uid
from pgs_neo4j.partitioning.scan import view
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.partitioning.writing import Described, Source

ADJACENT = 5  # the published number of neighbours a sweep sees


async def build(
    attempt: Attempt, found: View, fingerprint: str, before: Before | None, seeded: bool
) -> bool:
    """Write a generation and make it current; False when nodes vanished meanwhile.

    ``seeded`` begins from the partitions before instead of from nothing.
    """
    weight, uniform = view.usable_weights(found.weight)
    root = before if seeded else None
    # GDS works on one core for most of the time; the other one is ours.
    communities, edges = await together(
        _detect(attempt, found, uniform, root),
        asyncio.to_thread(undirected, len(found.ids), found.source, found.target, weight),
    )
    raw = placed(found, communities)
    with attempt.clock.step("limits"):
        division = await divide(attempt, found, edges, raw, root)
    source = Source(root.generation, division.shared) if root is not None else None
    async with building(attempt) as name:
        drafts = _drafts(name, found, edges, division, before)
        members = ranked(found, division.limited.labels)
        with attempt.clock.step("write"):
            complete, (figures, levels) = await together(
                writing.write(attempt, name, drafts, members, source),
                asyncio.to_thread(_judged, edges, division.limited.labels, raw),
            )
        if not complete:
            await generation.abandon(attempt.db, name)
            return False
        with attempt.clock.step("enrich"):
            described = await writing.describe(
                attempt, name, found, members, drafts, levels, source
            )
        finished = replace(
            _finished(attempt, name, found, division.limited, described, figures),
            fingerprint=fingerprint,
            raw_modularity=communities.modularity,
            origin="seeded" if root is not None else "cold",
            grown=root.compared.drift.accumulated if root is not None else 0.0,
        )
        with attempt.clock.step("flip"):
            await flip(attempt, finished, found)
    return True


async def flip(attempt: Attempt, finished: Generation, found: View) -> None:
    """Make a finished generation the current one, with all its figures."""
    finished = replace(finished, seconds=dict(attempt.clock.steps))
    stored = properties(finished, sketch=found.sketch.tolist())
    await generation.make_current(attempt.db, attempt.graph, finished.id, stored)


async def _detect(
    attempt: Attempt, found: View, uniform: bool, before: Before | None
) -> Communities:
    """Communities; they grow from the partitions before where GDS can read these."""
    config, gds, direct = attempt.config, attempt.gds, found.clean or uniform
    with attempt.clock.step("estimate"):
        await refuse_if_too_large(gds, len(found.ids), len(found.source), config.algorithm)
    async with AsyncExitStack() as stack:
        with attempt.clock.step("project"):
            begin = None
            if before is not None and direct:
                begin = await stack.enter_async_context(
                    seeds.marked(attempt.db, attempt.graph, before.generation.id)
                )
            projection = await stack.enter_async_context(
                project_view(
                    gds, attempt.mapping, found.ids, uniform=uniform, direct=direct, seeds=begin
                )
            )
        with attempt.clock.step("communities"):
            return await detect_communities(
                gds,
                projection,
                config.algorithm,
                seed=config.random_seed,
                concurrency=config.gds_concurrency,
            )


def _drafts(
    name: str, found: View, edges: Edges, division: Division, before: Before | None
) -> list[Partition]:
    """The partitions by id: not described yet, but those that are what they were before."""
    limited = division.limited
    lineages = _lineages(limited, before)
    sizes = np.bincount(limited.labels, minlength=limited.partition_count)
    tokens = np.bincount(limited.labels, found.tokens, minlength=limited.partition_count)
    links = adjacency(edges, limited.labels, ADJACENT)
    drafts = [
        Partition(
            id=part + 1,
            uid=uid(name, part + 1),
            lineage=lineages[part] or uid(name, part + 1),
            size=int(sizes[part]),
            tokens=int(tokens[part]),
            adjacent=tuple(Adjacent(n + 1, e, w) for n, e, w in links.of(part)),
            pool=bool(limited.pool[part]),
        )
        for part in range(limited.partition_count)
    ]
    if before is None:
        return drafts
    return [
        replace(before.partitions[draft.id - 1], adjacent=draft.adjacent, parent=None)
        if draft.id in division.shared
        else draft
        for draft in drafts
    ]


def _lineages(limited: Limited, before: Before | None) -> list[str | None]:
    """The lineage that each partition carries on, None where it begins one."""
    if before is None:
        return [None] * limited.partition_count
    known = before.labels
    both = known >= 0
    heirs = inherited(
        known[both],
        limited.labels[both],
        np.asarray([part.size for part in before.partitions]),
        np.bincount(limited.labels, minlength=limited.partition_count),
    )
    return [before.partitions[at].lineage if at >= 0 else None for at in heirs.tolist()]


def _judged(
    edges: Edges, labels: NDArray[np.int64], raw: NDArray[np.int64]
) -> tuple[Quality, list[NDArray[np.int64]]]:
    return quality(edges, labels), hierarchy(edges, labels, raw)


def _finished(
    attempt: Attempt,
    name: str,
    found: View,
    limited: Limited,
    described: Described,
    figures: Quality,
) -> Generation:
    """The generation with its figures; where it came from is left to fill in."""
    levels = [unit.level for unit in described.units]
    return Generation(
        id=name,
        graph=attempt.graph,
        created_at="",
        algorithm=attempt.config.algorithm,
        fingerprint="",
        node_count=len(found.ids),
        relationship_count=len(found.source),
        partition_count=len(described.partitions),
        modularity=figures.modularity,
        conductance=figures.mean_conductance,
        sizes=tuple(part.size for part in described.partitions),
        pooled_nodes=limited.pooled_nodes,
        embedder=attempt.space.signature,
        dimensions=described.dimensions,
        issues=found.issues,
        split=limited.split,
        merged=limited.merged,
        pools=int(np.count_nonzero(limited.pool)),
        levels=tuple(np.unique(levels, return_counts=True)[1].tolist()),
        token=attempt.token,
        settings=attempt.settings,
        common=described.common,
    )
