"""``pgs.search``: finds what matches a question, and answers without sweeping partitions."""

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
from pgs_neo4j.engine.viewing import of_graph
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
    StatementSource,
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
from pgs_neo4j.pgs.synthesis.prompt import synthesis_cost
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.words import READ_AGAIN, SHARED_WORDS
from pgs_neo4j.search.space import Space
from pgs_neo4j.text.keywords import Keywords
from pgs_neo4j.text.shown import counted

GIVEN = ("mode", "top_k", "weights", "rerank", "max_context_tokens", "keywords")
ANSWER_ITEMS = 30
"""Nodes that a prompt lists (the published default of multi-path retrieval)."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The mapping to search, the stored graph and its text index if any, and notes for the user."""

    mapping: GraphMapping
    graph: str | None = None
    own: OwnIndex | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _AnswerRequest:
    """A question that a model answers from a search, in a session that records the answer."""

    question: str
    graph: str | GraphMapping | None
    options: SearchDefaults
    session: str
    config: PGSConfig
    key: str | None = None
    run: str | None = None
    sessions_of: str = ""
    cypher: bool = True


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches a graph. A language model is called only if an answer is wanted.

    Called, it searches: ``await pgs.search("Who trades tea?")``.
    """

    _core: Core

    @of_graph
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
        cypher: bool = True,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Found:
        """Return the ``top_k`` best-matching nodes, best first, and other matches.

        Options that are None have the values of ``[search]`` in ``pgs.toml``; the manual explains
        them. Only mode ``global`` writes to the database: it partitions a stored graph that has no
        partitions. ``graph`` may be a mapping. With ``answer``, a model answers in a run of the
        session. Limits among the ``knobs`` also apply to an embedder and a reranker that cost
        money. ``run`` is the id for the run of the answer, from ``pgs.runs.new_id``. Of earlier
        findings, only those of sessions whose names begin with ``sessions_of`` are shown. Without
        ``cypher``, no statement is read, since one may read beyond the graph. Raises
        QuestionError, UnknownGraphError, UsageError, BudgetError if a server's caller has no money
        left, DatabaseError, and with ``answer`` the errors of ``execute``.
        """
        given = (mode, top_k, weights, rerank, max_context_tokens, keywords)
        options = self._choose_options(answer, given)
        run_config, names = self._core.knobs(knobs), (check_new_id(run), sessions_of)
        if not answer:
            statements: StatementSource = "words" if cypher else "none"
            return await self._find_alone(
                question, graph, options, run_config, sessions_of, statements
            )
        request = _AnswerRequest(
            question, graph, options, session_id, run_config, idempotency_key, *names, cypher
        )
        run_order, tools = await self._prepare(request, on_event)
        async with recording_unbegun(self._core.db, tools.calls, self._make_account(run_order)):
            order = await self._make_order(request, run_order, tools, tools.calls)
            return replace(order.found, answer=await answer_request(order, tools))

    @of_graph
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
        cypher: bool = True,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> SearchPlan:
        """Search, and predict what an answer with the same arguments would show and cost.

        No language model is called. The cost of an embedder or a reranker is recorded. Raises
        QuestionError, UnknownGraphError, UsageError, BudgetError if a server's caller has no money
        left, and DatabaseError.
        """
        given = (mode, top_k, weights, rerank, max_context_tokens, keywords)
        options = self._choose_options(True, given)
        run_config = self._core.knobs(knobs)
        request = _AnswerRequest(
            question,
            graph,
            options,
            session_id,
            run_config,
            sessions_of=sessions_of,
            cypher=cypher,
        )
        run, tools = await self._prepare(request, on_event)
        helpers = self._list_helpers(run.mapping, options)
        account = Account(
            task="plan",
            graph=run.graph,
            session=run.request.session,
            model=_list_paid_names(helpers),
        )
        most = self._core.question_cost(helpers, question)
        async with self._core.spending(account, self._core.config, on_event, most=most) as calls:
            space = self._core.space(run.mapping, calls)
            order = await self._make_order(request, run, replace(tools, space=space), calls)
            planned = await plan_answer(order, tools)
        planned = add_search_cost(planned, calls.spent())
        limits = await describe_text_limits(helpers)
        contexts = (*planned.contexts, *limits)
        return replace(planned, contexts=contexts, notes=order.found.warnings)

    def _list_helpers(
        self, mapping: GraphMapping, options: SearchDefaults
    ) -> list[Embedder | RelevanceModel]:
        """Return the embedder and the reranker that a search calls, if any."""
        core = self._core
        candidates = [
            core.space(mapping).embedder,
            core.relevance() if options.rerank == "http" else None,
        ]
        return [one for one in candidates if one is not None]

    def _make_account(self, order: RunOrder) -> Account:
        """Return the account for costs of an answer that has no record yet."""
        model = self._core.llms.answer.name
        return Account(task="search", graph=order.graph, session=order.request.session, model=model)

    async def resume(self, stored: StoredRun, on_event: OnEvent | None, knobs: Knobs) -> Answer:
        """Search again, and answer. Replies that the run has paid for are not paid for again."""
        options = restore_search(stored.request["search"])
        run_config = config.restored(stored.properties["config"], knobs)
        question = stored.properties["question"]
        request = _AnswerRequest(
            question,
            stored.graph,
            options,
            stored.session,
            run_config,
            sessions_of=str(stored.request.get("sessions_of", "")),
            cypher=bool(stored.request.get("cypher", True)),
        )
        run, tools = await self._prepare(request, on_event)
        async with recording_unbegun(self._core.db, tools.calls, self._make_account(run)):
            order = await self._make_order(request, run, tools, tools.calls)
            return await answer_found(order, tools, stored)

    def _choose_options(self, answer: bool, given: tuple[object, ...]) -> SearchDefaults:
        """Return the options of a search: the ``given`` values (see GIVEN), else the settings."""
        configured = self._core.settings.search
        if answer and "top_k" not in configured.model_fields_set:
            configured = configured.chosen(top_k=ANSWER_ITEMS)
        options = configured.chosen(**dict(zip(GIVEN, given, strict=True)))
        if not answer and options.mode in ANSWER_MODES:
            raise UsageError(
                f"the mode {options.mode} only answers, and lists no matches; add --answer, or "
                "answer=true in Python and over HTTP"
            )
        return options

    async def _prepare(
        self, request: _AnswerRequest, on_event: OnEvent | None
    ) -> tuple[RunOrder, RunTools]:
        """Return the order of a run that answers from a search, with its connections."""
        if isinstance(request.graph, GraphMapping):
            raise UsageError("an answer is recorded, so it needs a stored graph; add it first")
        core = self._core
        graph, model = await core.graph(request.graph), core.llms.answer.name
        tokens = request.options.max_context_tokens or CONTEXT_TOKENS
        check_tokens(tokens)
        options = request.options.chosen(max_context_tokens=tokens)
        run = RunOrder(
            request=Request(
                request.question,
                graph.name,
                session=request.session,
                run_id=request.run,
                idempotency_key=request.key,
            ),
            graph=graph.name,
            mapping=graph.mapping,
            config=request.config,
            identity=describe_search(
                request.question,
                options,
                model,
                request.config,
                request.sessions_of,
                cypher=request.cypher,
            ),
        )
        return run, await core.run_tools(run, on_event).with_answer_llm().fenced()

    async def _make_order(
        self, request: _AnswerRequest, run: RunOrder, tools: RunTools, search_calls: Calls
    ) -> AnswerOrder:
        """Search, and return the order of an answer; ``search_calls`` counts the search's costs."""
        core, tokens = self._core, request.options.max_context_tokens or CONTEXT_TOKENS
        options = request.options.chosen(max_context_tokens=tokens)
        search_options = options.model_copy(update={"max_context_tokens": None})
        if options.rerank == "model" and options.top_k > 0:  # it ranks more nodes than it returns
            most = max(options.top_k, CANDIDATES)
            search_options = search_options.model_copy(update={"rerank": None, "top_k": most})
        answer_cost = Amount()
        if search_calls is tools.calls:  # the same limits cover the answer
            answer_cost = synthesis_cost(tools.calls, tools.synthesis_llm, request.config, tokens)
        find = partial(
            self._find,
            request.question,
            run.graph,
            search_options,
            request.sessions_of,
            statements=self._choose_writer(request.cypher),
            space=tools.space,
            reserve=lambda model: reserve_ranking(search_calls, model, answer_cost),
        )
        found = await find()
        graph = await core.graph(run.graph)  # a global search may just have made its partitions
        return AnswerOrder(
            run=run,
            found=found,
            max_context_tokens=tokens,
            partitioned=graph.generation is not None and not graph.redefined,
            keywords=options.keywords,
            search_again=find,
            rerank=options.rerank,
            top_k=options.top_k,
        )

    async def _find_alone(
        self,
        question: str,
        graph: str | GraphMapping | None,
        options: SearchDefaults,
        knobs: PGSConfig,
        sessions_of: str,
        statements: StatementSource,
    ) -> Found:
        """Search without an answer, and record the costs of the embedder and the reranker."""
        core = self._core
        name, mapping = "", graph
        if not isinstance(mapping, GraphMapping):
            stored = await core.graph(mapping)
            name, mapping = stored.name, stored.mapping
        helpers = self._list_helpers(mapping, options)
        account = Account(
            task="search", graph=name, session=sessions_of, model=_list_paid_names(helpers)
        )
        most = core.question_cost(helpers, question)
        async with core.spending(account, knobs, most=most) as calls:
            return await self._find(
                question,
                graph,
                options,
                sessions_of,
                statements=statements,
                space=core.space(mapping, calls),
                reserve=lambda model: reserve_ranking(calls, model, Amount()),
            )

    async def _find(
        self,
        question: str,
        graph: str | GraphMapping | None,
        options: SearchDefaults,
        sessions_of: str = "",
        keywords: Keywords | None = None,
        *,
        statements: StatementSource,
        space: Space,
        reserve: Callable[[RelevanceModel], Reserve],
    ) -> Found:
        check_question(question)
        if options.max_context_tokens is not None:
            check_tokens(options.max_context_tokens)
        scope = await self._find_scope(graph, options.mode)
        order = SearchOrder(
            question=question,
            mapping=scope.mapping,
            graph=scope.graph,
            own=scope.own,
            mode=options.mode,
            top_k=options.top_k,
            weights=options.weights,
            rerank=options.rerank,
            keywords=keywords,
            sessions_of=sessions_of,
            statements=statements,
        )
        found = await search(order, self._make_tools(order, space, reserve))
        notes = (*scope.notes, *_advise(scope, found))
        if options.max_context_tokens is not None:
            found = replace(found, context=build_context(found, options.max_context_tokens).text)
        changed = scope.own is not None and scope.own.changed
        return replace(found, warnings=(*notes, *found.warnings), changed=changed)

    def _choose_writer(self, cypher: bool) -> StatementSource:
        """Return who may write the statement of an answer; free readers cannot."""
        if not cypher:
            return "none"
        return "words" if is_free(self._core.llms.answer) else "model"

    def _make_tools(
        self, order: SearchOrder, space: Space, reserve: Callable[[RelevanceModel], Reserve]
    ) -> SearchTools:
        core = self._core
        relevance = core.relevance() if order.rerank == "http" else None
        reserved = reserve(relevance) if relevance else None
        return SearchTools(core.db, space, core.indexes, relevance, reserved, core.schema)

    async def _find_scope(self, graph: str | GraphMapping | None, mode: SearchMode) -> _Scope:
        if isinstance(graph, GraphMapping):
            check_mapping(graph)
            return _Scope(graph)
        stored = await self._core.graph(graph)
        own, notes = await self._find_own_index(stored), tuple[str, ...]()
        if own is None and mode == "global":
            notes = (await self._build_partitions(stored),)
            own = await self._find_own_index(await self._core.graph(stored.name))
        unread = await warn_of_unread(self._core.db, stored.name, stored.mapping)
        return _Scope(stored.mapping, stored.name, own, (*notes, *filter(None, [unread])))

    async def _build_partitions(self, stored: StoredGraph) -> str:
        """Make the partitions that a global search compares, and return a note for the user."""
        made = await Partitions(self._core).build(stored.name)
        count = len(made.partitions)
        return f"the graph had no partitions to compare, so {counted(count, 'partition')} were made"

    async def _find_own_index(self, stored: StoredGraph) -> OwnIndex | None:
        """Return the text index of a graph's partitions, unless its definition has changed."""
        if stored.generation is None or stored.redefined:
            return None
        core = self._core
        current = await read_current(core.db, stored.name, centroids=False, known=core.known)
        if current is None:
            return None
        changed = await may_have_changed(core.db, current.generation)
        return OwnIndex(current.generation, current.partitions, core.known.texts, changed)


def _advise(scope: _Scope, found: Found) -> list[str]:
    """Return notes on what a search may have missed, with the command that helps.

    With an outdated text index, a search may miss matches; without any, it is slow. A mapping that
    is not stored cannot be partitioned, so it gets no advice.
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
        state = "all present texts were searched as well"
    elif any(method.startswith("full-text index") for method in methods):
        state = "its partitions are as of then"
    else:
        state = "what is new or changed since may not be found"
    return [
        f"the database has changed since the graph was partitioned; {state}; to bring partitions "
        f"and text index up to date, run: {command}"
    ]


def _list_paid_names(helpers: Sequence[Embedder | RelevanceModel]) -> str:
    """Return the names of the helpers that may cost money."""
    return " / ".join(one.name for one in helpers if not is_free(one))
