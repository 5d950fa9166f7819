"""Phase 1: selects partitions, embeds the question, and routes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from pgs_neo4j.errors import BudgetError, ConfigError, ModelError
from pgs_neo4j.events import Routed
from pgs_neo4j.model import Partition, Route, Routing
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning, add_centroids
from pgs_neo4j.pgs.record import RunRecord
from pgs_neo4j.pgs.refusals import nothing_left_error, stops_at_end
from pgs_neo4j.pgs.relevance import (
    choose_by_evidence,
    is_broad,
    matches_question,
    route,
    route_by_evidence,
    unknown_words,
)
from pgs_neo4j.pgs.runs import runs, session
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.search.evidence import Evidence, EvidenceOrder, find_evidence
from pgs_neo4j.search.nodes import read_placed
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.space import QuestionVector, embed_question
from pgs_neo4j.text.node_text import HEAD

ROUTING = TypeAdapter(Routing)
UNMATCHED_THEN = (
    "no text matched the question when the graph was partitioned, and it may have changed since"
)


@dataclass(frozen=True, slots=True)
class Selection:
    """The partitions that a run may sweep.

    ``read`` is what the session had read of them before the run. ``unread`` means that the run
    reads only unread nodes, so concurrent runs of the session should read different partitions.
    """

    partitions: tuple[Partition, ...]
    read: Read
    unread: bool = False


async def select_partitions(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    *,
    before: str = "",
    answer_missing: bool = False,
    claimed: frozenset[int] = frozenset(),
) -> Selection:
    """Select the partitions that the mode of a run allows it to sweep.

    ``before`` is the id of a run that is resumed; reading by later runs then does not count.
    ``answer_missing`` means that reports wait for a synthesis, so a run is useful even if
    everything has been read. ``claimed`` are partitions that other runs are reading; they are left
    out. Raises NothingLeftError when mode ``continue`` has nothing left to read, unless
    ``full_sweep`` is set.
    """
    everything = partitioning.partitions
    if order.request.mode == "full":
        return Selection(everything, Read({}))
    read = await session.read_so_far(
        tools.db, order.graph, order.request.session, partitioning.generation.id, before=before
    )
    candidates, skipping = session.find_candidates(order.request.mode, everything, read)
    if skipping:
        free = tuple(part for part in candidates if part.id not in claimed)
        return Selection(free, read, unread=True)
    if answer_missing:
        return Selection((), read)
    if stops_at_end(order):
        raise nothing_left_error(order, partitioning, read)
    tools.log.warn(
        f"session {order.request.session} has read the whole graph, so everything is read again"
    )
    return Selection(candidates, Read({}))


async def embed_run_question(
    order: RunOrder, tools: RunTools, partitioning: Partitioning
) -> QuestionVector:
    """Return the question's vector in the embedding space of the graph.

    If the call fails or a limit prevents it, the result has no vector but a note.
    """
    own = OwnIndex(partitioning.generation, partitioning.partitions, tools.known.texts)
    try:
        return await embed_question(
            tools.db,
            tools.space,
            order.mapping,
            order.request.question,
            partitioning.generation.dimensions,
            own,
        )
    except (ModelError, BudgetError, ConfigError) as error:
        return QuestionVector(None, f"the question could not be embedded ({error})")


async def route_run(
    order: RunOrder, tools: RunTools, record: RunRecord, partitions: Sequence[Partition]
) -> Routing:
    """Route a run. A resumed run keeps its routing, so that its cached replies are found again."""
    if record.routing is not None:
        routing = ROUTING.validate_json(record.routing)
        tools.log.on_event(Routed(routing))
        return routing
    vector = record.prepared.vector
    return await route_question(order, tools, record.partitioning, partitions, vector)


async def store_routing(tools: RunTools, record: RunRecord, routing: Routing) -> None:
    """Record the routing of a run, so that it can be resumed. Raises DatabaseError."""
    await runs.store_routing(tools.db, record.handle, ROUTING.dump_json(routing).decode())


async def route_question(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    partitions: Sequence[Partition],
    vector: QuestionVector | None = None,
) -> Routing:
    """Route a question among ``partitions``.

    The question is embedded only if ``vector`` is not passed and the question's words alone do not
    decide.
    """
    question = _Question(order, tools, partitioning, partitions, vector)
    evidence = await _find_evidence(question)
    if evidence is not None and not matches_question(evidence, _least_similarity(order, tools)):
        routing = await _route_unmatched(question, evidence)
    elif evidence is not None and evidence.nodes:
        routing = await _route_by_evidence(question, evidence)
    else:
        routing = await _route_by_centroids(question)
    tools.log.on_event(Routed(routing))
    return routing


@dataclass(slots=True)
class _Question:
    """A question to route; its vector is computed at most once."""

    order: RunOrder
    tools: RunTools
    partitioning: Partitioning
    partitions: Sequence[Partition]
    vector: QuestionVector | None

    async def get_vector(self) -> QuestionVector:
        """Return the question's vector in the embedding space of the graph."""
        if self.vector is None:
            self.vector = await embed_run_question(self.order, self.tools, self.partitioning)
        return self.vector


