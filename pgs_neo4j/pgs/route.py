"""Phase 1: which partitions may be read, the question as a vector, and the routes."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import Routed
from pgs_neo4j.model import Partition, Routing
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.pgs.relevance import route
from pgs_neo4j.pgs.run import Request, Work
from pgs_neo4j.retrieval.space import QuestionVector, embed_question
from pgs_neo4j.runs import session


async def select(
    work: Work,
    request: Request,
    partitioning: Partitioning,
    *,
    before: str = "",
    answer_missing: bool = False,
) -> tuple[list[Partition], session.Read]:
    """The partitions that a run may sweep, and what of them was read before it.

    ``before`` is its id when it has begun. ``answer_missing``: reports wait for a synthesis, so
    that there is something to do when all is read.
    """
    everything = list(partitioning.partitions)
    if request.mode == "full":
        return everything, session.Read({})
    read = await session.read_so_far(
        work.db, request.graph, request.session, partitioning.generation.id, before=before
    )
    chosen, skipping = session.candidates(request.mode, everything, read)
    if skipping:
        return chosen, read
    if answer_missing:
        return [], read
    work.warn(f"session {request.session} has read the whole graph, so everything is read again")
    return chosen, session.Read({})


async def asked_vector(work: Work, request: Request, dimensions: int | None) -> QuestionVector:
    """The question in the graph's space, once per run; a failing embedder is only a note."""
    if work.asked is None:
        try:
            work.asked = await embed_question(
                work.db, work.space, request.mapping, request.question, dimensions
            )
        except ModelError as error:
            work.asked = QuestionVector(None, f"the question could not be embedded ({error})")
    return work.asked


async def route_question(
    work: Work, request: Request, chosen: Sequence[Partition], partitioning: Partitioning
) -> Routing:
    """Phase 1 alone: embed the question and route it among ``chosen``."""
    asked = await asked_vector(work, request, partitioning.generation.dimensions)
    routing = route(
        request.question,
        asked.vector,
        chosen,
        work.config,
        threshold=_threshold(work),
        centered=asked.borrowed or work.space.lexical,
        full_sweep=request.full_sweep,
        everything_unread=request.mode == "continue",
        note=asked.note,
    )
    if routing.fallback or asked.vector is None:
        work.warn(routing.note)
    work.on_event(Routed(routing))
    return routing


def _threshold(work: Work) -> float | None:
    """The space's own threshold, unless the user set one."""
    if "partition_relevance_threshold" in work.config.model_fields_set:
        return None
    return work.space.threshold
