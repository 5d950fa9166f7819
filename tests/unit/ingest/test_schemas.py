"""The schema of an ingestion: from a file, from the graph, or none that is known any more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.ingest.schemas import (
    LARGEST_FILE,
    by_hash,
    in_use,
    keep_schemas,
    read_schema_file,
    read_schemas,
    schema_in_force,
)
from pgs_neo4j.ingest.stored import StoredDocument
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.fakes.database import FakeDatabase

STARS = EntitySchema(types={"Star": "it shines", "Planet": ""}, mode="strict")
TOML = """
mode = "strict"
[types]
Star = "it shines"
Planet = ""
"""


def document(schema: str, *told: str) -> StoredDocument:
    return StoredDocument(
        id="a", hash="h", rules="r", signature="s", chunks=1, name="a", size=1, label="Docs",
        schema=schema, told=told, source="a", roots=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", TOML),
        ("a.TXT", TOML),
        ("a.json", json.dumps(STARS.as_data())),
        ("bom.json", "\ufeff" + json.dumps(STARS.as_data())),
    ],
)
def test_a_schema_is_read_from_toml_or_json(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_schema_file(path) == STARS


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.json", b"{", "neither TOML nor JSON"),
        ("a.json", b"[" * 100_000, "neither TOML nor JSON"),
        ("a.toml", b"\xff", "neither TOML nor JSON"),
        ("a.json", b"[1]", "must map types"),
        ("a.json", b'{"kinds": []}', "'kinds' is not one of"),
        ("a.toml", b"#" * (LARGEST_FILE + 1), "is larger than"),
    ],
)
def test_what_is_no_schema_is_told_in_one_sentence(
    tmp_path: Path, name: str, data: bytes, told: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UsageError, match=told):
        read_schema_file(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot be read: No such file"):
        read_schema_file(tmp_path / "none.toml")


async def test_schemas_are_kept_and_read_with_the_default_one() -> None:
    db: Any = FakeDatabase()
    writer = Writer(graph="docs", holder="me", label="Docs")
    await keep_schemas(db, writer, [STARS, STARS])
    (kept,) = db.params("keep_schemas")
    assert kept["schemas"] == [json.dumps(STARS.as_data())]
    read: Any = FakeDatabase(read_schemas=[{"schemas": kept["schemas"]}])
    assert await read_schemas(read, "docs") == by_hash([EntitySchema(), STARS])


def test_the_schema_in_force_is_that_of_the_documents() -> None:
    known = by_hash([EntitySchema(), STARS])
    assert schema_in_force("docs", [], known) == EntitySchema()
    assert schema_in_force("docs", [document("")], known) == EntitySchema()
    assert schema_in_force("docs", [document(STARS.signature)] * 2, known) == STARS


def test_a_schema_that_differs_or_was_purged_has_to_be_named() -> None:
    both = [document(STARS.signature), document(EntitySchema().signature)]
    with pytest.raises(UsageError, match="2 different schemas; name one"):
        schema_in_force("docs", both, by_hash([EntitySchema(), STARS]))
    with pytest.raises(UsageError, match="was purged; name it again"):
        schema_in_force("docs", [document(STARS.signature)], by_hash([EntitySchema()]))


def test_only_schemas_that_documents_rest_on_are_in_use() -> None:
    known = by_hash([EntitySchema(), STARS])
    assert in_use({"a": document(STARS.signature, "unknown")}, known) == [STARS]
    assert in_use({"a": document("", STARS.signature)}, known) == [STARS]
    assert in_use({}, known) == []
