"""Phase 1: selects partitions, embeds the question, and routes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import Routed
from pgs_neo4j.model import Partition, Routing
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.record import RunRecord
from pgs_neo4j.pgs.relevance import route
from pgs_neo4j.retrieval.space import QuestionVector, embed_question
from pgs_neo4j.runs import runs, session
from pgs_neo4j.runs.session import Read

ROUTING = TypeAdapter(Routing)


@dataclass(frozen=True, slots=True)
class Selection:
    """The partitions that a run may sweep.

    ``read`` is the part of them that was read before the run.
    """

    partitions: tuple[Partition, ...]
    read: Read


async def select_partitions(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    *,
    before: str = "",
    answer_missing: bool = False,
) -> Selection:
    """Select the partitions that the mode of a run lets it sweep.

    ``before`` is the id of the run once it has begun. ``answer_missing``: reports wait for a
    synthesis, so a run is useful even if everything has been read.
    """
    everything = partitioning.partitions
    if order.mode == "full":
        return Selection(everything, Read({}))
    read = await session.read_so_far(
        tools.db, order.graph, order.session, partitioning.generation.id, before=before
    )
    candidates, skipping = session.find_candidates(order.mode, everything, read)
    if skipping:
        return Selection(candidates, read)
    if answer_missing:
        return Selection((), read)
    tools.log.warn(f"session {order.session} has read the whole graph, so everything is read again")
    return Selection(candidates, Read({}))


async def embed_order(order: RunOrder, tools: RunTools, dimensions: int | None) -> QuestionVector:
    """Return the question in the graph's space; a failure is only noted."""
    try:
        return await embed_question(
            tools.db, tools.space, order.mapping, order.question, dimensions
        )
    except ModelError as error:
        return QuestionVector(None, f"the question could not be embedded ({error})")


async def route_run(
    order: RunOrder, tools: RunTools, record: RunRecord, partitions: Sequence[Partition]
) -> Routing:
    """Route a run and record its routing.

    A resumed run keeps its own routing, by which its cached replies are found.
    """
    if record.routing is not None:
        routing = ROUTING.validate_json(record.routing)
        tools.log.on_event(Routed(routing))
        return routing
    dimensions, vector = record.partitioning.generation.dimensions, record.prepared.vector
    routing = await route_question(order, tools, partitions, dimensions, vector)
    await runs.remember_routing(tools.db, record.handle, ROUTING.dump_json(routing).decode())
    return routing


async def route_question(
    order: RunOrder,
    tools: RunTools,
    partitions: Sequence[Partition],
    dimensions: int | None,
    vector: QuestionVector | None = None,
) -> Routing:
    """Route a question among ``partitions``.

    It is embedded unless ``vector`` is passed.
    """
    asked = vector or await embed_order(order, tools, dimensions)
    routing = route(
        order.question,
        asked.vector,
        partitions,
        order.config,
        threshold=_threshold(order, tools),
        centered=asked.borrowed or tools.space.lexical,
        full_sweep=order.full_sweep,
        everything_unread=order.mode == "continue",
        note=asked.note,
    )
    if routing.fallback or asked.vector is None:
        tools.log.warn(routing.note)
    tools.log.on_event(Routed(routing))
    return routing


def _threshold(order: RunOrder, tools: RunTools) -> float | None:
    """Return the space's own threshold, unless the user set one."""
    if "partition_relevance_threshold" in order.config.model_fields_set:
        return None
    return tools.space.threshold
