"""Honest statements that a model wrote pass the gate, and give the rows that the driver gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from tests.bench.gate_honest import compare, judge, table, with_rows
from tests.published_statements import ARCHIVE, Published, parse_schema, read_published
from tests.stackoverflow import ARCHIVE as STACK_OVERFLOW
from tests.stackoverflow import load_stack_overflow


@pytest.fixture(scope="module")
def published(shared: Path) -> Published:
    if not (shared / "data" / ARCHIVE).is_file():
        pytest.skip("the shared data have no pairs of questions and Cypher")
    return read_published(shared / "data" / ARCHIVE)


async def test_the_gate_refuses_few_honest_statements(db: Database, published: Published) -> None:
    judged = await judge(db, published, step=30)
    statements = sum(one.statements for one in judged.values())
    assert statements > 300
    assert sum(len(one.refused) for one in judged.values()) / statements <= 0.01, table(judged)


async def test_rows_equal_those_of_the_driver(
    db: Database, published: Published, shared: Path
) -> None:
    await load_stack_overflow(db, shared / "data" / STACK_OVERFLOW)
    compared, different = await compare(db, with_rows(published, step=3))
    assert compared > 50
    assert different == []


def test_a_schema_is_read_from_its_text() -> None:
    schema = parse_schema(
        'Node properties:\n- **Film**\n  - `title`: STRING Example: "Up"\n'
        "  - `at`: DATE_TIME Min: 1\nRelationship properties:\n- **IN**\n  - `w: FLOAT` Min: 1\n"
        "The relationships:\n(:Film)-[:IN]->(:Genre)\n(:Genre)-[:IN]->(:Genre)"
    )
    assert [(one.label, len(one.properties)) for one in schema.labels] == [
        ("Film", 2), ("Genre", 0)
    ]  # fmt: skip
    assert [(one.type, one.ends) for one in schema.types] == [
        ("IN", (("Film", "Genre"), ("Genre", "Genre")))
    ]
    assert schema.types[0].properties[0].types == ("FLOAT",)
