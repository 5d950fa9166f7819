"""``pgs.search``: what matches a question, without reading everything."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.answering.search import SearchOrder, SearchTools, search
from pgs_neo4j.catalog import check_mapping
from pgs_neo4j.engine.core import Core
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.found import Found, SearchMode
from pgs_neo4j.pgs.order import check_question


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
        core, mapping = self._core, graph
        if isinstance(mapping, GraphMapping):
            check_mapping(mapping)
        else:
            mapping = (await core.graph(mapping)).mapping
        order = SearchOrder(question=question, mapping=mapping, mode=mode, top_k=top_k)
        return await search(order, SearchTools(core.db, core.space(mapping), core.indexes))
