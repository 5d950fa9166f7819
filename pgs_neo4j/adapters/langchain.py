"""A retriever for LangChain that returns findings, and a tool that returns the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool
from pydantic import ConfigDict, Field

from pgs_neo4j.adapters.engine_loop import EngineAccess, GivenEngine, OwnEngine
from pgs_neo4j.adapters.findings import FindingList, FindingQuery, find_findings
from pgs_neo4j.config import SettingsOverrides
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.protocol import LLM

ABOUT = (
    "Answers a question about a knowledge graph by reading all of it that matters. The answer "
    "cites nodes, and says what the graph does not cover. It may take minutes."
)


class PGSDocuments(BaseRetriever):  # type: ignore[misc]
    """Returns the findings of a question as documents, with citations in their metadata.

    ``PGSDocuments.of(pgs)`` uses an engine that is open in the running event loop. ``connect``
    opens a new engine, which ``close`` closes. ``query`` contains the graph and other options.
    ``k`` is the maximum number of documents to return, and also an argument of ``invoke``; if it is
    None, ``top_k`` of the query applies.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    access: Any
    query: Any = FindingQuery()  # Any, because pydantic rejects the types of knobs
    k: Annotated[int, Field(ge=1)] | None = None

    @classmethod
    def of(
        cls, pgs: PGS, query: FindingQuery | None = None, *, k: int | None = None
    ) -> PGSDocuments:
        """Return a retriever that uses an open engine. Raises UsageError without a running loop."""
        return cls(access=GivenEngine(pgs), query=query or FindingQuery(), k=k)

    @classmethod
    def connect(
        cls,
        query: FindingQuery | None = None,
        *,
        k: int | None = None,
        sweep_llm: LLM | None = None,
        synthesis_llm: LLM | None = None,
        **settings: Unpack[SettingsOverrides],
    ) -> PGSDocuments:
        """Return a retriever with its own engine. Raises the errors of ``PGS.connect``."""
        opening = PGS.connect(sweep_llm=sweep_llm, synthesis_llm=synthesis_llm, **settings)
        return cls(access=OwnEngine("pgs-langchain", opening), query=query or FindingQuery(), k=k)

    def as_pgs_tool(self, name: str = "ask_graph", description: str = ABOUT) -> StructuredTool:
        """Return a tool for agents that returns the answer as text and the findings as artifact."""
        return make_answer_tool(self.access, self._limit_query(None), name, description)

    def close(self) -> None:
        """Close the engine that ``connect`` opened."""
        self.access.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        access: EngineAccess = self.access
        return _make_documents(access.run(find_findings(access.pgs, query, self._limit_query(k))))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        access: EngineAccess = self.access
        return _make_documents(
            await access.run_async(find_findings(access.pgs, query, self._limit_query(k)))
        )

    def _limit_query(self, k: int | None) -> FindingQuery:
        """Return the query, limited by the call's ``k``, else the retriever's, else ``top_k``."""
        query: FindingQuery = self.query
        most = next((one for one in (k, self.k) if one is not None), query.top_k)
        return replace(query, top_k=most)


def make_answer_tool(
    access: EngineAccess, query: FindingQuery, name: str, description: str
) -> StructuredTool:
    """Return a tool that answers questions; its artifact contains the run and the findings."""

    def ask(question: str) -> tuple[str, dict[str, Any]]:
        return _make_reply(access.run(find_findings(access.pgs, question, query)))

    async def ask_async(question: str) -> tuple[str, dict[str, Any]]:
        return _make_reply(await access.run_async(find_findings(access.pgs, question, query)))

    return StructuredTool.from_function(
        func=ask,
        coroutine=ask_async,
        name=name,
        description=description,
        response_format="content_and_artifact",
    )


def _make_reply(found: FindingList) -> tuple[str, dict[str, Any]]:
    findings = [{"text": item.content, **item.metadata} for item in found.items]
    return found.answer.text, {**found.metadata, "findings": findings}


def _make_documents(found: FindingList) -> list[Document]:
    return [Document(page_content=item.content, metadata=item.metadata) for item in found.items]
