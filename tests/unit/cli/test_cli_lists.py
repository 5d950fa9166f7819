"""Lists that a new user asks for, and examples where arguments are missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pgs_neo4j.cli.commands import index
from pgs_neo4j.cli.commands.runs import LISTED_PROPERTIES, _describe, _listed_properties
from pgs_neo4j.engine import CreatedIndexes, SearchIndex, StoredGraph
from pgs_neo4j.model import GraphMapping
from tests.fakes.commands import StandIn, pgs

INDEX = SearchIndex(
    name="pgs_vector_0123456789abcdef", kind="vector", entity="node", labels=("Paper",),
    properties=("vec",), dimensions=3, similarity="COSINE",
)  # fmt: skip
TEXT = SearchIndex(
    name="texts", kind="text", entity="node", labels=("Paper", "Author"),
    properties=("title", "name"), analyzer="english", state="POPULATING", population=40.0,
)  # fmt: skip


@pytest.fixture(autouse=True)
def engine(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("COLUMNS", "200")
    engine.replies["indexes"] = [INDEX, TEXT]
    return engine


def test_indexes_are_listed_and_json_keeps_its_keys(engine: StandIn) -> None:
    _, *rows = pgs("index", "list").stdout.splitlines()
    vector, text = (re.split(r"\s{2,}", row.strip()) for row in rows)
    assert vector[1:] == [
        "vector on nodes", "Paper", "vec", "3 dimensions, cosine", "online", "pgs"
    ]  # fmt: skip
    assert text == [
        "texts", "full-text", "Paper, Author", "title, name", "words (english)", "populating",
        "others",
    ]  # fmt: skip
    first, second = json.loads(pgs("index", "list", "--json").stdout)["indexes"]
    assert first == {
        "name": INDEX.name, "label": "Paper", "property": "vec", "dimensions": 3,
        "similarity": "COSINE", "state": "ONLINE", "own": True, "kind": "vector", "on": "node",
        "labels": ["Paper"], "properties": ["vec"], "analyzer": None, "population": 100.0,
        "failure": "",
    }  # fmt: skip
    assert (second["kind"], second["own"], second["analyzer"]) == ("text", False, "english")
    engine.replies["indexes"] = []
    assert "'pgs index create --graph NAME --text'" in pgs("index", "list").stderr


def test_created_indexes_and_those_that_were_there_are_told(engine: StandIn) -> None:
    engine.replies["indexes.create"] = CreatedIndexes(
        "papers", 3, (INDEX.name,), (INDEX,), (TEXT,), ("half filled",)
    )
    done = pgs("index", "create", "-g", "papers", "--text", "--facts")
    assert done.stdout.splitlines() == [
        f"created: vector index {INDEX.name} on Paper (vec, 3 dimensions)",
        "already there: full-text index texts on Paper, Author (title, name), made by others",
    ]
    assert "half filled" in done.stderr
    given = {"text": True, "facts": True, "vectors": False}
    assert engine.asked == [("indexes.create", "papers", given)]
    document = json.loads(pgs("index", "create", "--json").stdout)
    assert document["created"] == [INDEX.name]
    assert (document["graph"], document["dimensions"]) == ("papers", 3)
    assert document["existing"] == ["texts"]
    assert [index["name"] for index in document["indexes"]] == [INDEX.name, "texts"]
    plain = replace(TEXT, analyzer="standard-no-stop-words")
    (line,) = index.created_lines(CreatedIndexes("papers", 0, (), (), (plain,)))
    assert line.endswith("made by others, with the analyzer standard-no-stop-words")


def test_dropped_indexes_are_counted_or_named(engine: StandIn) -> None:
    engine.replies["indexes.drop"] = [INDEX.name]
    assert pgs("index", "drop").stdout == "1 index dropped\n"
    assert json.loads(pgs("index", "drop", "--json").stdout) == {"dropped": [INDEX.name]}


def test_an_import_without_files_shows_an_example() -> None:
    done = pgs("local", "import")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pgs local import --nodes Paper=papers.csv" in done.stderr


@pytest.mark.parametrize(
    ("unproven", "amount"),
    [
        (None, "12 nodes, 9 of them with text, 1.5 s"),
        (0, "12 nodes, 9 of them with text, 1.5 s"),
        (3, "12 nodes, 9 of them with text, 3 shown, unproven, 1.5 s"),
    ],
)
def test_a_run_of_a_session_counts_what_was_shown_without_proof(
    unproven: int | None, amount: str
) -> None:
    run = {"id": "r1", "status": "complete", "nodes_read": 12, "texts_read": 9, "seconds": 1.5}
    assert amount in _describe(run | {"nodes_unproven": unproven})[1]


def test_a_session_is_shown_without_answers_and_internals() -> None:
    stored = {"id": "r1", "question": "why?", "answer": "long", "holder": None, "known": None}
    assert _listed_properties(stored) == {"id": "r1", "question": "why?"}
    assert "answer" not in LISTED_PROPERTIES


@pytest.mark.parametrize(("named", "asked"), [(("papers",), "papers"), ((), None)])
def test_a_graph_is_shown_by_its_name_or_else_that_of_the_settings(
    engine: StandIn, named: tuple[str, ...], asked: str | None
) -> None:
    engine.replies["graphs.get"] = StoredGraph("papers", GraphMapping(labels=("Paper",)))
    done = pgs("graph", "show", *named)
    assert done.exit_code == 0, done.stderr
    assert "not partitioned yet: pgs partition --graph papers" in done.stdout
    assert engine.asked == [("graphs.get", asked)]


def test_a_removal_insists_on_the_name_of_its_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGS_GRAPH", "papers")
    done = pgs("graph", "remove", "--yes")
    assert (done.exit_code, done.stdout) == (2, "")
