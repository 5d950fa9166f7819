"""Each reader of a stream begins again if a node is deleted while its row is made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from pgs_neo4j.database import driver_errors
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.driver_errors import PAUSES_S
from pgs_neo4j.documents.deletion.scan import drop_live_texts, scan_database, scan_remade
from pgs_neo4j.documents.loading.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.errors import GraphChangedError
from pgs_neo4j.events import ignore
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.traces import Traces
from tests.fakes.disturbed import NamedDriver, Step, database_of, refusal

Row = dict[str, Any]

SECRET = "The vault under the old lighthouse opens with seven silver keys."
OTHER = "Boats carry amber along the northern coast every summer."
KEPT: Row = {"element_id": "1", "labels": ["Note"], "id": "kept", "values": [["text", SECRET]]}
LOST: Row = {"element_id": "2", "labels": [], "id": "lost", "values": [["text", None]]}
TIED: Row = {"type": "SAYS", "target": "b", "end": "4", "values": [["fact", SECRET]]}
HOLDING: Row = {"id": "a", "element_id": "3", "found": [TIED]}
ATTEMPTS = len(PAUSES_S) + 1
FILE = GraphFile(
    nodes=[FileNode(id=one, properties={"name": one.upper()}) for one in ("a", "b")],
    relationships=[FileRelationship(0, 1, "SAYS", 0.5)],
    mapping=GraphMapping(labels=(), text=("name",)),
)
LABELS = ["LoadedNode", "Town"]
NODES: list[Row] = [
    {"labels": LABELS, "properties": {"id": "a", "name": "A", "graph": "town"}},
    {"labels": LABELS, "properties": {"id": "b", "name": "B", "graph": "town"}},
]
RELATIONSHIP: Row = {"source": "a", "target": "b", "type": "SAYS", "properties": [["weight", 0.5]]}
LOADED: dict[str, list[Any]] = {
    "documents/loading/read_label_conflicts": [[{"conflict": False}]],
    "documents/loading/read_loaded_nodes": [NODES],
    "documents/loading/read_loaded_relationships": [[RELATIONSHIP]],
    "documents/loading/write_staged_nodes": [[{"batches": 1}]],
    "documents/loading/write_staged_relationships": [[{"batches": 2}]],
    "documents/loading/delete_staged": [[{"deleted": 0}]],
    "documents/loading/set_loaded": [[{"finished": True, "added": 0, "kept": 2, "removed": 0}]],
}


def secret() -> Traces:
    traces = Traces()
    traces.add(f"{SECRET} {OTHER}")
    return traces


async def search_all(db: Database) -> object:
    scan = await scan_database(db, "docs", secret(), ignore)
    return [(one.id, one.place) for one in scan.found], scan.characters


async def search_remade(db: Database) -> object:
    scan = await scan_remade(db, secret())
    return [(one.id, one.place) for one in scan.found], scan.characters


async def drop_live(db: Database) -> object:
    traces = secret()
    await drop_live_texts(db, "docs", traces, [])
    return traces.find([SECRET, OTHER])


async def load_again(db: Database) -> object:
    return (await load(db, FILE, "town", label="Town")).unchanged


Reader = Callable[[Database], Awaitable[object]]

READERS = [
    ("scan_nodes", search_all, [[KEPT, LOST], [KEPT]], ([("kept", "text")], len(SECRET))),
    (
        "scan_relationships", search_all,
        [[HOLDING, {"id": "b", "element_id": "5", "found": None}], [HOLDING]],
        ([("a -> b", "fact")], len(SECRET)),
    ),
    ("scan_remade", search_remade, [[KEPT, LOST], [KEPT]], ([("kept", "text")], len(SECRET))),
    ("read_live_texts", drop_live, [[{"text": OTHER}, {"text": None}], [{"text": OTHER}]], [0]),
    ("read_loaded_nodes", load_again, [[*NODES, {"labels": [], "properties": {}}], NODES], True),
    (
        "read_loaded_relationships", load_again,
        [[RELATIONSHIP | {"properties": [["weight", None]]}], [RELATIONSHIP]], True,
    ),
]  # fmt: skip


def path(name: str) -> str:
    return f"documents/loading/{name}" if "loaded" in name else f"documents/deletion/{name}"


def database(name: str, steps: Sequence[Step]) -> tuple[Database, NamedDriver]:
    given = LOADED | {path(name): steps}
    driver = NamedDriver([], answers={one: [*rows] for one, rows in given.items()})
    return database_of(driver), driver


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_errors, "PAUSES_S", (0.0,) * len(PAUSES_S))


@pytest.mark.parametrize(("name", "reader", "steps", "expected"), READERS)
async def test_what_is_deleted_while_it_is_streamed_does_not_count(
    name: str, reader: Reader, steps: list[list[Row]], expected: object
) -> None:
    db, driver = database(name, steps)
    assert await reader(db) == expected
    assert driver.count(path(name)) == 2


@pytest.mark.parametrize(("name", "reader", "steps", "expected"), READERS)
async def test_deletions_without_end_are_told(
    name: str, reader: Reader, steps: list[list[Row]], expected: object
) -> None:
    db, driver = database(name, steps[:1])
    with pytest.raises(GraphChangedError, match="ask again when no other program deletes"):
        await reader(db)
    assert driver.count(path(name)) == ATTEMPTS


@pytest.mark.parametrize(("name", "reader", "steps", "expected"), READERS)
async def test_a_stream_without_a_first_row_is_tried_as_often_as_any_other(
    name: str, reader: Reader, steps: list[list[Row]], expected: object
) -> None:
    db, driver = database(name, [refusal()])
    with pytest.raises(GraphChangedError):
        await reader(db)
    assert driver.count(path(name)) == ATTEMPTS


@pytest.mark.parametrize(("name", "reader", "steps", "expected"), READERS)
async def test_streams_with_and_without_a_first_row_share_their_attempts(
    name: str, reader: Reader, steps: list[list[Row]], expected: object
) -> None:
    db, driver = database(name, [refusal(), refusal(), steps[0], [refusal()], steps[0], steps[1]])
    assert await reader(db) == expected
    db, driver = database(name, [refusal(), steps[0]] * 3 + steps[1:])
    with pytest.raises(GraphChangedError):
        await reader(db)
    assert driver.count(path(name)) == ATTEMPTS


async def test_an_index_that_is_disturbed_lets_no_scan_begin_again() -> None:
    index = {
        "name": "words", "kind": "text", "entity": "node", "labels": ["Note"], "state": "ONLINE",
        "properties": ["text"], "population": 100.0, "failure": "", "dimensions": None,
        "similarity": None, "analyzer": "english",
    }  # fmt: skip
    answers: dict[str, list[Any]] = {
        "database/read_search_indexes": [[index]],
        "documents/deletion/find_phrases": [refusal()],
    }
    driver = NamedDriver([], answers=answers)
    with pytest.raises(GraphChangedError):
        await search_all(database_of(driver))
    assert driver.count("documents/deletion/find_phrases") == ATTEMPTS
    assert driver.count("documents/deletion/scan_nodes") == 1


async def test_a_loaded_node_without_its_id_is_not_the_content_of_the_file() -> None:
    damaged = [*NODES[:1], {"labels": LABELS, "properties": {"name": "B", "graph": "town"}}]
    db, driver = database("read_loaded_nodes", [damaged])
    assert not await load_again(db)
    assert driver.count("documents/loading/set_loaded") == 1
