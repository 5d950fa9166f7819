"""What holds the text of deleted documents is found in batches, told apart, and taken out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.events import Event, Progressed, StepStarted
from pgs_neo4j.ingest.deletion import delete as deletion
from pgs_neo4j.ingest.deletion import scan as scanning
from pgs_neo4j.ingest.deletion.delete import delete_documents
from pgs_neo4j.ingest.deletion.forget import FORGOTTEN, without
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.model.deletion import Deletion, QuotingRun, TextHolder
from pgs_neo4j.text.traces import Traces
from tests.fakes.database import FakeDatabase, Row

SECRET = "The vault under the old lighthouse opens with seven silver keys."
OTHER = "Boats carry amber along the northern coast every summer."
WRITER = Writer(graph="docs", holder="me", label="Docs")


def secret() -> Traces:
    traces = Traces()
    traces.add(SECRET)
    return traces


def node(element_id: str, *labels: str, **values: Any) -> Row:
    rows = [[key, value] for key, value in values.items()]
    return {"element_id": element_id, "labels": [*labels], "id": f"id {element_id}", "values": rows}


def index(name: str, **changed: Any) -> Row:
    given = {
        "name": name, "kind": "text", "entity": "node", "labels": ["Docs"], "properties": ["text"],
        "dimensions": None, "similarity": None, "analyzer": "english", "state": "ONLINE",
        "population": 100.0, "failure": None,
    }  # fmt: skip
    return given | changed


def database(**answers: Any) -> Any:
    given: dict[str, Any] = {
        "publish": [{"held": True}],
        "read_deleted_texts": [{"text": f"{SECRET} {OTHER}", "extraction_key": "k"}],
        "read_live_texts": [{"text": OTHER}],
        "delete_extractions": [{"deleted": 1}],
        "delete_remade": lambda sent: [{"replies": len(sent["ids"]), "descriptions": 0}],
    }
    return FakeDatabase(**given | answers)


async def test_what_nothing_else_holds_is_proven_to_be_gone() -> None:
    db = database(scan_nodes=[node("1", "Note", text=OTHER)])
    done = await delete_documents(db, WRITER, ["a.md"])
    assert (done.documents, done.chunks, done.replies) == (1, 1, 1)
    assert (done.sentences, done.short, done.scanned) == (2, 0, len(OTHER))
    assert (done.held, done.holders, done.quoting, done.proven) == (0, (), (), True)
    assert done.seconds > 0
    assert db.params("set_forgotten") == db.params("delete_remade") == []


async def test_without_documents_nothing_is_read() -> None:
    db = database()
    done = await delete_documents(db, WRITER, [])
    assert (done.documents, done.proven, db.sent) == (0, True, [])


async def test_what_other_chunks_say_is_not_searched_for() -> None:
    db = database(read_live_texts=[{"text": OTHER}, {"text": f"It says: {SECRET}"}])
    done = await delete_documents(db, WRITER, ["a.md"])
    assert (done.sentences, done.scanned, done.proven) == (2, 0, True)
    assert db.params("scan_nodes") == []


async def test_replies_go_and_descriptions_lose_what_they_hold() -> None:
    db = database(
        scan_nodes=[
            node("1", "PgsReply", text=f"Said: {SECRET}"),
            node("2", "PgsExtraction", data=json.dumps({"fact": SECRET})),
            node("3", "PgsPartition", summary=f"All of it: {SECRET}", titles=["Keys", SECRET]),
            node("4", "PgsPartition", summary=OTHER),
        ]
    )
    done = await delete_documents(db, WRITER, ["a.md"])
    assert (done.replies, done.descriptions, done.proven) == (3, 1, True)
    assert db.params("delete_remade") == [{"ids": ["1", "2"]}]
    (sent,) = db.params("set_forgotten")
    assert sent["rows"] == [{"element_id": "3", "values": {"summary": "", "titles": ["Keys"]}}]


QUOTING = [
    node("5", "PgsFinding", text=f'It says "{SECRET}" [n1]'),
    node("6", "PgsRun", id=f"run {SECRET}", answer=SECRET, details=json.dumps({"a": [SECRET, 7]})),
]
RUNS = [
    {"element_id": id_, "run": "r1", "session": "s", "graph": "docs", "question": "Why?"}
    for id_ in ("5", "6")
]


async def test_answers_that_quote_are_told_once_for_each_run() -> None:
    db = database(scan_nodes=QUOTING, read_quoting_runs=RUNS)
    done = await delete_documents(db, WRITER, ["a.md"])
    assert done.quoting == (QuotingRun(run="r1", session="s", graph="docs", question="Why?"),)
    assert (done.held, done.proven) == (0, False)
    assert db.params("read_quoting_runs") == [{"ids": ["5", "6"]}]
    assert db.params("set_forgotten") == []


async def test_forgotten_answers_keep_their_keys_and_all_else() -> None:
    db = database(scan_nodes=QUOTING, read_quoting_runs=RUNS)
    done = await delete_documents(db, WRITER, ["a.md"], forget_answers=True)
    assert ([run.forgotten for run in done.quoting], done.proven) == ([True], True)
    (sent,) = db.params("set_forgotten")
    details = json.dumps({"a": [FORGOTTEN, 7]})
    assert sent["rows"] == [
        {"element_id": "5", "values": {"text": FORGOTTEN}},
        {"element_id": "6", "values": {"answer": FORGOTTEN, "details": details}},
    ]


async def test_nodes_and_relationships_of_others_are_named_and_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deletion, "MOST_HOLDERS", 2)
    says = {"type": "SAYS", "target": "b", "values": [["words", ["no", SECRET]]]}
    links = [{"id": "a", "found": [says | {"values": [["words", OTHER]]}, says]}]
    nodes = [
        node("7", "Note", "Page", text=SECRET, copies=[SECRET, SECRET]),
        node("8", "LoadedNode", "Chunk", name=SECRET),
    ]
    db = database(scan_nodes=nodes, scan_relationships=links)
    done = await delete_documents(db, WRITER, ["a.md"], forget_answers=True)
    assert (done.held, done.proven) == (4, False)
    assert done.holders == (
        TextHolder(kind="Note:Page", id="id 7", place="text"),
        TextHolder(kind="Note:Page", id="id 7", place="copies"),
    )
    assert db.params("set_forgotten") == db.params("delete_remade") == []


async def test_an_index_that_finds_what_no_node_holds_is_named() -> None:
    indexes = [
        index("words"), index("late", state="POPULATING"),
        index("facts", entity="relationship", kind="vector"),
    ]  # fmt: skip
    found = [
        {"phrase": '"silver keys"', "element_id": id_, "id": f"n{id_}", "texts": texts}
        for id_, texts in (("7", [SECRET]), ("8", ["One silver key"]), ("9", [OTHER]))
    ]
    db = database(
        read_search_indexes=indexes,
        find_phrases=found * 2,
        scan_nodes=[node("7", "Note", text=SECRET)],
    )
    done = await delete_documents(db, WRITER, ["a.md"])
    assert done.indexes == 1
    assert done.holders == (
        TextHolder(kind="Note", id="id 7", place="text"),
        TextHolder(kind="index", id="n9", place="words"),
    )
    (sent,) = db.params("find_phrases")
    assert sent["index"] == "words"
    assert all(phrase.strip('"') in SECRET for phrase in sent["phrases"])


async def test_batches_find_what_one_read_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "BATCH", 100)
    nodes = [
        node(str(place), "Note", text=SECRET if place % 5 == 0 else OTHER) for place in range(40)
    ]
    db = database(scan_nodes=nodes, read_live_texts=[{"text": OTHER}] * 9)
    events: list[Event] = []
    done = await delete_documents(db, WRITER, ["a.md"], on_event=events.append)
    step, *batches = events
    assert step == StepStarted("ingest", "delete 1 document, and search for the text")
    assert len(batches) > 10
    assert {type(one) for one in batches} == {Progressed}
    assert {one.id for one in done.holders} == {f"id {place}" for place in range(0, 40, 5)}


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (SECRET, "-"),
        (OTHER, OTHER),
        ([OTHER, SECRET], [OTHER, "-"]),
        (7, 7),
        (json.dumps([1, {"a": SECRET, "b": OTHER}]), json.dumps([1, {"a": "-", "b": OTHER}])),
        (f"[not JSON] {SECRET}", "-"),
        (f"{{{SECRET}", "-"),
    ],
)
def test_texts_that_hold_it_are_taken_out_one_by_one(value: object, left: object) -> None:
    assert without(value, secret(), "-") == left


def test_a_list_loses_what_has_no_mark() -> None:
    assert without([OTHER, SECRET, "a"], secret(), "") == [OTHER, "a"]


def test_a_deletion_is_proven_when_all_quotes_are_forgotten() -> None:
    run = QuotingRun(run="r", session="s", graph="g", question="q")
    assert Deletion().proven
    assert not Deletion(held=1).proven
    assert not Deletion(quoting=(run,)).proven
