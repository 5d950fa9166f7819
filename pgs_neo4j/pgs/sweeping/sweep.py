"""Phase 2: reads one partition at full text, in one or more passes."""

from __future__ import annotations

from time import perf_counter

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import DatabaseMemoryError, DatabaseTimeoutError, QueryError
from pgs_neo4j.events import SweepFinished, SweepStarted
from pgs_neo4j.llm.calls.budget import Stop
from pgs_neo4j.model import Sweep, SweepStatus
from pgs_neo4j.pgs.sweeping.material import claim_passes, find_paid, read_packed
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepResult, SweepTools
from pgs_neo4j.pgs.sweeping.passes import PassReader, order_passes


async def sweep_partition(order: SweepOrder, tools: SweepTools) -> SweepResult:
    """Read a partition, and record every accepted report.

    Failures of the model become part of the result and are never raised. Only nodes that an
    accepted report covers count as read. Raises DatabaseError.
    """
    try:
        async with tools.gate:
            await tools.calls.scheduler.wait_until_hungry()
            stop = tools.calls.sweeping_stop()
            # Cached replies cost nothing, so they are used even after a limit was reached.
            if stop and (tools.replies is None or not tools.calls.budget.closed):
                return _leave_unread(order, tools, stop)
            began = perf_counter()
            paid = await find_paid(order, tools, await read_packed(order, tools))
            order, packed = paid.packed.order, paid.packed
            if stop and not paid.replies:
                return _leave_unread(order, tools, stop)
            if not stop:
                paid = await claim_passes(tools, paid)
    except (QueryError, DatabaseTimeoutError, DatabaseMemoryError) as error:
        return await _record_failure(order, tools, str(error), perf_counter() - began)
    if not packed.nodes:
        gone = "its nodes are gone: they were deleted after the partition was made"
        return await _record_failure(order, tools, gone, perf_counter() - began)
    partition, passes = order.partition, packed.passes
    tools.on_event(SweepStarted(partition.id, len(packed.nodes), len(passes), partition.topics))
    reader = PassReader(order, tools, paid, began)
    await together(*(reader.read_once(item) for item in order_passes(passes, order.matches)))
    result = await reader.finish()
    tools.on_event(SweepFinished(result.sweep))
    return result


def _leave_unread(order: SweepOrder, tools: SweepTools, stop: Stop) -> SweepResult:
    """Return the result of a sweep that a limit prevented; nothing is recorded."""
    result = Sweep(
        partition=order.partition.id,
        status=SweepStatus.UNREAD,
        nodes=order.nodes_wanted,
        errors=(stop.text,),
        generation=order.generation,
        wave=order.wave,
    )
    tools.on_event(SweepFinished(result))
    return SweepResult(result, stop)


async def _record_failure(
    order: SweepOrder, tools: SweepTools, reason: str, seconds: float
) -> SweepResult:
    result = Sweep(
        partition=order.partition.id,
        status=SweepStatus.FAILED,
        nodes=order.nodes_wanted,
        errors=(reason,),
        seconds=seconds,
        generation=order.generation,
        wave=order.wave,
    )
    await tools.record(order, result, ())
    tools.on_event(SweepFinished(result))
    return SweepResult(result)
