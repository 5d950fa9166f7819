"""Phase 0: divides a graph into partitions that a sweep can read.

A generation is reused while no other program commits, which is cheap to check. Otherwise the graph
is scanned under its lease and compared. An unchanged graph keeps its generation. If only texts,
weights, or embeddings changed, the partitions are refreshed. After a small drift, new partitions
grow from the earlier ones. In all other cases, partitioning starts from scratch. A new generation
is written beside the current one and made current in one transaction. Before that, leftovers of
dead jobs are removed.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from pgs_neo4j.database import lease
from pgs_neo4j.database.driver_errors import TRIED_ENOUGH
from pgs_neo4j.database.gds import GDS, Owner, drop_leftovers
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.errors import BusyError, DatabaseError, LeaseLostError, StoredDataError
from pgs_neo4j.events import PhaseFinished, PhaseStarted, Warned
from pgs_neo4j.model import Generation
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.partitioning import view as scanner
from pgs_neo4j.pgs.partitioning.build import build_generation, prepare_seeds
from pgs_neo4j.pgs.partitioning.drift import (
    Predecessor,
    choose_origin,
    compare_scan,
    confirm_generation,
    is_valid,
    unchanged_drift,
)
from pgs_neo4j.pgs.partitioning.kept_settings import (
    describe_changes,
    describe_ignored,
    keep_settings,
    remember_standing,
)
from pgs_neo4j.pgs.partitioning.order import (
    BuildOrder,
    BuildTools,
    PartitionOrder,
    PartitionTools,
    StepTimer,
    new_generation_id,
    settings_digest,
)
from pgs_neo4j.pgs.partitioning.result import Partitioning, read_current, read_partitions_of
from pgs_neo4j.pgs.partitioning.view import View, refuse_empty
from pgs_neo4j.pgs.partitioning.writing import refresh_generation
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import start_span
from pgs_neo4j.text.shown import counted

T = TypeVar("T")
ATTEMPTS = 3  # attempts at a graph in which nodes vanish between scan and write
FIRST_WAIT_S = 3600.0  # longest wait for another job to make the first generation
WAIT_S = 10.0  # longest wait for another job to make a newer generation


async def ensure_partitions(order: PartitionOrder, tools: PartitionTools) -> Partitioning:
    """Return the current partitions of a graph, and compute them if needed or forced.

    Raises BusyError, EmptyGraphError when the mapping matches no node, LeaseLostError, GDSError,
    and DatabaseError. After any failure or cancellation the current generation stays as it was.
    """
    with start_span(spans.phase_name("partition"), {spans.GRAPH: order.graph}, current=True):
        return await _ensure(order, tools)


async def _ensure(order: PartitionOrder, tools: PartitionTools) -> Partitioning:
    timer = StepTimer(tools.on_event)
    tools.on_event(PhaseStarted("partition"))
    db, graph = tools.db, order.graph
    with timer.step("check"):
        current = await _read_or_replace(generation.read_current(db, graph), force=order.force)
        if current is not None and (ignored := describe_ignored(order.chosen, current)):
            tools.on_event(Warned(ignored))
        kept = _keep(order, current)
        settings = settings_digest(kept, tools.space)
        valid = not order.force and is_valid(current, settings, await read_change_token(db))
    if not valid:
        return _finish(await _build_or_reuse(order, tools, current, timer), timer)
    if order.when_busy == "refuse":
        await clean_up(order, tools)
    try:
        result = await _read(order, tools, current)
    except TRIED_ENOUGH:
        raise
    except DatabaseError:  # another generation became current between two reads
        current = await generation.read_current(db, graph)
        result = await _read(order, tools, current)
    drift = unchanged_drift(result.generation, committed=False)
    return _finish(replace(result, drift=drift), timer)


def _keep(order: PartitionOrder, current: Generation | None) -> PartitionOrder:
    return replace(order, config=keep_settings(order.config, order.chosen, current))


async def _read_or_replace(reading: Awaitable[T | None], *, force: bool) -> T | None:
    """Await a read of the current generation and return its result.

    With ``force`` the generation is replaced anyway, so a damaged one counts as None. Without it,
    raises StoredDataError.
    """
    try:
        return await reading
    except StoredDataError:
        if not force:
            raise
        return None


async def _read(
    order: PartitionOrder, tools: PartitionTools, current: Generation | None
) -> Partitioning:
    return await read_partitions_of(
        tools.db, order.graph, current, centroids=order.centroids, known=tools.known
    )


async def _build_or_reuse(
    order: PartitionOrder, tools: PartitionTools, current: Generation | None, timer: StepTimer
) -> Partitioning:
    """Build under the lease. If another job holds it and ``order`` allows it, reuse ``current``."""
    refuse = order.when_busy == "refuse"
    wait_s = 0.0 if refuse else WAIT_S if current else FIRST_WAIT_S
    try:
        async with lease.hold_lease(
            tools.db,
            order.graph,
            seconds=order.config.lease_s,
            wait_s=wait_s,
            on_wait=lambda who: tools.on_event(Warned(who)),
        ) as held:
            # Traces of finished deletions stay stored as long as an older lease exists. So the
            # fence is taken after the lease.
            tools = replace(tools, db=await tools.db.unfenced().fenced())
            return await _build(order, tools, held, timer)
    except BusyError as error:
        if isinstance(error, LeaseLostError) or refuse or current is None:
            raise
        tools.on_event(Warned(f"{error}; continuing with the partitions of {current.created_at}"))
        reused = await _read(order, tools, current)
        return replace(reused, outdated=True)


async def _build(
    order: PartitionOrder, tools: PartitionTools, own: Lease, timer: StepTimer
) -> Partitioning:
    """Return the current partitions; the caller holds the graph's lease."""
    db, graph = tools.db, order.graph
    gds = await tools.open_gds()
    owned = gds.owned_by(Owner(db.scope.qualify(graph), own.fence))
    build_tools = BuildTools(db=db, gds=owned, space=tools.space, timer=timer)
    with timer.step("clean up"):
        await remove_leftovers(order, tools, gds, own)
    for _ in range(ATTEMPTS):
        # Read this under the lease, since the previous holder may have changed the settings.
        latest = await _read_or_replace(generation.read_current(db, graph), force=order.force)
        kept = _keep(order, latest)
        build_order = BuildOrder(
            generation_id=new_generation_id(),
            lease=own,
            mapping=order.mapping,
            config=kept.config,
            settings=settings_digest(kept, tools.space),
            token=await read_change_token(db),
            force=order.force,
            standing=remember_standing(order.chosen, latest),
        )
        result = await _try_once(build_order, build_tools)
        if result is not None:
            with timer.step("prune"):
                await generation.prune(db, graph, order.config.keep_generations)
            return result
    raise DatabaseError(
        f"graph {graph} changed while it was partitioned, {ATTEMPTS} times in a row; "
        "its current generation stays, so try again when fewer nodes are being deleted"
    )


