"""Phase 0: divide a graph into partitions that a sweep can read, and describe them.

A generation is reused while nobody but ourselves commits, which costs a look at a number. Else
the graph is scanned under its lease and compared: what is unchanged is kept; what only says
something else is refreshed; what moved a little grows from the partitions before; all else is
partitioned anew. Each way a new generation is written beside the current one and made current
in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import lease
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.errors import BusyError, DatabaseError, EmptyGraphError, LeaseLostError
from pgs_neo4j.events import PhaseFinished, PhaseStarted, Warned
from pgs_neo4j.gds import GDS, Owner, drop_leftovers
from pgs_neo4j.model import Drift, Generation, Origin, Partition
from pgs_neo4j.partitioning import drift, generation, membership, seeds
from pgs_neo4j.partitioning.attempt import Attempt
from pgs_neo4j.partitioning.build import build
from pgs_neo4j.partitioning.order import PartitionOrder, PartitionTools, settings_digest
from pgs_neo4j.partitioning.predecessor import Before
from pgs_neo4j.partitioning.refresh import refresh
from pgs_neo4j.partitioning.scan import view
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.partitioning.step_times import Clock

ATTEMPTS = 3  # scans of a graph whose nodes vanish meanwhile
FIRST_WAIT_S = 3600.0  # for somebody else's first generation of a graph
WAIT_S = 10.0  # for a newer one than the one there is


@dataclass(frozen=True, slots=True)
class Partitioning:
    """A current generation with its partitions; ``reused`` when nothing had to be computed.

    ``drift`` is how far the graph had moved from the generation before, None where there was
    none.
    """

    generation: Generation
    partitions: tuple[Partition, ...]
    reused: bool
    seconds: float
    steps: dict[str, float] = field(default_factory=dict)
    drift: Drift | None = None


async def ensure(order: PartitionOrder, tools: PartitionTools) -> Partitioning:
    """The current partitions of a graph, computed when it changed or ``force`` is set.

    Raises BusyError, EmptyGraphError when the mapping matches no node, LeaseLostError, GDSError
    and DatabaseError. After any failure or cancellation the current generation stays as it was.
    """
    clock = Clock(tools.on_event)
    tools.on_event(PhaseStarted("partition"))
    db, graph = tools.db, order.graph
    with clock.step("check"):
        current = await generation.read_current(db, graph)
        settings = settings_digest(order, tools.space)
        holds = not order.force and drift.holds(current, settings, await read_change_token(db))
    if not holds:
        return _told(await _build_or_reuse(order, tools, current, clock), clock)
    if order.when_busy == "refuse":
        await clean_up(order, tools)
    try:
        whole = await _whole(db, graph, current)
    except DatabaseError:  # another generation became current between two reads
        whole = await _whole(db, graph, await generation.read_current(db, graph))
    return _told(replace(whole, drift=_still(whole.generation)), clock)


async def _build_or_reuse(
    order: PartitionOrder, tools: PartitionTools, current: Generation | None, clock: Clock
) -> Partitioning:
    """Build under the lease; while another job holds it, perhaps take the current partitions."""
    refuse = order.when_busy == "refuse"
    wait_s = 0.0 if refuse else WAIT_S if current else FIRST_WAIT_S
    try:
        async with lease.held(
            tools.db,
            order.graph,
            seconds=order.config.lease_s,
            wait_s=wait_s,
            on_wait=lambda who: tools.on_event(Warned(who)),
        ) as held:
            return await _ensure(order, tools, held, clock)
    except BusyError as error:
        if isinstance(error, LeaseLostError) or refuse or current is None:
            raise
        tools.on_event(Warned(f"{error}; this goes on with the partitions of {current.created_at}"))
        return await _whole(tools.db, order.graph, current)


async def clean_up(order: PartitionOrder, tools: PartitionTools) -> None:
    """Remove what a dead job left behind, and surplus generations.

    GDS is opened only after a job has died. Raises BusyError when the job is alive.
    """
    keep = order.config.keep_generations
    if await lease.unreleased(tools.db, order.graph):
        async with lease.held(tools.db, order.graph, seconds=order.config.lease_s) as held:
            await _clean(order, tools, await tools.open_gds(), held)
    elif await generation.surplus(tools.db, order.graph, keep):
        await generation.prune(tools.db, order.graph, keep)


async def _clean(order: PartitionOrder, tools: PartitionTools, gds: GDS, held: Lease) -> None:
    await seeds.prepare(tools.db, held.graph)
    await drop_leftovers(gds, Owner(held.graph, held.fence))
    await generation.prune(tools.db, order.graph, order.config.keep_generations)


async def _ensure(
    order: PartitionOrder, tools: PartitionTools, held: Lease, clock: Clock
) -> Partitioning:
    """The current partitions, by the one holder of the graph's lease."""
    db, graph = tools.db, order.graph
    gds = await tools.open_gds()
    owner = Owner(graph, held.fence)
    with clock.step("clean up"):
        await _clean(order, tools, gds, held)
    for _ in range(ATTEMPTS):
        attempt = Attempt(
            db=db,
            gds=gds.owned_by(owner),
            lease=held,
            mapping=order.mapping,
            config=order.config,
            space=tools.space,
            settings=settings_digest(order, tools.space),
            token=await read_change_token(db),
            clock=clock,
        )
        made = await _attempt(attempt, order.force)
        if made is not None:
            with clock.step("prune"):
                await generation.prune(db, graph, order.config.keep_generations)
            return made
    raise DatabaseError(
        f"graph {graph} kept changing while it was partitioned, {ATTEMPTS} times in a row; "
        "the generation before stays, so try again when fewer nodes are being deleted"
    )


