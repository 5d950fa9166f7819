"""The search for deleted text reads texts and lists of texts, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from tests.database import alter, list_rows

LEAST = 3
PROPERTIES = """{
  id: 'n1', text: 'Boats carry amber.', exact: 'abc', short: 'ab', empty: '',
  texts: ['one', 'of several'], shorts: ['a', ''], one: ['alone'],
  vector: [0.5, 1.5, 2.5], numbers: [1, 2], flags: [true, false], number: 7, share: 0.5, is: true,
  day: date('2026-11-29'), days: [date('2026-11-29')], place: point({x: 1, y: 2}), nothing: []
}"""
EXPECTED = {
    "text": "Boats carry amber.",
    "exact": "abc",
    "texts": ["one", "of several"],
    "shorts": ["a", ""],
    "one": ["alone"],
}


def without_empty(values: list[tuple[str, Any]]) -> dict[str, Any]:
    """The texts by their places; a list without any says nothing."""
    return {place: value for place, value in values if value != []}


@pytest.mark.parametrize(
    ("name", "label", "given"),
    [
        ("scan_nodes", "Note", {"graph": "docs"}),
        ("scan_nodes", "LoadedNode:Chunk", {"graph": "docs"}),
        ("scan_remade", "PgsReply", {}),
    ],
)
async def test_a_scan_of_nodes_finds_texts_and_lists_of_texts(
    db: Database, name: str, label: str, given: dict[str, Any]
) -> None:
    await alter(db, f"CREATE (:{label} {PROPERTIES}) CREATE (:{label} {{vector: [0.5], n: 1}})")
    query = queries.get(f"documents/deletion/{name}")
    rows = await db.stream(query, list_rows, least=LEAST, **given)
    (row,) = [one for one in rows if one["id"] == "n1"]
    assert without_empty(row["values"]) == EXPECTED
    vectors = [one for one in rows if "vector" in dict(one["values"])]
    assert vectors == []


async def test_the_texts_of_living_chunks_are_left_out(db: Database) -> None:
    await alter(db, f"CREATE (n:LoadedNode:Chunk {PROPERTIES}) SET n.graph = 'docs'")
    query = queries.get("documents/deletion/scan_nodes")
    found = {}
    for graph in ("docs", "other"):
        (row,) = [
            one
            for one in await db.stream(query, list_rows, least=LEAST, graph=graph)
            if one["id"] == "n1"
        ]
        found[graph] = without_empty(row["values"])
    assert found["other"] == EXPECTED | {"graph": "docs"}
    assert found["docs"] == {k: v for k, v in found["other"].items() if k != "text"}


async def test_a_scan_of_relationships_finds_texts_and_lists_of_texts(db: Database) -> None:
    await alter(db, f"CREATE (:Note {{id: 'a'}})-[:SAYS {PROPERTIES}]->(:Note {{id: 'b'}})")
    query = queries.get("documents/deletion/scan_relationships")
    (row,) = await db.stream(query, list_rows, least=LEAST)
    (one,) = row["found"]
    assert (row["id"], one["type"], one["target"]) == ("a", "SAYS", "b")
    assert without_empty(one["values"]) == EXPECTED