async def _try_once(order: BuildOrder, tools: BuildTools) -> Partitioning | None:
    """Scan the graph and update its partitions; return None if nodes vanished."""
    db, graph = tools.db, order.graph
    current = await _read_or_replace(read_current(db, graph), force=order.force)
    with tools.timer.step("scan"):
        view = await scanner.scan(db, order.mapping, tools.timer.on_event)
    refuse_empty(graph, view)
    previous = None
    if current is not None:
        fingerprint = view.fingerprint(order.settings)
        if not order.force and await confirm_generation(
            db, current.generation, fingerprint, order.token
        ):
            return replace(current, drift=unchanged_drift(current.generation, committed=True))
        with tools.timer.step("compare"):
            previous = await _compare(order, tools, view, current)
        if previous.comparison.drift.settings_changed:
            tools.timer.on_event(Warned(_word_changed_settings(order, current.generation)))
    if not await _write_generation(order, tools, view, previous):
        return None
    result = await read_partitions_of(db, graph, await generation.read_current(db, graph))
    return replace(result, reused=False, drift=previous.comparison.drift if previous else None)


def _word_changed_settings(order: BuildOrder, current: Generation) -> str:
    changes = describe_changes(order.config, current)
    changes = changes or "its definition, the embedder, or a setting is another one"
    return f"graph {order.graph} gets new partitions, because its settings changed: {changes}"


async def _compare(
    order: BuildOrder, tools: BuildTools, view: View, current: Partitioning
) -> Predecessor:
    """Compare a scan with the current generation.

    If the length of the stored embeddings changed, all partitions count as touched.
    """
    comparison = await compare_scan(tools.db, current.generation, view, order.settings)
    dimensions = current.generation.dimensions
    if tools.space.kind == "stored" and view.embedding_dimensions != dimensions:
        touched = tuple(part.id for part in current.partitions)
        comparison = replace(comparison, touched=touched)
    return Predecessor(current.generation, current.partitions, comparison)


async def _write_generation(
    order: BuildOrder, tools: BuildTools, view: View, previous: Predecessor | None
) -> bool:
    """Write a generation in the cheapest adequate way; return False if nodes vanished."""
    if previous is None or order.force:
        return await build_generation(order, tools, view, previous, seeded=False)
    origin = choose_origin(previous.comparison.drift, order.config)
    if origin == "refreshed":
        return await refresh_generation(order, tools, view, previous)
    return await build_generation(order, tools, view, previous, seeded=origin == "seeded")


def _finish(result: Partitioning, timer: StepTimer) -> Partitioning:
    """Report the end of the phase, and return the result with the times of its steps."""
    seconds = timer.elapsed()
    figures = result.generation
    what = (
        f"{counted(figures.partition_count, 'partition')} of {counted(figures.node_count, 'node')}"
    )
    how = "unchanged" if result.reused else f"modularity {figures.modularity:.3f}"
    timer.on_event(PhaseFinished("partition", seconds, f"{what}, {how}"))
    drift = result.drift and replace(result.drift, algorithm=figures.algorithm)
    return replace(result, seconds=seconds, steps=timer.seconds, drift=drift)


async def clean_up(order: PartitionOrder, tools: PartitionTools) -> None:
    """Remove the leftovers of a dead job, and surplus generations.

    Opens GDS only if a job left its lease behind. Raises BusyError when that job is alive.
    """
    keep = order.config.keep_generations
    if await lease.is_unreleased(tools.db, order.graph):
        async with lease.hold_lease(tools.db, order.graph, seconds=order.config.lease_s) as held:
            await remove_leftovers(order, tools, await tools.open_gds(), held)
    elif await generation.has_surplus(tools.db, order.graph, keep):
        await generation.prune(tools.db, order.graph, keep)


async def remove_leftovers(
    order: PartitionOrder, tools: PartitionTools, gds: GDS, own: Lease
) -> None:
    """Remove seeds, projections, and generations of earlier jobs.

    The caller holds the lease ``own``.
    """
    await prepare_seeds(tools.db, own.graph)
    await drop_leftovers(gds, Owner(tools.db.scope.qualify(own.graph), own.fence))
    await generation.prune(tools.db, order.graph, order.config.keep_generations)