async def find_run_evidence(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    partitions: Sequence[Partition],
    vector: QuestionVector | None,
) -> Evidence | None:
    """Return the nodes of ``partitions`` that match a question; None without an index.

    ``vector`` is used only if it is comparable with the embeddings that the graph stores.
    """
    usable = vector is not None and not vector.borrowed and tools.space.kind == "stored"
    evidence_order = EvidenceOrder(
        question=order.request.question,
        mapping=order.mapping,
        generation=partitioning.generation,
        partitions=partitions,
        vector=vector.vector if vector is not None and usable else None,
    )
    return await find_evidence(tools.db, evidence_order, tools.known.texts)


async def _find_evidence(question: _Question) -> Evidence | None:
    """Return the evidence for a question; None if the routing does not depend on evidence."""
    order, tools = question.order, question.tools
    if (
        order.config.route_by == "centroids"
        or order.request.full_sweep
        or is_broad(order.request.question)
    ):
        return None
    comparable = tools.space.kind == "stored" and tools.space.embedder is not None
    vector = await question.get_vector() if comparable else None
    return await find_run_evidence(order, tools, question.partitioning, question.partitions, vector)


async def _route_by_evidence(question: _Question, evidence: Evidence) -> Routing:
    order = question.order
    unread = order.request.mode == "continue"
    nearest: Sequence[Route] = ()
    if unread or order.config.min_sweep_partitions:
        nearest = (await _route_by_centroids(question)).routes
    chosen = choose_by_evidence(evidence, order.config, everything_unread=unread)
    return route_by_evidence(
        evidence,
        question.partitions,
        order.config,
        nearest=nearest,
        titles=await _read_titles(question, evidence, chosen),
        everything_unread=unread,
    )


async def _read_titles(
    question: _Question, evidence: Evidence, chosen: Sequence[int]
) -> dict[int, str]:
    """Return the title of each chosen partition's best node, by partition id.

    Partitions without a matching node are left out.
    """
    best = {node.partition: node.place for node in reversed(evidence.nodes)}
    held = [best[number] for number in chosen if number in best]
    places = {place: evidence.titles.get(place) for place in held}
    titles = {place.partition: title for place, title in places.items() if title is not None}
    if unread := [place for place, title in places.items() if title is None]:
        placed = await read_placed(
            question.tools.db,
            question.order.mapping,
            question.partitions,
            unread,
            most_characters=HEAD,
        )
        titles |= {place.partition: found.node.title for place, found in placed.items()}
    return titles


async def _route_unmatched(question: _Question, evidence: Evidence) -> Routing:
    """Route a question that nothing in the graph matches."""
    routing = await _route_by_centroids(question)
    outdated = question.partitioning.outdated
    note = UNMATCHED_THEN if outdated else "no text in the graph matches the question"
    question.tools.log.warn(note)
    notes = (note, unknown_words(evidence), routing.note)
    return replace(routing, note="; ".join(filter(None, notes)), unmatched=not outdated)


async def _route_by_centroids(question: _Question) -> Routing:
    order, tools = question.order, question.tools
    asked = await question.get_vector()
    routing = route(
        order.request.question,
        asked.vector,
        await _load_centroids(question, asked),
        order.config,
        threshold=_space_threshold(order, tools),
        centered=asked.borrowed or tools.space.lexical,
        full_sweep=order.request.full_sweep,
        everything_unread=order.request.mode == "continue",
        note=asked.note,
    )
    if routing.fallback or asked.vector is None:
        tools.log.warn(routing.note)
    return routing


async def _load_centroids(question: _Question, asked: QuestionVector) -> Sequence[Partition]:
    """Return the partitions, with their centroids if the routing compares them."""
    order, partitions = question.order, question.partitions
    if asked.vector is None or order.request.full_sweep or is_broad(order.request.question):
        return partitions
    if any(part.centroid is not None for part in partitions):
        return partitions
    return await add_centroids(question.tools.db, order.graph, partitions)


def _least_similarity(order: RunOrder, tools: RunTools) -> float:
    threshold = _space_threshold(order, tools)
    return order.config.partition_relevance_threshold if threshold is None else threshold


def _space_threshold(order: RunOrder, tools: RunTools) -> float | None:
    """Return the relevance threshold of the embedding space; None if the user set one."""
    if "partition_relevance_threshold" in order.config.model_fields_set:
        return None
    return tools.space.threshold
