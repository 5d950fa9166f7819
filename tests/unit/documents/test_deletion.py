"""What holds the text of deleted documents is found in batches, told apart, and taken out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.documents.batches import GROUP_BYTES, GROUP_DOCUMENTS
from pgs_neo4j.documents.deletion import delete as deletion
from pgs_neo4j.documents.deletion import scan as scanning
from pgs_neo4j.documents.deletion.delete import delete_documents
from pgs_neo4j.documents.deletion.scan import FORGOTTEN, scan_database, without
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.documents.stored import StoredDocument
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.events import Event, Progressed, StepStarted, ignore
from pgs_neo4j.model.ingest import Deletion, QuotingRun, TextHolder
from pgs_neo4j.text.traces import Traces
from tests.fakes.database import FakeDatabase, Row
from tests.fakes.ingestion import stored_document
from tests.thorough import tries

SECRET = "The vault under the old lighthouse opens with seven silver keys."
OTHER = "Boats carry amber along the northern coast every summer."
HALVES = "The vault under the old lighthouse", "opens with seven silver keys."
WRITER = Writer(graph="docs", holder="me", label="Docs")


def secret() -> Traces:
    traces = Traces()
    traces.add(SECRET)
    return traces


def stored(*ids: str, size: int = 1) -> list[StoredDocument]:
    return [stored_document(id_, size=size) for id_ in ids]


def node(element_id: str, *labels: str, **values: Any) -> Row:
    rows = [[key, value] for key, value in values.items()]
    return {"element_id": element_id, "labels": [*labels], "id": f"id {element_id}", "values": rows}


def text_row(text: str) -> Row:
    return {"document": "a.md", "text": text, "extraction_key": "k"}


def database(**answers: Any) -> Any:
    given: dict[str, Any] = {
        "publish": [{"held": True}],
        "keep_deletion": [{"kept": True}],
        "set_ended": [{"held": True}],
        "read_deleted_texts": [text_row(f"{SECRET} {OTHER}")],
        "read_live_texts": [{"text": OTHER}],
        "delete_extractions": [{"deleted": 1}],
        "delete_remade": lambda sent: [{"replies": len(sent["ids"]), "descriptions": 0}],
    }
    return FakeDatabase(**given | answers)


async def test_groups_are_bounded_in_documents_and_bytes() -> None:
    db = database()
    most = GROUP_BYTES
    large, small = stored("a", "b", size=most // 2 + 1), stored(*map(str, range(60)))
    await delete_documents(db, WRITER, [*large, *stored("c", size=most * 9), *small])
    groups = [len(sent["documents"]) for sent in db.params("read_deleted_texts")]
    assert groups == [1, 1, 1, GROUP_DOCUMENTS, 60 - GROUP_DOCUMENTS]


async def test_only_texts_that_may_be_replaced_are_kept_in_memory() -> None:
    labels = ("Note", "PgsReply", "PgsExtraction", "PgsRun", "PgsPartition")
    rows = [node(label, label, text=SECRET) for label in labels]
    scan = await scan_database(database(scan_nodes=rows), "docs", secret(), ignore)
    assert {one.kind: one.value for one in scan.found} == {
        "Note": None, "PgsReply": None, "PgsExtraction": None, "PgsRun": SECRET,
        "PgsPartition": SECRET,
    }  # fmt: skip


async def test_replies_go_before_the_documents_do() -> None:
    rows = [
        node("1", "PgsReply", text=f"Said: {SECRET}"),
        node("3", "PgsPartition", summary=f"All of it: {SECRET}"),
        node("4", "PgsReply", text=OTHER),
    ]
    db = database(scan_remade=rows, publish=DatabaseError("gone"))
    with pytest.raises(DatabaseError, match="gone"):
        await delete_documents(db, WRITER, stored("a.md"))
    assert db.params("delete_remade") == [{"ids": ["1"]}]
    assert [sent["rows"] for sent in db.params("set_forgotten")] == [
        [{"element_id": "3", "values": {"summary": ""}}]
    ]
    assert [sent["gone"] for sent in db.params("read_live_texts")] == [["a.md"]]
    done = await delete_documents(database(scan_remade=rows), WRITER, stored("a.md"))
    assert (done.replies, done.descriptions, done.proven) == (2, 1, True)


async def test_what_is_made_again_meanwhile_goes_as_well() -> None:
    first, second = ([node(at, "PgsReply", text=SECRET)] for at in "12")
    db = database(scan_remade=first, scan_nodes=second)
    done = await delete_documents(db, WRITER, stored("a.md"))
    assert [sent["ids"] for sent in db.params("delete_remade")] == [["1"], ["2"]]
    assert (done.replies, done.proven) == (3, True)


QUOTING = [
    node("5", "PgsFinding", text=f'It says "{SECRET}" [n1]'),
    node("6", "PgsRun", id=f"run {SECRET}", answer=SECRET, details=json.dumps({"a": [SECRET, 7]})),
]
RUNS = [
    {"element_id": id_, "run": "r1", "session": "s", "graph": "docs", "question": "Why?"}
    for id_ in ("5", "6")
]


async def test_what_keys_of_forgotten_answers_hold_is_held() -> None:
    db = database(scan_nodes=QUOTING, read_quoting_runs=RUNS)
    done = await delete_documents(db, WRITER, stored("a.md"), forget_answers=True)
    assert [run.forgotten for run in done.quoting] == [True]
    assert done.holders == (TextHolder(kind="PgsRun", id="id 6", place="id"),)
    assert (done.held, done.proven) == (1, False)
    (sent,) = db.params("set_forgotten")
    details = json.dumps({"a": [FORGOTTEN, 7]})
    assert sent["rows"] == [
        {"element_id": "5", "values": {"text": FORGOTTEN}},
        {"element_id": "6", "values": {"answer": FORGOTTEN, "details": details}},
    ]


async def test_of_what_others_hold_the_first_are_named_and_all_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deletion, "MOST_HOLDERS", 2)
    nodes = [
        node("7", "Note", "Page", text=SECRET, copies=[SECRET, SECRET]),
        node("8", "LoadedNode", "Chunk", name=SECRET),
    ]
    done = await delete_documents(
        database(scan_nodes=nodes), WRITER, stored("a.md"), forget_answers=True
    )
    assert (done.held, done.proven) == (3, False)
    assert done.holders == tuple(
        TextHolder(kind="Note:Page", id="id 7", place=place) for place in ("text", "copies")
    )


async def test_an_index_that_finds_what_no_node_holds_is_named() -> None:
    given = {
        "kind": "text", "entity": "node", "labels": ["Docs"], "properties": ["text"],
        "dimensions": None, "similarity": None, "analyzer": "english", "population": 100.0,
        "failure": None,
    }  # fmt: skip
    indexes = [
        given | {"name": "words", "state": "ONLINE"},
        given | {"name": "late", "state": "POPULATING"},
        given | {"name": "facts", "state": "ONLINE", "entity": "relationship", "kind": "vector"},
    ]
    found = [
        {"phrase": '"silver keys"', "element_id": id_, "id": f"n{id_}", "texts": texts}
        for id_, texts in (("7", [SECRET]), ("8", ["One silver key"]), ("9", [OTHER]))
    ]
    db = database(
        read_search_indexes=indexes,
        find_phrases=found * 2,
        scan_nodes=[node("7", "Note", text=SECRET)],
    )
    done = await delete_documents(db, WRITER, stored("a.md"))
    assert [(one.kind, one.id, one.place) for one in done.holders] == [
        ("Note", "id 7", "text"), ("index", "n9", "words"),
    ]  # fmt: skip
    (sent,) = db.params("find_phrases")
    assert (done.indexes, sent["index"]) == (1, "words")
    assert all(phrase.strip('"') in SECRET for phrase in sent["phrases"])


async def test_batches_find_what_one_read_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "BATCH", 100)
    nodes = [
        node(str(place), "Note", text=SECRET if place % 5 == 0 else OTHER) for place in range(40)
    ]
    db = database(scan_nodes=nodes, read_live_texts=[{"text": OTHER}] * 9)
    events: list[Event] = []
    done = await delete_documents(db, WRITER, stored("a.md"), on_event=events.append)
    assert events[0] == StepStarted("ingest", "delete 1 document, and search for the text")
    assert len([one for one in events[1:] if isinstance(one, Progressed)]) > 10
    assert {one.id for one in done.holders} == {f"id {place}" for place in range(0, 40, 5)}


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (SECRET, "-"),
        (OTHER, OTHER),
        ([OTHER, SECRET], [OTHER, "-"]),
        (7, 7),
        (json.dumps([1, {"a": SECRET, "b": OTHER}]), json.dumps([1, {"a": "-", "b": OTHER}])),
        (json.dumps({"n": 1, SECRET: OTHER}), json.dumps({"n": 1, "-": OTHER})),
        (
            json.dumps([{"kind": "flag", "texts": HALVES}, {"c": OTHER}]),
            json.dumps([{"kind": "flag", "texts": ["-", "-"]}, {"c": OTHER}]),
        ),
        (
            json.dumps({"terms": SECRET.split(), "kind": "flag", "n": 3}),
            json.dumps({"terms": ["-"] * len(SECRET.split()), "kind": "flag", "n": 3}),
        ),
        (json.dumps(dict.fromkeys(SECRET.split(), "")), "-"),
        (json.dumps({"a": SECRET.replace("e", "é")}), json.dumps({"a": "-"})),
        (f"[not JSON] {SECRET}", "-"),
        (f"{{{SECRET}", "-"),
    ],
)
def test_texts_that_hold_it_are_taken_out_one_by_one(value: object, left: Any) -> None:
    traces = secret()
    traces.add(SECRET.replace("e", "é"))
    assert without(value, traces, "-") == left
    assert isinstance(left, int) or not traces.find([left] if isinstance(left, str) else [*left])


KEYS_AND_TEXTS = st.lists(st.sampled_from(SECRET.split()), max_size=9).map(" ".join)


@settings(max_examples=tries(25, 100))
@given(
    st.recursive(
        st.none() | st.integers() | KEYS_AND_TEXTS,
        lambda inner: st.lists(inner) | st.dictionaries(KEYS_AND_TEXTS, inner),
        max_leaves=20,
    ),
    st.sampled_from(["", FORGOTTEN]),
    st.booleans(),
)
def test_no_json_holds_a_trace_after_its_removal(data: Any, mark: str, ascii_only: bool) -> None:
    traces = secret()
    left = without(json.dumps(data, ensure_ascii=ascii_only), traces, mark)
    assert traces.find([left]) == []


def test_a_list_loses_what_has_no_mark() -> None:
    assert without([OTHER, SECRET, "a"], secret(), "") == [OTHER, "a"]


def test_a_deletion_is_proven_when_all_quotes_are_forgotten() -> None:
    run = QuotingRun(run="r", session="s", graph="g", question="q")
    cases = [Deletion(), Deletion(held=1), Deletion(quoting=(run,))]
    cases.append(Deletion(quoting=(replace(run, forgotten=True),)))
    assert [one.proven for one in cases] == [True, False, False, True]


@pytest.mark.parametrize(
    ("text", "sentences", "short", "proven"),
    [
        ("Password: hunter2.", 0, 1, False),
        (f"Password: hunter2. {OTHER}", 1, 1, False),  # the other one is said elsewhere
        ("", 0, 0, True),
        ("---\n", 0, 0, True),
        (" \n\n", 0, 0, True),
    ],
)
async def test_what_is_too_short_to_search_for_is_not_proven_to_be_gone(
    text: str, sentences: int, short: int, proven: bool
) -> None:
    db = database(read_deleted_texts=[text_row(text)], scan_nodes=[node("1", "Note", text=text)])
    done = await delete_documents(db, WRITER, stored("a.md"))
    assert (done.chunks, done.sentences, done.short, done.scanned) == (1, sentences, short, 0)
    assert (done.held, done.unsearched, done.proven) == (0, bool(short), proven)
