"""A retriever for neo4j-graphrag whose items are findings of a question."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Unpack

from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from pgs_neo4j.adapters.engine_loop import OwnEngine
from pgs_neo4j.adapters.findings import FindingQuery, find_findings
from pgs_neo4j.adapters.graphrag import format_record
from pgs_neo4j.config import Knobs, SettingsOverrides
from pgs_neo4j.database.driver_values import create_record
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.protocol import LLM


class PGSFindingsRetriever(Retriever):  # type: ignore[misc]
    """Reads the partitions of a graph that matter, by a model, and returns what it found there.

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
        """Connect as configured; ``settings`` override what is configured.

        ``graph`` among them names a stored graph. Raises ConfigError, DatabaseError, ModelError.
        """
        # The base class would only check a driver of its own, which is not asynchronous.
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
        """Ask a question, and return its findings, those with valid citations first.

        ``mode``, ``session``, and ``full_sweep`` are those of ``PGS.execute``; ``max_calls`` and
        ``max_cost`` limit the question. ``run`` names a stored run whose findings are returned
        instead. Raises what ``PGS.execute`` raises.
        """
        knobs = Knobs()
        if max_calls is not None:
            knobs["max_calls"] = max_calls
        if max_cost is not None:
            knobs["max_cost"] = max_cost
        given: Any = mode
        query = FindingQuery(
            run=run, mode=given, session=session, full_sweep=full_sweep, top_k=top_k, knobs=knobs
        )
        listed = self._engine.run(find_findings(self._engine.pgs, query_text, query))
        records = [
            create_record({"content": item.content, "metadata": item.metadata})
            for item in listed.items
        ]
        return RawSearchResult(records=records, metadata=listed.metadata)

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
