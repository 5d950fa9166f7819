"""``pgs.search``: what matches a question, and answers from it, without reading everything."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

from pgs_neo4j import config
from pgs_neo4j.config import CONTEXT_TOKENS, Knobs, PGSConfig, SearchDefaults
from pgs_neo4j.documents.stored import warn_of_unread
from pgs_neo4j.engine.catalog import StoredGraph, check_mapping
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.partitions import Partitions
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.budget import Amount
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import reserve_ranking
from pgs_neo4j.llm.calls.spending import Account, recording_unbegun
from pgs_neo4j.llm.embedders.reading import describe_text_limits
from pgs_neo4j.llm.protocol import Embedder, RelevanceModel, Reserve, is_free
from pgs_neo4j.model import (
    Answer,
    Found,
    GraphMapping,
    KeywordSource,
    RerankerName,
    SearchMode,
    SearchPlan,
)
from pgs_neo4j.pgs.answering.answer import answer_found, answer_request
from pgs_neo4j.pgs.answering.context import build_context, check_tokens
from pgs_neo4j.pgs.answering.model_help import CANDIDATES
from pgs_neo4j.pgs.answering.modes import ANSWER_MODES
from pgs_neo4j.pgs.answering.plan import add_search_cost, plan_answer
from pgs_neo4j.pgs.answering.record import AnswerOrder, describe_search, restore_search
from pgs_neo4j.pgs.answering.search import SearchOrder, SearchTools, search
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.drift import may_have_changed
from pgs_neo4j.pgs.partitioning.result import read_current
from pgs_neo4j.pgs.request import Request, check_question
from pgs_neo4j.pgs.runs import session
from pgs_neo4j.pgs.runs.keys import check_new_id
from pgs_neo4j.pgs.runs.runs import StoredRun
from pgs_neo4j.pgs.synthesis.reserve import synthesis_cost
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.words import READ_AGAIN, SHARED_WORDS
from pgs_neo4j.search.space import Space
from pgs_neo4j.text.keywords import Keywords
from pgs_neo4j.text.shown import counted

GIVEN = ("mode", "top_k", "weights", "rerank", "max_context_tokens", "keywords")
ANSWER_ITEMS = 30
"""Nodes that a prompt lists (multi-path retrieval, published default)."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is searched: a view, the stored graph and its text index if any, and what to say."""

    mapping: GraphMapping
    graph: str | None = None
    own: OwnIndex | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answering:
    """A search that a model is to answer from, and the session that records the answer."""

    question: str
    graph: str | GraphMapping | None
    wanted: SearchDefaults
    session: str
    config: PGSConfig
    key: str | None = None
    run: str | None = None
    sessions_of: str = ""


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches of a graph; only their answers call a language model.

    Called, it searches: ``await pgs.search("Who trades tea?")``.
    """

    _core: Core

    async def __call__(
        self,
        question: str,
        *,
        graph: str | GraphMapping | None = None,
        mode: SearchMode | None = None,
        top_k: int | None = None,
        weights: tuple[float, float, float] | None = None,
        rerank: RerankerName | None = None,
        max_context_tokens: int | None = None,
        keywords: KeywordSource | None = None,
        answer: bool = False,
        session_id: str = session.DEFAULT,
        idempotency_key: str | None = None,
        run: str | None = None,
        sessions_of: str = "",
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Found:
        """Return the ``top_k`` nodes that match a question, best first, and what else matches.

        None stands for what ``[search]`` of ``pgs.toml`` says; the manual tells what each means.
        Only ``global`` writes, and only partitions that a stored graph lacks. ``graph`` may be a
        mapping. With ``answer``, a model answers in a run of the session. The limits among the
        ``knobs`` also bound an embedder and a reranker that cost something. ``run`` is an id of
        ``pgs.runs.new_id`` for that run. Of earlier runs, only those of sessions whose names begin
        with ``sessions_of`` are shown. Raises QuestionError, UnknownGraphError, UsageError,
        BudgetError where a server's caller has spent its money, DatabaseError, and with ``answer``
        what ``execute`` raises.
        """
        given = (mode, top_k, weights, rerank, max_context_tokens, keywords)
        wanted = self._wanted(answer, given)
        in_force, names = self._core.knobs(knobs), (check_new_id(run), sessions_of)
        if not answer:
            return await self._find_alone(question, graph, wanted, in_force, sessions_of)
        asked = _Answering(question, graph, wanted, session_id, in_force, idempotency_key, *names)
        run_order, tools = await self._prepare(asked, on_event)
        async with recording_unbegun(self._core.db, tools.calls, self._account(run_order)):
            order = await self._order(asked, run_order, tools, tools.calls)
            return replace(order.found, answer=await answer_request(order, tools))

    async def plan(
        self,
        question: str,
        *,
        graph: str | None = None,
        mode: SearchMode | None = None,
        top_k: int | None = None,
        weights: tuple[float, float, float] | None = None,
        rerank: RerankerName | None = None,
        max_context_tokens: int | None = None,
        keywords: KeywordSource | None = None,
        session_id: str = session.DEFAULT,
        sessions_of: str = "",
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> SearchPlan:
        """Search, and predict what an answer with the same arguments would show and cost.

        No language model is called. An embedder or a reranker of the search may cost something,
        which is recorded. Raises QuestionError, UnknownGraphError, UsageError, BudgetError where a
        server's caller has spent its money, and DatabaseError.
        """
        given = (mode, top_k, weights, rerank, max_context_tokens, keywords)
        wanted = self._wanted(True, given)
        in_force = self._core.knobs(knobs)
        asked = _Answering(question, graph, wanted, session_id, in_force, sessions_of=sessions_of)
        run, tools = await self._prepare(asked, on_event)
        helpers = self._helpers(run.mapping, wanted)
        account = Account(
            task="plan", graph=run.graph, session=run.request.session, model=_paid_names(helpers)
        )
        most = self._core.question_cost(helpers, question)
        async with self._core.spending(account, self._core.config, on_event, most=most) as calls:
            space = self._core.space(run.mapping, calls)
            order = await self._order(asked, run, replace(tools, space=space), calls)
            planned = await plan_answer(order, tools)
        planned = add_search_cost(planned, calls.spent())
        limits = await describe_text_limits(helpers)
        contexts = (*planned.contexts, *limits)
        return replace(planned, contexts=contexts, notes=order.found.warnings)

    def _helpers(
        self, mapping: GraphMapping, wanted: SearchDefaults
    ) -> list[Embedder | RelevanceModel]:
        """Return what a search asks besides the database: an embedder, and a reranker."""
        core = self._core
        asked = [
            core.space(mapping).embedder,
            core.relevance() if wanted.rerank == "http" else None,
        ]
        return [one for one in asked if one is not None]

    def _account(self, order: RunOrder) -> Account:
        """Return the account of an answer that spends something before it has a record."""
        model = self._core.llms.answer.name
        return Account(task="search", graph=order.graph, session=order.request.session, model=model)

    async def resume(self, stored: StoredRun, on_event: OnEvent | None, knobs: Knobs) -> Answer:
        """Search again, and answer; replies that the run paid for are not paid for again."""
        wanted = restore_search(stored.request["search"])
        in_force = config.restored(stored.properties["config"], knobs)
        question = stored.properties["question"]
        asked = _Answering(
            question,
            stored.graph,
            wanted,
            stored.session,
            in_force,
            sessions_of=str(stored.request.get("sessions_of", "")),
        )
        run, tools = await self._prepare(asked, on_event)
        async with recording_unbegun(self._core.db, tools.calls, self._account(run)):
            order = await self._order(asked, run, tools, tools.calls)
            return await answer_found(order, tools, stored)

    def _wanted(self, answer: bool, given: tuple[object, ...]) -> SearchDefaults:
        """Return how to search: as the call says, in the order of GIVEN, else as configured."""
        configured = self._core.settings.search
        if answer and "top_k" not in configured.model_fields_set:
            configured = configured.chosen(top_k=ANSWER_ITEMS)
        wanted = configured.chosen(**dict(zip(GIVEN, given, strict=True)))
        if not answer and wanted.mode in ANSWER_MODES:
            raise UsageError(
                f"the mode {wanted.mode} only answers, and lists no matches; add --answer, or "
                "answer=true in Python and over HTTP"
            )
        return wanted

    async def _prepare(
        self, asked: _Answering, on_event: OnEvent | None
    ) -> tuple[RunOrder, RunTools]:
        """Return the order of a run that answers from a search, with its connections."""
        if isinstance(asked.graph, GraphMapping):
            raise UsageError("an answer is recorded, so it needs a stored graph; add it first")
        core = self._core
        graph, model = await core.graph(asked.graph), core.llms.answer.name
        tokens = asked.wanted.max_context_tokens or CONTEXT_TOKENS
        check_tokens(tokens)
        wanted = asked.wanted.chosen(max_context_tokens=tokens)
        run = RunOrder(
            request=Request(
                asked.question,
                graph.name,
                session=asked.session,
                run_id=asked.run,
                idempotency_key=asked.key,
            ),
            graph=graph.name,
            mapping=graph.mapping,
            config=asked.config,
            identity=describe_search(
                asked.question, wanted, model, asked.config, asked.sessions_of
            ),
        )
        return run, await core.run_tools(run, on_event).with_answer_llm().fenced()

    async def _order(
        self, asked: _Answering, run: RunOrder, tools: RunTools, paying: Calls
    ) -> AnswerOrder:
        """Search, and return the order of an answer; ``paying`` counts what the search costs."""
        core, tokens = self._core, asked.wanted.max_context_tokens or CONTEXT_TOKENS
        wanted = asked.wanted.chosen(max_context_tokens=tokens)
        without = wanted.model_copy(update={"max_context_tokens": None})
        if wanted.rerank == "model" and wanted.top_k > 0:  # it orders more than are wanted
            most = max(wanted.top_k, CANDIDATES)
            without = without.model_copy(update={"rerank": None, "top_k": most})
        kept = Amount()
        if paying is tools.calls:  # the answer is bought from the same limits
            kept = synthesis_cost(tools.calls, tools.synthesis_llm, asked.config, tokens)
        find = partial(
            self._find,
            asked.question,
            run.graph,
            without,
            asked.sessions_of,
            space=tools.space,
            reserve=lambda model: reserve_ranking(paying, model, kept),
        )
        found = await find()
        graph = await core.graph(run.graph)  # a global search may just have made its partitions
        return AnswerOrder(
            run=run,
            found=found,
            max_context_tokens=tokens,
            partitioned=graph.generation is not None and not graph.redefined,
            keywords=wanted.keywords,
            search_again=find,
            rerank=wanted.rerank,
            top_k=wanted.top_k,
        )

    async def _find_alone(
        self,
        question: str,
        graph: str | GraphMapping | None,
        wanted: SearchDefaults,
        knobs: PGSConfig,
        sessions_of: str,
    ) -> Found:
        """Search without an answer; what its embedder and reranker cost is recorded."""
        core = self._core
        name, mapping = "", graph
        if not isinstance(mapping, GraphMapping):
            stored = await core.graph(mapping)
            name, mapping = stored.name, stored.mapping
        helpers = self._helpers(mapping, wanted)
        account = Account(
            task="search", graph=name, session=sessions_of, model=_paid_names(helpers)
        )
        most = core.question_cost(helpers, question)
        async with core.spending(account, knobs, most=most) as calls:
            return await self._find(
                question,
                graph,
                wanted,
                sessions_of,
                space=core.space(mapping, calls),
                reserve=lambda model: reserve_ranking(calls, model, Amount()),
            )

    async def _find(
        self,
        question: str,
        graph: str | GraphMapping | None,
        wanted: SearchDefaults,
        sessions_of: str = "",
        keywords: Keywords | None = None,
        *,
        space: Space,
        reserve: Callable[[RelevanceModel], Reserve],
    ) -> Found:
        check_question(question)
        if wanted.max_context_tokens is not None:
            check_tokens(wanted.max_context_tokens)
        scope = await self._scope(graph, wanted.mode)
        order = SearchOrder(
            question=question,
            mapping=scope.mapping,
            graph=scope.graph,
            own=scope.own,
            mode=wanted.mode,
            top_k=wanted.top_k,
            weights=wanted.weights,
            rerank=wanted.rerank,
            keywords=keywords,
            sessions_of=sessions_of,
        )
        found = await search(order, self._tools(order, space, reserve))
        notes = (*scope.notes, *_advise(scope, found))
        if wanted.max_context_tokens is not None:
            found = replace(found, context=build_context(found, wanted.max_context_tokens).text)
        changed = scope.own is not None and scope.own.changed
        return replace(found, warnings=(*notes, *found.warnings), changed=changed)

    def _tools(
        self, order: SearchOrder, space: Space, reserve: Callable[[RelevanceModel], Reserve]
    ) -> SearchTools:
        core = self._core
        relevance = core.relevance() if order.rerank == "http" else None
        reserved = reserve(relevance) if relevance else None
        return SearchTools(core.db, space, core.indexes, relevance, reserved)

    async def _scope(self, graph: str | GraphMapping | None, mode: SearchMode) -> _Scope:
        if isinstance(graph, GraphMapping):
            check_mapping(graph)
            return _Scope(graph)
        stored = await self._core.graph(graph)
        own, notes = await self._own_index(stored), tuple[str, ...]()
        if own is None and mode == "global":
            notes = (await self._make_partitions(stored),)
            own = await self._own_index(await self._core.graph(stored.name))
        unread = await warn_of_unread(self._core.db, stored.name, stored.mapping)
        return _Scope(stored.mapping, stored.name, own, (*notes, *filter(None, [unread])))

    async def _make_partitions(self, stored: StoredGraph) -> str:
        """Make the partitions that a global search compares, and return what to say about it."""
        made = await Partitions(self._core).build(stored.name)
        count = len(made.partitions)
        return f"the graph had no partitions to compare, so {counted(count, 'partition')} were made"

    async def _own_index(self, stored: StoredGraph) -> OwnIndex | None:
        """Return the text index of a graph's partitions, unless it is of another definition."""
        if stored.generation is None or stored.redefined:
            return None
        core = self._core
        current = await read_current(core.db, stored.name, centroids=False, known=core.known)
        if current is None:
            return None
        changed = await may_have_changed(core.db, current.generation)
        return OwnIndex(current.generation, current.partitions, core.known.texts, changed)


def _advise(scope: _Scope, found: Found) -> list[str]:
    """Return what a search may have missed because of its text index, and the command that helps.

    A mapping alone cannot be partitioned, so nothing is advised.
    """
    if scope.graph is None or not found.paths:
        return []
    command = f"pgs partition --graph {shlex.quote(scope.graph)}"
    if scope.own is None:
        if any(path.method == SHARED_WORDS for path in found.paths):
            return [
                "the graph has no text index, so every text was read for the question's words; to "
                f"search faster and rank better, run: {command}"
            ]
        return []
    if not scope.own.changed:
        return []
    methods = {path.method for path in found.paths}
    if any(READ_AGAIN in method for method in methods):
        did = "all present texts were searched as well"
    elif any(method.startswith("full-text index") for method in methods):
        did = "its partitions are as of then"
    else:
        did = "what is new or changed since may not be found"
    return [
        f"the database has changed since the graph was partitioned; {did}; to bring partitions and "
        f"text index up to date, run: {command}"
    ]


def _paid_names(helpers: Sequence[Embedder | RelevanceModel]) -> str:
    """Return the names of those that may ask for money."""
    return " / ".join(one.name for one in helpers if not is_free(one))
