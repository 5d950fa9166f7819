"""Retrievers for neo4j-graphrag.

``PGSRetriever`` returns the nodes that ``pgs.search`` finds. ``PGSFindingsRetriever`` asks a
question, and returns the findings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Any, Unpack

from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from pgs_neo4j.adapters.engine_loop import OwnEngine
from pgs_neo4j.adapters.findings import FindingItem, FindingQuery, find_findings
from pgs_neo4j.config import EmbedderName, Knobs, SettingsOverrides
from pgs_neo4j.database.driver_values import create_record
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.protocol import LLM, Embedder
from pgs_neo4j.model import Found, FoundItem, GraphMapping, StatementRows
from pgs_neo4j.text.row_text import write_row


class PGSRetriever(Retriever):  # type: ignore[misc]
    """Finds the nodes of a graph that match a question, without a language model.

    It has its own connection, which ``close`` or the end of a ``with`` block closes. Searches may
    run in any thread; in an event loop, a search blocks the loop.
    """

    def __init__(
        self,
        *,
        mapping: GraphMapping | None = None,
        embedder: Embedder | EmbedderName | None = None,
        result_formatter: Callable[[Any], RetrieverResultItem] | None = None,
        **settings: Unpack[SettingsOverrides],
    ) -> None:
        """Connect as configured, without models; ``settings`` override the configuration.

        The setting ``graph`` names a stored graph. A ``mapping`` replaces it, and need not be
        stored. Raises ConfigError and DatabaseError.
        """
        # Not super().__init__(), which would only check a synchronous driver.
        self.result_formatter = result_formatter or format_record
        self._mapping = mapping
        opening = PGS.connect_without_models(embedder=embedder, **settings)
        self._engine = OwnEngine("pgs-retriever", opening)

    def get_search_results(
        self, query_text: str, mode: str = "hybrid", top_k: int = 10
    ) -> RawSearchResult:
        """Find the ``top_k`` nodes that match a question, best first.

        Modes are those of ``pgs.search``. "hybrid" suits most questions, "local" suits questions
        about named things, "global" suits broad questions, "naive" only compares embeddings, and
        "cypher" reads the rows of a statement, which are then the items, in their order. Raises
        QuestionError, UsageError, UnknownGraphError, and DatabaseError.
        """
        found = self._engine.run(self._search(query_text, mode, top_k))
        metadata: dict[str, Any] = {
            "mode": found.mode,
            "paths": [asdict(path) for path in found.paths],
            "seconds": found.seconds,
            "warnings": list(found.warnings),
            "changed": found.changed,
        }
        records = _make_records(found.items)
        if found.rows is not None:
            metadata["statement"] = found.rows.statement
            records = _make_row_records(found.rows)
        return RawSearchResult(records=records, metadata=metadata)

    def close(self) -> None:
        """Close the connection; searches that still run end with UsageError."""
        self._engine.close()

    def __enter__(self) -> PGSRetriever:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _search(self, question: str, mode: Any, top_k: int) -> Found:
        return await self._engine.pgs.search(question, graph=self._mapping, mode=mode, top_k=top_k)


class PGSFindingsRetriever(Retriever):  # type: ignore[misc]
    """Lets a model read the partitions that matter to a question, and returns its findings.

    It has its own connection, which ``close`` or the end of a ``with`` block closes.
    """

    def __init__(
        self,
        *,
        sweep_llm: LLM | None = None,
        synthesis_llm: LLM | None = None,
        result_formatter: Callable[[Any], RetrieverResultItem] | None = None,
        **settings: Unpack[SettingsOverrides],
    ) -> None:
        """Connect as configured; ``settings`` override the configuration.

        The setting ``graph`` names a stored graph. Raises ConfigError, DatabaseError, ModelError.
        """
        # Not super().__init__(), which would only check a synchronous driver.
        self.result_formatter = result_formatter or format_record
        opening = PGS.connect(sweep_llm=sweep_llm, synthesis_llm=synthesis_llm, **settings)
        self._engine = OwnEngine("pgs-findings", opening)

    def get_search_results(
        self,
        query_text: str,
        mode: str = "full",
        session: str = "default",
        full_sweep: bool = False,
        top_k: int | None = None,
        max_calls: int | None = None,
        max_cost: float | None = None,
        run: str | None = None,
    ) -> RawSearchResult:
        """Ask a question, and return its findings; findings with valid citations come first.

        ``mode``, ``session``, and ``full_sweep`` are options of ``PGS.execute``; ``max_calls`` and
        ``max_cost`` limit the question. ``run`` names a stored run whose findings are returned
        instead. Raises what ``PGS.execute`` raises.
        """
        knobs = Knobs()
        if max_calls is not None:
            knobs["max_calls"] = max_calls
        if max_cost is not None:
            knobs["max_cost"] = max_cost
        any_mode: Any = mode
        query = FindingQuery(
            run=run,
            mode=any_mode,
            session=session,
            full_sweep=full_sweep,
            top_k=top_k,
            knobs=knobs,
        )
        found = self._engine.run(find_findings(self._engine.pgs, query_text, query))
        return RawSearchResult(records=_make_records(found.items), metadata=found.metadata)

    def close(self) -> None:
        """Close the connection; questions that still run end with UsageError."""
        self._engine.close()

    def __enter__(self) -> PGSFindingsRetriever:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _make_records(items: Sequence[FoundItem | FindingItem]) -> list[Any]:
    return [create_record({"content": one.content, "metadata": one.metadata}) for one in items]


def _make_row_records(read: StatementRows) -> list[Any]:
    return [
        create_record(
            {
                "content": write_row(read.columns, row),
                "metadata": {"row": dict(zip(read.columns, row, strict=True))},
            }
        )
        for row in read.rows
    ]


def format_record(record: Any) -> RetrieverResultItem:
    """Convert a record of a search to an item of neo4j-graphrag."""
    return RetrieverResultItem(content=record["content"], metadata=record["metadata"])
