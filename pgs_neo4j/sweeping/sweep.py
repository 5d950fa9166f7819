"""Phase 2: read one partition at full text, in as many passes as it takes."""

from __future__ import annotations

from time import perf_counter

from pgs_neo4j.calls.queue import together
from pgs_neo4j.errors import DatabaseMemoryError, DatabaseTimeoutError, QueryError
from pgs_neo4j.events import SweepFinished, SweepStarted
from pgs_neo4j.model import Partition, Sweep, SweepStatus
from pgs_neo4j.sweeping.context import Reader, read_material
from pgs_neo4j.sweeping.passes import Reading


async def sweep(
    reader: Reader,
    partition: Partition,
    skip: frozenset[int] = frozenset(),
    priority: float | None = None,
) -> Sweep:
    """Read a partition but for the ranks in ``skip``, and record what was accepted.

    A model's failure is part of the result and never raised: what no accepted report stands
    for is not read. Raises DatabaseError.
    """
    try:
        async with reader.gate:
            await reader.calls.scheduler.hungry()
            stopped = reader.calls.sweeping_ended()
            # What was paid for before is read even when nothing more may be bought.
            if stopped and (reader.replies is None or not reader.calls.budget.closed):
                return _unread(reader, partition, skip, stopped)
            began = perf_counter()
            material = await read_material(reader, partition, skip)
            reading = Reading(reader, partition, material, began, priority)
            known = await reading.look_up()
            if stopped and not known:
                return _unread(reader, partition, skip, stopped)
    except (QueryError, DatabaseTimeoutError, DatabaseMemoryError) as error:
        return await _unreadable(reader, partition, skip, str(error), perf_counter() - began)
    if not material.nodes:
        gone = "its nodes are gone: they were deleted after it was made"
        return await _unreadable(reader, partition, skip, gone, perf_counter() - began)
    count = len(material.passes)
    reader.on_event(SweepStarted(partition.id, len(material.nodes), count, partition.keywords))
    await together([reading.read(item) for item in material.passes])
    result = await reading.finish()
    reader.on_event(SweepFinished(result))
    return result


def _unread(reader: Reader, partition: Partition, skip: frozenset[int], why: str) -> Sweep:
    """A partition that was left out; nothing is recorded of it."""
    result = Sweep(
        partition=partition.id,
        status=SweepStatus.UNREAD,
        nodes=partition.size - len(skip),
        errors=(why,),
        generation=reader.generation,
        wave=reader.wave,
    )
    reader.on_event(SweepFinished(result))
    return result


async def _unreadable(
    reader: Reader, partition: Partition, skip: frozenset[int], why: str, seconds: float
) -> Sweep:
    result = Sweep(
        partition=partition.id,
        status=SweepStatus.FAILED,
        nodes=partition.size - len(skip),
        errors=(why,),
        seconds=seconds,
        generation=reader.generation,
        wave=reader.wave,
    )
    await reader.record(result, ())
    reader.on_event(SweepFinished(result))
    return result
