"""Removes what dead jobs left behind, and surplus generations."""

from __future__ import annotations

from pgs_neo4j.database import lease
from pgs_neo4j.database.gds import GDS, Owner, drop_leftovers
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.pgs.partitioning import generation, seeds
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools


async def clean_up(order: PartitionOrder, tools: PartitionTools) -> None:
    """Remove what a dead job left behind, and surplus generations.

    GDS is opened only if a job has died. Raises BusyError when the job is alive.
    """
    keep = order.config.keep_generations
    if await lease.is_unreleased(tools.db, order.graph):
        async with lease.hold_lease(tools.db, order.graph, seconds=order.config.lease_s) as own:
            await remove_leftovers(order, tools, await tools.open_gds(), own)
    elif await generation.has_surplus(tools.db, order.graph, keep):
        await generation.prune(tools.db, order.graph, keep)


async def remove_leftovers(
    order: PartitionOrder, tools: PartitionTools, gds: GDS, own: Lease
) -> None:
    """Remove seeds, projections, and generations of earlier jobs.

    The caller holds the lease ``own``.
    """
    await seeds.prepare_seeds(tools.db, own.graph)
    await drop_leftovers(gds, Owner(own.graph, own.fence))
    await generation.prune(tools.db, order.graph, order.config.keep_generations)
