"""What an ingestion is asked for: rules from settings, and a schema by file or by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine.ingestion.order import chunk_rules, make_order
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.ingest.sources.loader import FileLoader
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction.schema import EntitySchema


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


def test_the_default_schema_covers_itself_and_tells_all_of_itself() -> None:
    assert EntitySchema().covers(EntitySchema())
    assert EntitySchema().signature == EntitySchema().told.signature
