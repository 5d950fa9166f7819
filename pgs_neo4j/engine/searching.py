"""``pgs.search``: what matches a question, without reading everything."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgs_neo4j.answering.context import build_context, check_tokens
from pgs_neo4j.answering.search import SearchOrder, SearchTools, search
from pgs_neo4j.catalog import StoredGraph, check_mapping
from pgs_neo4j.config import SearchDefaults
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.partitions import Partitions
from pgs_neo4j.model import Found, GraphMapping, RerankerName, SearchMode
from pgs_neo4j.partitioning.result import read_current
from pgs_neo4j.pgs.order import check_question
from pgs_neo4j.retrieval.paths.own_index import OwnIndex
from pgs_neo4j.text.shown import counted


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is searched: a view, the stored graph and its text index if any, and what to say."""

    mapping: GraphMapping
    graph: str | None = None
    own: OwnIndex | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches of a graph, which call no language model.

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
    ) -> Found:
        """Return the ``top_k`` nodes that match a question, best first, and what else matches.

        ``graph`` is the name of a stored graph, or a mapping, which need not be stored. The manual
        tells what each mode does; ``weights`` are those of local, global, and naive in the mode
        ``mix``. A ``rerank`` orders the best nodes once more. With ``max_context_tokens``, the
        result has the text that a prompt of that length would show. None stands for what
        ``[search]`` of ``pgs.toml`` says, by default ``hybrid`` and a ``top_k`` of 10. Nothing is
        written, except that ``global`` makes the partitions of a stored graph that has none. Raises
        QuestionError, UnknownGraphError, UsageError, and DatabaseError.
        """
        wanted = self._core.settings.search.chosen(
            mode=mode,
            top_k=top_k,
            weights=weights,
            rerank=rerank,
            max_context_tokens=max_context_tokens,
        )
        return await self._find(question, graph, wanted)

    async def _find(
        self, question: str, graph: str | GraphMapping | None, wanted: SearchDefaults
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
        )
        found = await search(order, self._tools(order))
        if wanted.max_context_tokens is not None:
            found = replace(found, context=build_context(found, wanted.max_context_tokens).text)
        return replace(found, warnings=(*scope.notes, *found.warnings))

    def _tools(self, order: SearchOrder) -> SearchTools:
        core = self._core
        relevance = core.relevance() if order.rerank == "http" else None
        return SearchTools(core.db, core.space(order.mapping), core.indexes, relevance)

    async def _scope(self, graph: str | GraphMapping | None, mode: SearchMode) -> _Scope:
        if isinstance(graph, GraphMapping):
            check_mapping(graph)
            return _Scope(graph)
        stored = await self._core.graph(graph)
        own, notes = await self._own_index(stored), tuple[str, ...]()
        if own is None and mode == "global":
            notes = (await self._make_partitions(stored),)
            own = await self._own_index(await self._core.graph(stored.name))
        return _Scope(stored.mapping, stored.name, own, notes)

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
        if current is None or not current.generation.indexed:
            return None
        return OwnIndex(current.generation, current.partitions, core.known.texts)
