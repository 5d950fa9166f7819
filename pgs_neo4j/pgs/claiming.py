"""Claims partitions, so that concurrent runs of one session read different partitions.

A claim belongs to a running run. It lapses when the run ends, when its process is gone, or when the
run gives no more signs of life.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import SILENT_S
from pgs_neo4j.database.tasks import poll_pauses
from pgs_neo4j.model import Partition, Routing
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.record import RunRecord
from pgs_neo4j.pgs.route import Selection, route_run, select_partitions, store_routing
from pgs_neo4j.pgs.runs import keys, session
from pgs_neo4j.pgs.runs.runs import Handle, read_running, write_as_holder

FIRST_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class OtherClaims:
    """The partitions that other running runs of a session have claimed, by run id.

    ``ended`` are the ids of runs whose process has ended. ``updated_at`` is the time when a run of
    the session last began or ended.
    """

    by_run: Mapping[str, frozenset[int]] = field(default_factory=dict)
    ended: tuple[str, ...] = ()
    updated_at: str = ""

    @property
    def partitions(self) -> frozenset[int]:
        """The claimed partitions of all runs."""
        return frozenset[int]().union(*self.by_run.values())


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result of an attempt to claim partitions.

    ``taken`` are the partitions that other runs have claimed; if there are any, nothing was
    claimed. ``changed`` means that a run of the session began or ended after the claims were read.
    """

    taken: frozenset[int]
    changed: bool


async def choose_partitions(
    order: RunOrder, tools: RunTools, record: RunRecord, *, answer_missing: bool
) -> tuple[Selection, Routing]:
    """Select and route partitions, and claim the routed partitions.

    A run that reads only unread nodes leaves out the partitions that other runs of the session are
    reading. If no other partitions are unread, it waits for those runs. ``answer_missing`` is
    explained at ``select_partitions``. Raises DatabaseError, and RunLostError when another process
    has taken the run over.
    """
    resumed, waited = record.routing is not None, False
    pauses = poll_pauses(FIRST_POLL_S)
    while True:
        # Claims are read before coverage: if another run ends in between, its claims are outdated,
        # but the coverage includes what it has read.
        claimed = OtherClaims() if resumed else await _read_claimed(order, tools, record)
        selection = await select_partitions(
            order,
            tools,
            record.partitioning,
            before=record.id if resumed else "",
            answer_missing=answer_missing,
            claimed=claimed.partitions,
        )
        if selection.unread and not selection.partitions and not answer_missing:
            if not waited:
                tools.log.warn(_waiting_note(order, claimed))
            waited = True
            await asyncio.sleep(next(pauses))
            continue
        routing = await route_run(order, tools, record, selection.partitions)
        if await _claim_routed(order, tools, record, selection, routing, claimed, resumed=resumed):
            break
    if not resumed:
        await store_routing(tools, record, routing)
    return selection, routing


async def claim_flagged(
    order: RunOrder, tools: RunTools, record: RunRecord, flagged: Sequence[Partition]
) -> list[Partition]:
    """Claim the partitions that flags name, and return the partitions to sweep.

    Except in mode ``full``, partitions that other runs of the session are reading or have read by
    now are left out. A resumed run keeps all of them, so that it sweeps the same partitions as
    before. Raises DatabaseError.
    """
    uid, wanted = (
        keys.session_uid(tools.db.scope, order.graph, order.request.session),
        list(flagged),
    )
    shared = order.request.mode == "full" or record.routing is not None
    while wanted:
        ids = [part.id for part in wanted]
        if shared:
            await claim_partitions(tools.db, record.handle, uid, ids)
            break
        claimed = await _read_claimed(order, tools, record)
        result = await claim_partitions(tools.db, record.handle, uid, ids, claimed)
        if not result.taken:
            generation = record.partitioning.generation.id
            now = await session.read_so_far(
                tools.db, order.graph, order.request.session, generation
            )
            return [part for part in wanted if now.unread(part)]
        wanted = [part for part in wanted if part.id not in result.taken]
    return wanted


async def _claim_routed(
    order: RunOrder,
    tools: RunTools,
    record: RunRecord,
    selection: Selection,
    routing: Routing,
    claimed: OtherClaims,
    *,
    resumed: bool,
) -> bool:
    """Claim the routed partitions; return False if they must be chosen again.

    They must be if another run has claimed one of the partitions, or has read nodes of one since
    ``selection``.
    """
    uid = keys.session_uid(tools.db.scope, order.graph, order.request.session)
    ids = [route.partition for route in routing.routes]
    exclusive = selection.unread and not resumed
    result = await claim_partitions(
        tools.db, record.handle, uid, ids, claimed if exclusive else None
    )
    if result.taken:
        return False
    if not result.changed:
        return True
    generation = record.partitioning.generation.id
    now = await session.read_so_far(tools.db, order.graph, order.request.session, generation)
    return all(now.shown(part) == selection.read.shown(part) for part in ids)


async def claim_partitions(
    db: Database,
    handle: Handle,
    session_uid: str,
    partition_ids: Iterable[int],
    claimed: OtherClaims | None = None,
) -> ClaimResult:
    """Claim partitions for a run, all or none.

    ``claimed`` are the claims of other runs as read before. Without it, the run claims the
    partitions even if other runs have claimed them. Raises RunLostError when another process has
    taken the run over.
    """
    rows = await write_as_holder(
        db,
        handle,
        queries.get("pgs/claim_partitions"),
        session=session_uid,
        partitions=sorted(partition_ids),
        shared=claimed is None,
        ended=list(claimed.ended) if claimed else [],
        silent_s=SILENT_S,
    )
    changed = claimed is not None and rows[0]["updated_at"] != claimed.updated_at
    return ClaimResult(frozenset(rows[0]["taken"]), changed)


async def _read_claimed(order: RunOrder, tools: RunTools, record: RunRecord) -> OtherClaims:
    """Return the claims of the session's other runs in the same generation.

    Mode ``full`` ignores claims, so it gets none.
    """
    if order.request.mode == "full":
        return OtherClaims()
    generation = record.partitioning.generation.id
    running = await read_running(
        tools.db, keys.session_uid(tools.db.scope, order.graph, order.request.session)
    )
    return OtherClaims(
        {
            other.id: other.claimed
            for other in running
            if not other.ended and other.generation == generation and other.id != record.id
        },
        tuple(other.id for other in running if other.ended),
        running[0].updated_at if running else "",
    )


def _waiting_note(order: RunOrder, claimed: OtherClaims) -> str:
    runs = ", ".join(sorted(run for run, partitions in claimed.by_run.items() if partitions))
    return (
        f"all unread partitions of session {order.request.session} are being read by other runs "
        f"({runs}); waiting for them"
    )
