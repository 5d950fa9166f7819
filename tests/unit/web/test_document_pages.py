"""Pages of documents: records without keys are in the order of their titles, and none is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.model.ingest import IngestedDocument
from pgs_neo4j.web.routes import documents
from pgs_neo4j.web.routes.documents import list_documents

LINES = [("a#c1983cd2920d1517", "Line 1"), ("a#48412a984831f2cd", "Line 8")]
LINES += [("a#38080b12b125fdc2", "Line 15"), ("b.md", "")]


def serving_of(listed: list[tuple[str, str]]) -> Any:
    async def read(graph: str) -> list[IngestedDocument]:
        return [IngestedDocument(id=id_, name=name, chunks=1, size=1) for id_, name in listed]

    return SimpleNamespace(pgs=SimpleNamespace(ingest=SimpleNamespace(documents=read)))


async def page_after(listed: list[tuple[str, str]], after: str) -> tuple[list[str], str | None]:
    found: Any = await list_documents("docs", serving_of(listed), None, after, 2)  # type: ignore[arg-type]
    return [one.name for one in found.documents], found.after


async def test_pages_follow_titles_also_after_a_document_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def see(serving: object, caller: object, graph: str) -> str:
        return graph

    monkeypatch.setattr(documents, "visible_graph", see)
    names, after = await page_after(LINES[::-1], "")
    assert (names, after) == (["Line 1", "Line 8"], LINES[1][0])
    assert await page_after(LINES, LINES[1][0]) == (["Line 15", ""], None)
    left = [LINES[0], *LINES[2:]]
    assert await page_after(left, LINES[1][0]) == (["Line 1", "Line 15"], LINES[2][0])
