"""A graph is either made of documents or loaded from a file, and neither replaces the other."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.errors import UsageError
from pgs_neo4j.ingest.kind import refuse_documents, refuse_loaded
from tests.fakes.database import FakeDatabase


def database(*, loaded: bool, documents: bool) -> Any:
    return FakeDatabase(read_kind=[{"loaded": loaded, "documents": documents}])


async def test_documents_are_not_ingested_into_a_loaded_graph() -> None:
    db = database(loaded=True, documents=False)
    with pytest.raises(UsageError, match="graph docs was loaded from a file of nodes"):
        await refuse_loaded(db, "docs")
    await refuse_documents(db, "docs")
    assert db.params("read_kind") == [{"graph": "docs"}] * 2


async def test_a_file_is_not_loaded_over_documents() -> None:
    db = database(loaded=False, documents=True)
    with pytest.raises(UsageError, match="graph docs is made of documents"):
        await refuse_documents(db, "docs")
    await refuse_loaded(db, "docs")
    assert db.params("read_kind") == [{"graph": "docs"}] * 2


async def test_an_empty_graph_may_become_either() -> None:
    db = database(loaded=False, documents=False)
    await refuse_loaded(db, "docs")
    await refuse_documents(db, "docs")
    assert len(db.sent) == 2
