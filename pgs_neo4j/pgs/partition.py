"""Phase 0: divide a graph into partitions that a sweep can read, and describe them.

Estimate, project, and detect communities in GDS; merge, split, and pool in Python; write a
new generation beside the current one, describe it, and flip. A generation is reused while
its fingerprint holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from uuid import uuid4

import numpy as np

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.db import Database
from pgs_neo4j.errors import DatabaseError, EmptyGraphError
from pgs_neo4j.events import OnEvent, PhaseFinished, PhaseStarted, StepStarted
from pgs_neo4j.gds import GDS, Communities
from pgs_neo4j.gds_calls import to_the_end
from pgs_neo4j.graph import weights
from pgs_neo4j.graph.adjacency import adjacency
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.limits import Limited, Limits, apply_limits
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.model import Adjacent, Generation, GraphMapping, Partition
from pgs_neo4j.pgs import enrich, generation, view
from pgs_neo4j.pgs.view import View
from pgs_neo4j.search.embedding import Space

ADJACENT = 5  # the published number of neighbours a sweep sees
LEFTOVER_S = 86_400.0  # age from which a projection of ours is nobody's: a job was killed
ATTEMPTS = 3  # scans of a graph whose nodes vanish meanwhile


@dataclass(frozen=True, slots=True)
class Partitioning:
    """A current generation with its partitions; ``reused`` when nothing had to be computed."""

    generation: Generation
    partitions: tuple[Partition, ...]
    reused: bool
    seconds: float
    steps: dict[str, float] = field(default_factory=dict)


async def ensure(
    db: Database,
    gds: GDS,
    graph: str,
    mapping: GraphMapping,
    config: PGSConfig,
    space: Space,
    on_event: OnEvent,
    *,
    force: bool = False,
) -> Partitioning:
    """The current partitions of a graph, computed anew when it changed or ``force`` is set.

    Raises EmptyGraphError when the mapping matches no node, GDSError and DatabaseError. On
    any failure, and on cancellation, the current generation stays as it was and nothing of
    the new one is left behind.
    """
    clock = _Clock(on_event)
    on_event(PhaseStarted("partition"))
    current = await generation.read_current(db, graph)
    reused = False
    for _ in range(ATTEMPTS):
        with clock.step("scan"):
            found = await view.scan(db, mapping, on_event)
        _refuse_empty(graph, found)
        fingerprint = found.fingerprint(_parameters(config), space.signature)
        reused = current is not None and current.fingerprint == fingerprint and not force
        if reused:
            break
        built = await _build(db, gds, graph, mapping, config, space, found, fingerprint, clock)
        if built:
            current = await generation.read_current(db, graph)
            break
    else:
        raise DatabaseError(
            f"graph {graph} kept changing while it was partitioned, {ATTEMPTS} times in a row; "
            "the generation before stays, so try again when fewer nodes are being deleted"
        )
    await generation.prune(db, graph, config.keep_generations)
    whole = await _whole(db, graph, current)
    seconds = clock.elapsed()
    on_event(PhaseFinished("partition", seconds, _summary(whole.generation, reused)))
    return replace(whole, reused=reused, seconds=seconds, steps=clock.steps)


async def _build(
    db: Database,
    gds: GDS,
    graph: str,
    mapping: GraphMapping,
    config: PGSConfig,
    space: Space,
    found: View,
    fingerprint: str,
    clock: _Clock,
) -> bool:
    """Write a generation and make it current; False when nodes vanished meanwhile."""
    weight, uniform = view.usable_weights(found.weight)
    with clock.step("estimate"):
        await gds.drop_leftovers(LEFTOVER_S)
        await gds.refuse_if_too_large(len(found.ids), len(found.source), config.algorithm)
    with clock.step("communities"):
        async with gds.project_view(mapping, uniform=uniform, concurrency=1) as projection:
            communities = await gds.detect(
                projection,
                config.algorithm,
                seed=config.random_seed,
                concurrency=config.gds_concurrency,
            )
    with clock.step("limits"):
        edges = undirected(len(found.ids), found.source, found.target, weight)
        limited = await asyncio.to_thread(_limited, found, edges, communities, config)
    drafts = _drafts(found, edges, limited)
    rank = weights.ranks(
        limited.labels,
        weights.complete(
            found.node_weight, weights.degrees(found.source, found.target, len(found.ids))
        ),
    )
    members = generation.Membership(found.ids, limited.labels + 1, rank, found.text_hash)
    name = f"g{uuid4().hex[:12]}"
    async with _abandoned_on_failure(db, name):
        await generation.begin(db, graph, name, {"algorithm": config.algorithm})
        with clock.step("write"):
            await generation.write_partitions(db, name, drafts)
            written = await generation.write_members(db, name, members, clock.on_event)
        if written != len(found.ids):
            await generation.abandon(db, name)
            return False
        with clock.step("enrich"):
            described = await enrich.describe(
                db, gds, name, mapping, config, space, drafts, found.embedding_dimensions
            )
            await generation.write_partitions(db, name, described)
        finished = _finished(
            name, graph, fingerprint, config, space, found, limited, edges, described
        )
        stored = generation.properties(finished, clock.steps)
        await generation.make_current(db, graph, name, stored)
    return True


def _finished(
    name: str,
    graph: str,
    fingerprint: str,
    config: PGSConfig,
    space: Space,
    found: View,
    limited: Limited,
    edges: Edges,
    described: Sequence[Partition],
) -> Generation:
    vectors = [p.centroid for p in described if p.centroid is not None]
    return Generation(
        id=name,
        graph=graph,
        created_at="",
        algorithm=config.algorithm,
        fingerprint=fingerprint,
        node_count=len(found.ids),
        relationship_count=len(found.source),
        partition_count=len(described),
        modularity=modularity(edges, limited.labels),
        sizes=tuple(partition.size for partition in described),
        pooled_nodes=limited.pooled_nodes,
        embedder=space.signature,
        dimensions=len(vectors[0]) if vectors else None,
        issues=found.issues,
    )


@asynccontextmanager
async def _abandoned_on_failure(db: Database, name: str) -> AsyncIterator[None]:
    try:
        yield
    except BaseException:
        # Shielded: a cancelled job, too, takes its unfinished generation with it. What was
        # made current before the failure stays.
        with suppress(DatabaseError):
            await to_the_end(generation.abandon(db, name))
        raise


async def read_current(db: Database, graph: str) -> Partitioning | None:
    """The current generation with its partitions as they are; None before the first.

    Raises DatabaseError when it was taken away while it was read.
    """
    current = await generation.read_current(db, graph)
    return None if current is None else await _whole(db, graph, current)


async def _whole(db: Database, graph: str, current: Generation | None) -> Partitioning:
    found = await generation.read_partitions(db, current.id) if current else []
    if current is None or len(found) != current.partition_count:
        raise DatabaseError(
            f"the partitions of graph {graph} were taken away meanwhile, by a purge, a removal, "
            "or another partitioning; try again"
        )
    return Partitioning(current, tuple(found), reused=True, seconds=0.0)


def _refuse_empty(graph: str, found: View) -> None:
    if not len(found.ids):
        raise EmptyGraphError(
            f"graph {graph} has no nodes: its mapping matches nothing in the database, so "
            "check it with 'pgs graph show' and 'pgs inspect'"
        )


def _limited(found: View, edges: Edges, communities: Communities, config: PGSConfig) -> Limited:
    # A node that appeared between the scan and the projection is left to the next generation;
    # one that vanished keeps a community of its own until the members are written.
    labels = np.arange(len(found.ids)) + communities.labels.max(initial=0) + 1
    place = np.searchsorted(found.ids, communities.ids)
    place[place == len(found.ids)] = 0
    known = found.ids[place] == communities.ids
    labels[place[known]] = communities.labels[known]
    limits = Limits(
        min_nodes=min(config.min_community_size, config.target_partition_max),
        max_nodes=config.target_partition_max,
        max_tokens=config.max_partition_tokens,
    )
    return apply_limits(edges, labels, found.tokens, limits)


def _drafts(found: View, edges: Edges, limited: Limited) -> list[Partition]:
    sizes = np.bincount(limited.labels, minlength=limited.partition_count)
    tokens = np.bincount(limited.labels, found.tokens, minlength=limited.partition_count)
    links = adjacency(edges, limited.labels, ADJACENT)
    return [
        Partition(
            id=part + 1,
            size=int(sizes[part]),
            tokens=int(tokens[part]),
            adjacent=tuple(Adjacent(n + 1, e, w) for n, e, w in links.of(part)),
            pool=bool(limited.pool[part]),
        )
        for part in range(limited.partition_count)
    ]


def _parameters(config: PGSConfig) -> dict[str, object]:
    """The knobs that decide how a graph is partitioned."""
    return {
        "min": config.min_community_size,
        "max": config.target_partition_max,
        "tokens": config.max_partition_tokens,
        "algorithm": config.algorithm,
        "seed": config.random_seed,
        "centroid": config.centroid,
    }


def _summary(current: Generation, reused: bool) -> str:
    what = f"{current.partition_count} partitions of {current.node_count:,} nodes"
    return f"{what}, unchanged" if reused else f"{what}, modularity {current.modularity:.3f}"


class _Clock:
    """Seconds per step, told as they begin."""

    def __init__(self, on_event: OnEvent) -> None:
        self.on_event = on_event
        self.steps: dict[str, float] = {}
        self._began = perf_counter()

    def elapsed(self) -> float:
        return perf_counter() - self._began

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self.on_event(StepStarted("partition", name))
        began = perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + perf_counter() - began
