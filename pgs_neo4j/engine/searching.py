"""``pgs.search``: what matches a question, without reading everything."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.answering.search import SearchOrder, SearchTools, search
from pgs_neo4j.catalog import StoredGraph, check_mapping
from pgs_neo4j.engine.core import Core
from pgs_neo4j.model import Found, GraphMapping, SearchMode
from pgs_neo4j.partitioning.result import read_current
from pgs_neo4j.pgs.order import check_question
from pgs_neo4j.retrieval.paths.own_index import OwnIndex


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches of a graph. They write nothing and call no language model.

    Called, it searches: ``await pgs.search("Who trades tea?")``.
    """

    _core: Core

    async def __call__(
        self,
        question: str,
        *,
        graph: str | GraphMapping | None = None,
        mode: SearchMode = "hybrid",
        top_k: int = 10,
    ) -> Found:
        """Return the ``top_k`` nodes that match a question, best first.

        ``graph`` is the name of a stored graph, or a mapping, which need not be stored. Mode
        ``naive`` compares stored embeddings alone. ``hybrid`` adds words, and then relationships of
        the best nodes. Raises QuestionError, UnknownGraphError, UsageError, and DatabaseError.
        """
        check_question(question)
        core, own = self._core, None
        if isinstance(graph, GraphMapping):
            check_mapping(graph)
            mapping = graph
        else:
            stored = await core.graph(graph)
            mapping, own = stored.mapping, await self._own_index(stored)
        order = SearchOrder(question=question, mapping=mapping, own=own, mode=mode, top_k=top_k)
        return await search(order, SearchTools(core.db, core.space(mapping), core.indexes))

    async def _own_index(self, stored: StoredGraph) -> OwnIndex | None:
        """Return the text index of a graph's partitions, unless it is of another definition."""
        if stored.generation is None or stored.redefined:
            return None
        core = self._core
        current = await read_current(core.db, stored.name, centroids=False, known=core.known)
        if current is None or not current.generation.indexed:
            return None
        return OwnIndex(current.generation, current.partitions, core.known.texts)
