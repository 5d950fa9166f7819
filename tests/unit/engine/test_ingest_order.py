"""What an ingestion is asked for: rules from settings, and a schema by file or by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.engine.ingestion.order import chunk_rules, make_order
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.text.chunking import ChunkRules
from tests.fakes.database import FakeDatabase
from tests.unit.engine.test_ingesting import stored_row


def test_documents_are_divided_as_the_settings_want() -> None:
    assert chunk_rules(PGSConfig()) == ChunkRules()
    wanted = PGSConfig(chunk_strategy="sentence", chunk_tokens=600, chunk_overlap=0)
    assert chunk_rules(wanted) == ChunkRules(strategy="sentence", size=600, overlap=0)
    assert chunk_rules(wanted).signature != ChunkRules().signature


@pytest.mark.parametrize(
    ("schema", "error"), [("types.toml", InputFileError), ("bad.json", UsageError)]
)
async def test_an_unusable_schema_is_told_before_the_database_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: str, error: type[Exception]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text('{"mode": "loose"}')
    nobody: Any = None
    with pytest.raises(error, match="schema"):
        await make_order(nobody, tmp_path, "docs", {"schema": schema}, PGSConfig(), FileLoader())


async def test_a_forgetting_that_nothing_would_do_is_refused(tmp_path: Path) -> None:
    nobody: Any = None
    with pytest.raises(UsageError, match="--forget needs --sync"):
        await make_order(nobody, tmp_path, "docs", {"forget": True}, PGSConfig(), FileLoader())


async def test_an_empty_folder_does_not_delete_a_graph(tmp_path: Path) -> None:
    db: Any = FakeDatabase(read_documents=[stored_row("a.md")])
    with pytest.raises(
        UsageError, match="would delete all documents of these folders from graph docs"
    ):
        await make_order(db, tmp_path, "docs", {"sync": True}, PGSConfig(), FileLoader())
    assert [name for name, _ in db.sent] == ["read_documents"]
