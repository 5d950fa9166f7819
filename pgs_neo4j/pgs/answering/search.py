"""Searches a graph: follows the paths of a mode, reranks the nodes, and reads their texts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.errors import (
    BudgetError,
    ConfigError,
    DatabaseError,
    ModelError,
    StoppedError,
    UsageError,
)
from pgs_neo4j.llm.protocol import RelevanceModel, Reserve
from pgs_neo4j.model import (
    Found,
    FoundItem,
    GraphMapping,
    PathReport,
    RerankerName,
    SearchMode,
    StatementSource,
)
from pgs_neo4j.model.ceilings import RERANK_S
from pgs_neo4j.pgs.answering.modes import MODES, SearchTrace, SearchView, take_best
from pgs_neo4j.pgs.querying.schema.known import KnownSchema
from pgs_neo4j.search.known_indexes import KnownIndexes
from pgs_neo4j.search.names import NAMES, ONLY_NAMES
from pgs_neo4j.search.nodes import read_nodes
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.vector import stored_dimensions
from pgs_neo4j.search.rerankers import RERANKERS, RerankOrder, unchanged
from pgs_neo4j.search.space import QuestionVector, Space, embed_question
from pgs_neo4j.text.keywords import Keywords, extract_keywords

MOST_ITEMS = 200
LEAST_SHARE = 0.01
"""Minimum score of an item, relative to the best item; items below the minimum are left out."""
RERANKED: Mapping[SearchMode, RerankerName] = {"multipath": "cosine"}
"""The default rerankers of modes, as published; other modes have none."""
NO_EMBEDDINGS = "the graph stores no embeddings, so words decide alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOrder:
    """A question about a view of the database, and how to search for it.

    ``graph`` is the name of a stored graph, and ``own`` the text index of its partitions, if it has
    any. ``weights`` are the weights of local, global, and naive in the mode ``mix``. ``rerank`` is
    None for the default reranker of the mode. ``sessions_of`` is the prefix of the sessions whose
    runs the search may use. ``statements`` says who may write a Cypher statement.
    """

    question: str
    mapping: GraphMapping
    graph: str | None = None
    own: OwnIndex | None = None
    mode: SearchMode = "hybrid"
    top_k: int = 10
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    rerank: RerankerName | None = None
    keywords: Keywords | None = None
    sessions_of: str = ""
    statements: StatementSource = "words"


@dataclass(frozen=True, slots=True)
class SearchTools:
    """The connections of a search.

    ``relevance`` is the model of the reranker ``http``. ``reserve`` reserves its calls in the
    budget of a run, None outside of runs.
    """

    db: Database
    space: Space
    known: KnownIndexes = field(default_factory=KnownIndexes)
    relevance: RelevanceModel | None = None
    reserve: Reserve | None = None
    schema: KnownSchema = field(default_factory=KnownSchema)


async def search(order: SearchOrder, tools: SearchTools) -> Found:
    """Return the nodes, facts, units, and findings that match a question.

    Nothing is written, and no language model is called. If a path fails, its report says so, and
    the other paths count. If a reranker fails, the order stays unchanged. Raises UsageError for
    invalid options, such as an unknown mode, and DatabaseError when the database cannot be read.
    """
    _check_order(order)
    began = perf_counter()
    indexes = await tools.known.get(tools.db)
    question, warnings = await _embed(order, tools, indexes)
    view = SearchView(
        db=tools.db,
        graph=order.graph,
        indexes=indexes,
        own=order.own,
        mapping=order.mapping,
        question=order.question,
        keywords=order.keywords or extract_keywords(order.question),
        vector=question.vector,
        weights=order.weights,
        sessions_of=order.sessions_of,
        schema=tools.schema,
        statements=order.statements,
    )
    trace = SearchTrace()
    found = await MODES[order.mode](view, trace)
    scores, warning = await _rerank(order, tools, view, found)
    worst = LEAST_SHARE * max(scores.values(), default=0.0)
    best = {node: score for node, score in scores.items() if score >= worst}
    return Found(
        question=order.question,
        mode=trace.mode or order.mode,
        items=await _read_items(view, trace, take_best(best, order.top_k)),
        paths=tuple(trace.reports),
        seconds=perf_counter() - began,
        warnings=tuple(filter(None, (*warnings, _warn_of_names(trace.reports), warning))),
        facts=trace.facts,
        units=trace.units,
        findings=trace.findings,
        reason=trace.reason,
        rows=trace.rows,
    )


def _warn_of_names(reports: Sequence[PathReport]) -> str:
    """Return a warning if words matched only names of labels and types, and no text."""
    found = [one for one in reports if one.name.split()[-1] == "text" and one.count]
    return ONLY_NAMES if found and all(one.method == NAMES for one in found) else ""


async def _rerank(
    order: SearchOrder, tools: SearchTools, view: SearchView, scores: Mapping[str, float]
) -> tuple[Mapping[str, float], str]:
    """Return the scores after reranking, and a warning, which may be empty.

    If the reranker fails, the scores stay unchanged.
    """
    name = order.rerank or RERANKED.get(order.mode, "none")
    given = RerankOrder(
        db=tools.db,
        mapping=order.mapping,
        scores=scores,
        vector=view.vector,
        question=order.question,
        model=tools.relevance,
        reserve=tools.reserve,
    )
    try:
        async with asyncio.timeout(RERANK_S):
            reranked = await RERANKERS[name](given)
    except (DatabaseError, ModelError, StoppedError, ConfigError) as error:
        reranked = unchanged(given, f"the reranker {name} failed: {error}")
    except TimeoutError:
        reranked = unchanged(given, f"the reranker {name} took longer than {RERANK_S:g} s")
    return reranked.scores, reranked.warning


def check_mode(mode: SearchMode) -> None:
    """Raise UsageError for an unknown mode."""
    if mode not in MODES:
        raise UsageError(f"there is no search mode {mode!r}; the modes are {', '.join(MODES)}")


def _check_order(order: SearchOrder) -> None:
    check_mode(order.mode)
    if order.mode == "cypher" and order.statements == "none":
        raise UsageError("statements are not allowed here; choose another mode than cypher")
    if not 1 <= order.top_k <= MOST_ITEMS:
        raise UsageError(f"top_k is {order.top_k}; choose a number from 1 to {MOST_ITEMS}")
    if order.rerank is not None and order.rerank not in RERANKERS:
        raise UsageError(
            f"there is no reranker {order.rerank!r}; the rerankers are {', '.join(RERANKERS)}"
        )
    if not all(isfinite(weight) and weight >= 0 for weight in order.weights):
        raise UsageError("the weights of a search must be numbers from 0")


async def _embed(
    order: SearchOrder, tools: SearchTools, indexes: Sequence[SearchIndex]
) -> tuple[QuestionVector, list[str]]:
    """Return the question's vector, which may be missing, and warnings about it."""
    dimensions = await stored_dimensions(tools.db, indexes, order.mapping)
    if dimensions is None:
        return QuestionVector(None), [NO_EMBEDDINGS] if order.mode == "naive" else []
    try:
        found = await embed_question(
            tools.db, tools.space, order.mapping, order.question, dimensions, order.own
        )
    except (ModelError, BudgetError, ConfigError) as error:
        return QuestionVector(None), [f"words decide alone, because the embedder failed: {error}"]
    return found, [found.note] if found.note else []


async def _read_items(
    view: SearchView, trace: SearchTrace, best: Mapping[str, float]
) -> tuple[FoundItem, ...]:
    """Return the best nodes with their texts; nodes deleted since then are left out."""
    nodes = {node.element_id: node for node in await read_nodes(view.db, view.mapping, [*best])}
    return tuple(
        FoundItem(
            id=place,
            key=node.key,
            title=node.title,
            text=node.text,
            labels=node.labels,
            score=score,
            scores={path: own[place] for path, own in trace.scores.items() if place in own},
            way=trace.ways.get(place, ""),
        )
        for place, score in best.items()
        if (node := nodes.get(place)) is not None
    )
