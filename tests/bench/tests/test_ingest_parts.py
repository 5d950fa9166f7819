"""The parts of the ingestion benchmark that need no database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from pgs_neo4j.text.extraction.replies import parse_reply
from tests.bench.ingest import table
from tests.bench.ingestion.corpus import Fact, facts_in, make_world, write_files, write_texts
from tests.bench.ingestion.faults import is_grounded
from tests.bench.ingestion.figure import Figure
from tests.bench.ingestion.memory import ingest_alone
from tests.bench.ingestion.replies import graphrag_json, lightrag_records, records

CURIE = Fact("Marie Curie", "founded", "Radium Institute")
TEXT = "Later MARIE CURIE founded the Radium Institute. Nobody joined them."


def test_every_planted_fact_is_read_from_the_texts_and_nothing_else() -> None:
    world = make_world(60, 150)
    texts = list(write_texts(world.facts, 20, 3000, aliases=True))
    assert len(texts) == 8
    found = {fact.place for text in texts for fact in facts_in(text)}
    assert found == {fact.place for fact in world.facts}
    assert make_world(60, 150) == world
    assert {name for fact in world.facts for name in (fact.source, fact.target)} == {*world.names}


def test_files_are_written_a_hundred_to_a_folder(tmp_path: Path) -> None:
    assert write_files(tmp_path, (str(number) for number in range(120))) == 120
    assert len([*tmp_path.glob("0000/*.txt")]) == 99
    assert len([*tmp_path.glob("0001/*.txt")]) == 21


async def test_memory_is_measured_without_a_database(tmp_path: Path) -> None:
    write_files(tmp_path, (f"{TEXT} {number} came." for number in range(3)))
    done = await ingest_alone(tmp_path)
    assert (done.count("added"), done.complete) == (3, True)


def test_all_packages_are_told_the_same() -> None:
    said = Fact("MARIE CURIE", "founded", "Radium Institute")
    own = parse_reply(records((fact, "1") for fact in facts_in(TEXT)))
    assert own.complete
    assert [one.name for one in own.extraction.entities] == [said.source, said.target]
    assert [one.type for one in own.extraction.entities] == ["Person", "Organization"]
    assert [one.keywords for one in own.extraction.relations] == [("founded",)]
    light = parse_reply(lightrag_records(f"---Input Text---\n```\n{TEXT}\n```\n"))
    assert len(light.extraction.entities) == len(light.extraction.relations) + 1 == 2
    graph = json.loads(graphrag_json(f"Input text:\n{TEXT}"))
    assert [node["properties"]["name"] for node in graph["nodes"]] == [said.source, said.target]
    assert [one["type"] for one in graph["relationships"]] == ["FOUNDED"]


@pytest.mark.parametrize(
    ("sign", "value", "reached"),
    [
        ("≥", 3.0, True),
        ("≥", 2.9, False),
        ("≤", 3.1, False),
        ("=", 3.0, True),
        ("=", 2.0, False),
        ("≤", None, None),
    ],
)
def test_a_bar_is_reached_or_not(
    sign: Literal["≥", "≤", "="], value: float | None, reached: bool | None
) -> None:
    assert Figure(name="x", value=value, sign=sign, bar=3.0).reached is reached


def test_the_table_shows_what_was_not_reached() -> None:
    shown = table(
        {
            "figures": [
                {"name": "a", "bar": 2.0, "sign": "≤", "value": 3.19, "reached": False, "note": ""},
                {"name": "b", "bar": 3.0, "sign": "≥", "value": None, "reached": None, "note": ""},
            ]
        }
    )  # fmt: skip
    lines = [line.split() for line in shown.splitlines()[1:]]
    assert lines == [["a", "≤", "2", "3.19", "NO"], ["b", "≥", "3", "-"]]


@pytest.mark.parametrize(
    ("name", "spans", "grounded"),
    [
        ("Radium Institute", [30, 46], True),
        ("marie curie", [6, 17], True),
        ("Pierre Curry", [30, 46], False),
        ("Radium Institute", [30, 999], False),
        ("Radium Institute", [], False),
    ],
)
def test_a_mention_stands_where_it_says(name: str, spans: list[int], grounded: bool) -> None:
    row: dict[str, Any] = {
        "name": name,
        "spans": spans,
        "text": TEXT,
        "path": [],
        "implicit": False,
    }
    assert is_grounded(row) is grounded


def test_an_implicit_mention_shares_a_word_with_its_chunk() -> None:
    row: dict[str, Any] = {"spans": [], "text": TEXT, "path": ["Pierre"], "implicit": True}
    assert is_grounded({**row, "name": "Pierre Dupont"})
    assert not is_grounded({**row, "name": "Secret Stranger"})
