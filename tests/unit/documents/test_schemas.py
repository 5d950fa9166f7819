"""The schema of an ingestion: from a file, from the graph, or none that is known any more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgs_neo4j.documents.schemas import (
    LARGEST_FILE,
    by_hash,
    in_use,
    read_schema_file,
    schema_in_force,
)
from pgs_neo4j.documents.stored import StoredDocument
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.fakes.ingestion import stored_document

STARS = EntitySchema(types={"Star": "it shines", "Planet": ""}, mode="strict")
TOML = """
mode = "strict"
[types]
Star = "it shines"
Planet = ""
"""


def document(schema: str, *told: str) -> StoredDocument:
    return stored_document(schema=schema, told=told)


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
