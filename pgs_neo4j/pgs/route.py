"""Phase 1: selects partitions, embeds the question, and routes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import Routed
from pgs_neo4j.model import Partition, Route, Routing
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.record import RunRecord
from pgs_neo4j.pgs.relevance import is_broad, route, route_by_evidence
from pgs_neo4j.retrieval.evidence import Evidence, find_evidence, read_titles
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
    vector = record.prepared.vector
    routing = await route_question(order, tools, record.partitioning, partitions, vector)
    await runs.remember_routing(tools.db, record.handle, ROUTING.dump_json(routing).decode())
    return routing


async def route_question(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    partitions: Sequence[Partition],
    vector: QuestionVector | None = None,
) -> Routing:
    """Route a question among ``partitions``.

    It is embedded unless ``vector`` is passed, or evidence decides alone.
    """
    evidence = await _find_evidence(order, tools, partitioning, partitions)
    if evidence is not None and evidence.nodes:
        routing = await _route_by_evidence(order, tools, partitioning, partitions, evidence, vector)
    else:
        routing = await _route_by_centroids(order, tools, partitioning, partitions, vector)
    tools.log.on_event(Routed(routing))
    return routing


async def _find_evidence(
    order: RunOrder, tools: RunTools, partitioning: Partitioning, partitions: Sequence[Partition]
) -> Evidence | None:
    """Return the evidence for a question; None if it does not decide."""
    if order.config.route_by == "centroids" or order.full_sweep or is_broad(order.question):
        return None
    ids = [partition.id for partition in partitions]
    return await find_evidence(tools.db, partitioning.generation, order.question, ids)


async def _route_by_evidence(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    partitions: Sequence[Partition],
    evidence: Evidence,
    vector: QuestionVector | None,
) -> Routing:
    unread = order.mode == "continue"
    nearest: Sequence[Route] = ()
    if unread or order.config.min_sweep_partitions:
        others = await _route_by_centroids(order, tools, partitioning, partitions, vector)
        nearest = others.routes
    generation = partitioning.generation.id
    titles = await read_titles(tools.db, order.mapping, generation, evidence.nodes)
    return route_by_evidence(
        evidence,
        partitions,
        order.config,
        nearest=nearest,
        titles=titles,
        everything_unread=unread,
    )


async def _route_by_centroids(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    partitions: Sequence[Partition],
    vector: QuestionVector | None = None,
) -> Routing:
    asked = vector or await embed_order(order, tools, partitioning.generation.dimensions)
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
    return routing


def _threshold(order: RunOrder, tools: RunTools) -> float | None:
    """Return the space's own threshold, unless the user set one."""
    if "partition_relevance_threshold" in order.config.model_fields_set:
        return None
    return tools.space.threshold
