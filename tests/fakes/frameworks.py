"""Replaces the parts of LangChain and neo4j-graphrag that adapters use.

With it, neither of them needs to be installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


class Given:
    """Has the passed values as attributes, in addition to those of its class."""

    def __init__(self, **given: Any) -> None:
        for name, value in given.items():
            setattr(self, name, value)


class FakeRetriever(Given):
    """The base of LangChain's retrievers: ``invoke`` and ``ainvoke`` call the hooks."""

    def invoke(self, query: str) -> Any:
        return self._get_relevant_documents(query, run_manager=None)  # type: ignore[attr-defined]

    async def ainvoke(self, query: str) -> Any:
        return await self._aget_relevant_documents(query, run_manager=None)  # type: ignore[attr-defined]


class FakeTool(Given):
    """A tool that keeps its functions."""

    func: Callable[..., Any]
    coroutine: Callable[..., Any]
    name: str
    response_format: str

    @classmethod
    def from_function(cls, **given: Any) -> FakeTool:
        return cls(**given)


LANGCHAIN: dict[str, dict[str, Any]] = {
    "langchain_core": {},
    "langchain_core.callbacks": {
        "AsyncCallbackManagerForRetrieverRun": object,
        "CallbackManagerForRetrieverRun": object,
    },
    "langchain_core.documents": {"Document": type("Document", (Given,), {})},
    "langchain_core.retrievers": {"BaseRetriever": FakeRetriever},
    "langchain_core.tools": {"StructuredTool": FakeTool},
}
GRAPHRAG: dict[str, dict[str, Any]] = {
    "neo4j_graphrag": {},
    "neo4j_graphrag.retrievers": {},
    "neo4j_graphrag.retrievers.base": {"Retriever": object},
    "neo4j_graphrag.types": {
        "RawSearchResult": type("RawSearchResult", (Given,), {}),
        "RetrieverResultItem": type("RetrieverResultItem", (Given,), {}),
    },
}


def stand_in(
    monkeypatch: pytest.MonkeyPatch, modules: dict[str, dict[str, Any]], *adapters: str
) -> None:
    """Put modules in place of a library, and make adapters be imported again."""
    for name, values in modules.items():
        module = ModuleType(name)
        for key, value in values.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, name, module)
    for adapter in adapters:
        name = f"pgs_neo4j.adapters.{adapter}"
        monkeypatch.setitem(sys.modules, name, None)  # so that no replacement outlives the test
        del sys.modules[name]
