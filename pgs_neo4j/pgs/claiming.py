"""Chooses partitions for a run that no other run of its session is reading."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pgs_neo4j.database.tasks import poll_pauses
from pgs_neo4j.model import Partition, Routing
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.record import RunRecord
from pgs_neo4j.pgs.route import Selection, remember_routing, route_run, select_partitions
from pgs_neo4j.pgs.runs import keys, session
from pgs_neo4j.pgs.runs.claims import Claimed, claim_partitions, read_claimed

FIRST_POLL_S = 0.1


async def choose_partitions(
    order: RunOrder, tools: RunTools, record: RunRecord, *, answer_missing: bool
) -> tuple[Selection, Routing]:
    """Select and route partitions, and claim the routed ones.

    A run that reads what is unread leaves out what other runs of the session are reading. If
    nothing else is unread, it waits for them. ``answer_missing`` as for ``select_partitions``.
    Raises DatabaseError, and RunLostError when another process has taken the run over.
    """
    resumed, waited = record.routing is not None, False
    pauses = poll_pauses(FIRST_POLL_S)
    while True:
        # Claims are read first. If a run ends after that, its coverage is in the later read.
        claimed = Claimed() if resumed else await _read_claimed(order, tools, record)
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
                tools.log.warn(_awaited(order, claimed))
            waited = True
            await asyncio.sleep(next(pauses))
            continue
        routing = await route_run(order, tools, record, selection.partitions)
        if await _claim(order, tools, record, selection, routing, claimed, resumed=resumed):
            break
    if not resumed:
        await remember_routing(tools, record, routing)
    return selection, routing


async def claim_flagged(
    order: RunOrder, tools: RunTools, record: RunRecord, flagged: Sequence[Partition]
) -> list[Partition]:
    """Claim partitions that flags name, and return those to sweep.

    Those that other runs of the session are reading, or have read by now, are left out, except in
    mode ``full``. A resumed run sweeps what it swept before. Raises DatabaseError.
    """
    uid, wanted = keys.session_uid(order.graph, order.session), list(flagged)
    shared = order.mode == "full" or record.routing is not None
    while wanted:
        ids = [part.id for part in wanted]
        if shared:
            await claim_partitions(tools.db, record.handle, uid, ids)
            break
        claimed = await _read_claimed(order, tools, record)
        result = await claim_partitions(tools.db, record.handle, uid, ids, claimed)
        if not result.taken:
            generation = record.partitioning.generation.id
            now = await session.read_so_far(tools.db, order.graph, order.session, generation)
            return [part for part in wanted if now.unread(part)]
        wanted = [part for part in wanted if part.id not in result.taken]
    return wanted


async def _claim(
    order: RunOrder,
    tools: RunTools,
    record: RunRecord,
    selection: Selection,
    routing: Routing,
    claimed: Claimed,
    *,
    resumed: bool,
) -> bool:
    """Claim the routed partitions; return whether they are still unread and this run's own."""
    uid = keys.session_uid(order.graph, order.session)
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
    now = await session.read_so_far(tools.db, order.graph, order.session, generation)
    return all(now.shown(part) == selection.read.shown(part) for part in ids)


async def _read_claimed(order: RunOrder, tools: RunTools, record: RunRecord) -> Claimed:
    if order.mode == "full":
        return Claimed()
    generation = record.partitioning.generation.id
    return await read_claimed(tools.db, order.graph, order.session, generation, record.id)


def _awaited(order: RunOrder, claimed: Claimed) -> str:
    runs = ", ".join(sorted(run for run, partitions in claimed.by_run.items() if partitions))
    return (
        f"all unread partitions of session {order.session} are being read by other runs ({runs}); "
        "waiting for them"
    )