async def _attempt(attempt: Attempt, force: bool) -> Partitioning | None:
    """One scan and what follows from it; None when nodes vanished meanwhile."""
    db, graph = attempt.db, attempt.graph
    current = await read_current(db, graph)
    with attempt.clock.step("scan"):
        found = await view.scan(db, attempt.mapping, attempt.clock.on_event)
    _refuse_empty(graph, found)
    fingerprint = found.fingerprint(attempt.settings)
    before = None
    if current is not None:
        if not force and await _same(db, current.generation, fingerprint, attempt.token):
            return replace(current, drift=_none(current.generation))
        with attempt.clock.step("compare"):
            compared = await drift.compare(db, current.generation, found, attempt.settings)
        dimensions = current.generation.dimensions
        if attempt.space.kind == "stored" and found.embedding_dimensions != dimensions:
            compared = replace(compared, touched=tuple(part.id for part in current.partitions))
        before = Before(current.generation, current.partitions, compared)
    if not await _made(attempt, found, fingerprint, before, force):
        return None
    whole = await _whole(db, graph, await generation.read_current(db, graph))
    return replace(whole, reused=False, drift=before.compared.drift if before else None)


async def _same(db: Database, current: Generation, fingerprint: str, token: str | None) -> bool:
    """Whether a generation still holds; that it does is noted with the change token.

    A node that was deleted, and made again the same under the same internal id, looks the
    same and is attached no more.
    """
    if current.fingerprint != fingerprint:
        return False
    if await membership.count_members(db, current.id) != current.node_count:
        return False
    await generation.verify(db, current.id, token)
    return True


async def _made(
    attempt: Attempt, found: View, fingerprint: str, before: Before | None, force: bool
) -> bool:
    """Make a generation the cheapest way that is as good as any."""
    way = None if before is None or force else outlook(before.compared.drift, attempt.config)
    if before is not None and way == "refreshed":
        return await refresh(attempt, found, fingerprint, before)
    return await build(attempt, found, fingerprint, before, seeded=way == "seeded")


def outlook(moved: Drift, config: PGSConfig) -> Origin | None:
    """How the next generation would come about; None when the current one still holds."""
    if not moved.changed:
        return None
    if moved.settings_changed:
        return "cold"
    if not moved.structure_changed:
        return "refreshed"
    # GDS cannot begin Leiden from labels.
    seeded = moved.accumulated <= config.seed_drift and config.algorithm != "leiden"
    return "seeded" if seeded else "cold"


async def check(order: PartitionOrder, tools: PartitionTools, *, scan: bool = True) -> Drift | None:
    """How far a graph has moved from its current generation, None before the first.

    Tier one is a look at a number. Only when somebody else has committed since, and ``scan``
    allows it, the graph is scanned and compared; what turns out unchanged is noted, so that
    the next check is quick again.
    """
    db, graph = tools.db, order.graph
    settings = settings_digest(order, tools.space)
    current = await generation.read_current(db, graph)
    if current is None:
        return None
    token = await read_change_token(db)
    changed = current.settings != settings
    if token is not None and token == current.token:
        return replace(_still(current), settings_changed=changed)
    if not scan:
        return Drift(committed=True, settings_changed=changed)
    found = await view.scan(db, order.mapping, tools.on_event)
    _refuse_empty(graph, found)
    if await _same(db, current, found.fingerprint(settings), token):
        return _none(current)
    return (await drift.compare(db, current, found, settings)).drift


async def read_current(db: Database, graph: str) -> Partitioning | None:
    """The current generation with its partitions as they are; None before the first.

    Raises DatabaseError when it was taken away while it was read.
    """
    current = await generation.read_current(db, graph)
    return None if current is None else await _whole(db, graph, current)


async def read_generation(db: Database, generation_id: str) -> Partitioning:
    """A generation with its partitions as they were made. Raises DatabaseError when it is gone."""
    found = await generation.read(db, generation_id)
    return await _whole(db, found.graph if found else "", found)


async def _whole(db: Database, graph: str, current: Generation | None) -> Partitioning:
    found = await generation.read_partitions(db, current.id) if current else []
    if current is None or len(found) != current.partition_count:
        raise DatabaseError(
            f"the partitions of graph {graph} were taken away meanwhile, by a purge, a removal, "
            "or another partitioning; try again"
        )
    return Partitioning(current, tuple(found), reused=True, seconds=0.0)


def _still(current: Generation) -> Drift:
    """Nobody else committed."""
    return Drift(
        committed=False,
        nodes=current.node_count,
        relationships=current.relationship_count,
        grown=current.grown,
    )


def _none(current: Generation) -> Drift:
    """Somebody committed, and it did not concern this graph."""
    return replace(_still(current), committed=True)


def _refuse_empty(graph: str, found: View) -> None:
    if not len(found.ids):
        raise EmptyGraphError(
            f"graph {graph} has no nodes: its mapping matches nothing in the database, so "
            "check it with 'pgs graph show' and 'pgs inspect'"
        )


def _told(result: Partitioning, clock: Clock) -> Partitioning:
    """The result with its times, after telling that the phase is over."""
    seconds = clock.elapsed()
    made = result.generation
    what = f"{made.partition_count} partitions of {made.node_count:,} nodes"
    how = "unchanged" if result.reused else f"modularity {made.modularity:.3f}"
    clock.on_event(PhaseFinished("partition", seconds, f"{what}, {how}"))
    return replace(result, seconds=seconds, steps=clock.steps)
