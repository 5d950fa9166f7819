"""Routes that search a graph, and plan answers from searches. No language model is called."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pgs_neo4j.engine import LEAST_TOKENS, check_question
from pgs_neo4j.errors import BudgetError
from pgs_neo4j.model import SearchMode
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.routes.asking import Question, QuestionText
from pgs_neo4j.web.routes.router import BODY, WHOLE, api_router, failing
from pgs_neo4j.web.shared import AskerNow, CallerNow, ServingNow, check_search_mode, visible_graph

router = api_router("search")

WRITING = (None, "global", "auto")
"""Modes that may partition a graph that has no partitions."""


class Search(BaseModel):
    """A question to search for; what is left out is as configured."""

    model_config = BODY

    question: QuestionText
    graph: Annotated[str | None, Field(max_length=64)] = None
    mode: SearchMode | None = None
    top_k: Annotated[int, Field(ge=1, le=200), WHOLE] | None = None
    rerank: Literal["none", "cosine", "mmr", "distance", "mentions"] | None = None
    max_context_tokens: Annotated[int, Field(ge=LEAST_TOKENS, le=1_000_000), WHOLE] | None = None


@router.post("/search", responses=failing(BudgetError))
async def search(body: Search, serving: ServingNow, caller: CallerNow) -> Json:
    """Return nodes, relationships, partitions, and the caller's findings that match a question.

    Each node has its score by path, and ``paths`` report each path. A search that has to partition
    the graph first needs the role ``asker``. If the embedder may cost something, the daily limit
    must not be used up.
    """
    graph = await visible_graph(serving, caller, body.graph)
    check_search_mode(serving, caller, body.mode)
    stored = await serving.pgs.graphs.get(graph)
    if body.mode in WRITING and stored.generation is None:
        caller.require("asker")
        serving.require_writing()
    found = await serving.pgs.search(
        body.question,
        graph=graph,
        mode=body.mode,
        top_k=body.top_k,
        rerank=body.rerank,
        max_context_tokens=body.max_context_tokens,
        sessions_of=caller.own_prefix,
        cypher=caller.graphs is None,
    )
    return {str(name): value for name, value in plain_data(found).items() if name != "answer"}


class PlannedSearch(BaseModel):
    """What an answer from a search would show and cost; costs are null without prices.

    ``contexts`` say what each model can take at once, and where that is known from. ``notes`` are
    those of the search, such as that the graph has changed since it was partitioned.
    """

    graph: str
    session: str
    mode: SearchMode
    model: str
    nodes: int
    relationships: int
    calls: int
    input_tokens: int
    output_tokens: int
    output_most: int
    low: float | None
    high: float | None
    budget: str
    contexts: dict[str, str]
    context_advice: tuple[str, ...]
    notes: tuple[str, ...]


@router.post("/search/plan", responses=failing(BudgetError))
async def plan_search(body: Question, serving: ServingNow, caller: AskerNow) -> PlannedSearch:
    """Return what an answer from a search alone would show and cost. No language model is called.

    An embedding model behind an endpoint is called. Its cost counts toward the daily limit, which
    must not be used up.
    """
    serving.require_writing()
    check_question(body.question)
    check_search_mode(serving, caller, body.search_mode)
    planned = await serving.pgs.search.plan(
        body.question,
        graph=await visible_graph(serving, caller, body.graph),
        mode=body.search_mode,
        top_k=body.top_k,
        session_id=caller.stored_session(body.session),
        sessions_of=caller.own_prefix,
        cypher=caller.graphs is None,
        **body.knobs(),
    )
    planned_values = {name: getattr(planned, name) for name in PlannedSearch.model_fields}
    return PlannedSearch(
        **planned_values | {"session": body.session, "contexts": dict(planned.contexts)}
    )
