"""Every export is as its JSON schema says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import ValidationError

from pgs_neo4j.cli.pages import as_json
from pgs_neo4j.errors import UsageError
from pgs_neo4j.export import to_json
from pgs_neo4j.export.json_shapes import SHAPES
from pgs_neo4j.export.tabular.rows import ROWS
from pgs_neo4j.manual import read_schema
from pgs_neo4j.model import Finding, Shown
from pgs_neo4j.pgs.runs.runs import StoredRun
from tests.schemas import assert_valid
from tests.unit.export.conftest import cited, make_answer, make_document
from tests.unit.export.test_tables import data, stated, tables

PROPERTIES = {
    "status": "complete", "started_at": "2026-01-02T03:04:05Z", "finished_at": None,
    "error": None, "outcome": "accepted",
}  # fmt: skip


def test_documents_are_as_their_schemas_say(hostile: str) -> None:
    document = make_document(hostile)
    assert_valid("document", json.loads(to_json(document)))
    stored = StoredRun("r1", "papers", "default", "g7", True, False, PROPERTIES)
    assert_valid("run", json.loads(json.dumps(as_json.run(stored, document))))
    assert_valid("asked", json.loads(json.dumps(as_json.answer(document.answer))))


def test_an_answer_from_a_search_is_as_the_schemas_say() -> None:
    shown = Shown(
        nodes=(cited(0, "n1"),), relationships=(cited(0, "r1", valid=False),), nodes_total=9,
        tokens=20, findings=(Finding(text="x", citations=(cited(0, "n1"),)),), reason="few",
    )  # fmt: skip
    answer = make_answer(mode="local", shown=shown, sweeps=())
    assert_valid("document", json.loads(to_json(replace(make_document(), answer=answer))))


def test_rows_are_as_the_schemas_of_their_tables_say() -> None:
    for table in tables(stated("toys")):
        assert table.rows
        for row in table.rows:
            assert_valid(table.name, data(row))


@pytest.mark.parametrize("name", ["run", "document", "asked"])
def test_a_document_that_lacks_a_name_or_has_another_type_is_found(name: str) -> None:
    stored = StoredRun("r1", "papers", "default", "g7", True, False, PROPERTIES)
    whole = {
        "document": json.loads(to_json(make_document())),
        "run": json.loads(json.dumps(as_json.run(stored, make_document()))),
        "asked": json.loads(json.dumps(as_json.answer(make_answer()))),
    }[name]
    for key in whole:
        with pytest.raises(ValidationError, match=f"'{key}' is a required property"):
            assert_valid(name, {one: value for one, value in whole.items() if one != key})
    with pytest.raises(ValidationError):
        assert_valid(name, whole | {"partial": "no"})
    with pytest.raises(ValidationError, match="Additional properties"):
        assert_valid(name, whole | {"else": 1})


def test_an_unknown_schema_is_refused_with_those_that_there_are() -> None:
    for name in (*SHAPES, *ROWS):
        assert json.loads(read_schema(name))["$id"].endswith(f":{name}")
    for name in ("answers", "../settings"):
        with pytest.raises(UsageError, match="the schemas are absences, asked, "):
            read_schema(name)
