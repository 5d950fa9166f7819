"""Which extractor, label, and mappings an ingestion uses, and what it refuses before it pays."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.database.schema import SCHEMA_VERSION
from pgs_neo4j.documents.fold.resolution import VariantResolver
from pgs_neo4j.documents.publish.publication import mapping_of
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.ingestion import order
from pgs_neo4j.engine.ingestion.ingesting import Ingester
from pgs_neo4j.errors import BusyError, ConfigError, GraphExistsError, MappingError, UsageError
from pgs_neo4j.events import Event, PhaseStarted
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.factory import Readers
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model.ingest import Deletion
from pgs_neo4j.pgs.partitioning.rows import definition_of
from pgs_neo4j.search.indexes import WantedIndex
from tests.documents import ApartResolver
from tests.fakes.chunkers import SignChunker
from tests.fakes.database import FakeDatabase, Row
from tests.fakes.embedders import ScriptedEmbedder
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import stored_document

CURIE = "Marie Curie found radium. Marie Curie lived in Paris.\n"
RECORDS = """entity<|#|>Marie Curie<|#|>Person<|#|>She found radium.<|#|>1-2
entity<|#|>Atlantis<|#|>Location<|#|>It is nowhere.<|#|>
<|COMPLETE|>
"""


def stored_row(id_: str, label: str = "Notes") -> Row:
    return asdict(stored_document(id_, label=label, told=[]))


def stored_graph(name: str, *labels: str) -> Row:
    mapping = definition_of(replace(mapping_of("Other"), labels=labels, chunk_labels=()))
    return {
        "name": name, "mapping": mapping, "generation": None, "node_count": None,
        "partition_count": None, "definition": None,
    }  # fmt: skip


class Place:
    """An ingester over a database that stores nothing, and what it asked to be indexed."""

    def __init__(self, llm: LLM, **answers: Any) -> None:
        given: dict[str, Any] = {
            "read_version": [{"version": SCHEMA_VERSION}],
            "merge_jobs": [{"started_at": "now"}],
            "read_kind": [{"loaded": False, "documents": False}],
            "read_label_conflicts": [{"conflict": False}],
            "take_ingest": lambda params: [
                {"taken": True, "holder": params["holder"], "expires_at": "later"}
            ],
            "publish": [{"held": True}],
            "keep_extractions": [{"held": True}],
            "keep_deletion": [{"kept": True}],
            "set_ended": [{"held": True}],
            "merge_graphs": [{"created": True, "stored": True}],
        }
        self.db = FakeDatabase(**given | answers)
        self.indexed: list[WantedIndex] = []
        self.events: list[Event] = []
        core = Core(
            db=self.db,  # type: ignore[arg-type]
            settings=Settings(),
            config=PGSConfig(),
            llms=Readers(llm, llm, llm, llm, llm),
            on_event=self.events.append,
        )
        self.core = core
        self.ingest = Ingester(core)

    def names(self) -> list[str]:
        return [name for name, _ in self.db.sent]

    def published(self) -> Row:
        (params,) = self.db.params("publish")
        return params

    def mappings(self) -> dict[str, Row]:
        return {row["name"]: json.loads(row["mapping"]) for row in self.db.params("merge_graphs")}


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a place, by default with the extractive reader."""

    def make(llm: LLM | None = None, **answers: Any) -> Place:
        made = Place(llm or ExtractiveLLM(), **answers)

        async def make_indexes(db: object, wanted: list[WantedIndex]) -> None:
            made.indexed += wanted

        monkeypatch.setattr(order, "make_indexes", make_indexes)
        return made

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "curie.md").write_text(CURIE)
    return tmp_path


async def test_the_extractive_reader_takes_terms_without_a_call(place: Any, folder: Path) -> None:
    made, heard = place(), []
    done = await made.ingest(folder, "notes", on_event=heard.append)
    assert (done.count("added"), done.usage.calls, done.complete) == (1, 0, True)
    (chunk,) = made.published()["chunks"]
    assert chunk["properties"]["sure"] is False
    assert "Marie Curie" in {one["properties"]["name"] for one in made.published()["entities"]}
    assert "keep_extractions" not in made.names()
    assert (heard[0], made.events) == (PhaseStarted("ingest"), [])  # told to who called
    await made.ingest(folder, "notes")
    assert made.events[0] == PhaseStarted("ingest")


async def test_a_resolver_of_ones_own_decides_which_names_vary_one(
    place: Any, folder: Path
) -> None:
    (folder / "other.md").write_text("M. Curie found radium. M. Curie lived in Paris.\n")
    llm = ScriptedLLM(lambda prompt: RECORDS)
    for resolver, name in ((None, VariantResolver().signature), (ApartResolver(), "apart")):
        made = place(llm, read_resolver=[{"resolver": "", "own": False}])
        await made.ingest(folder, "notes", resolver=resolver)
        (kept,) = made.db.params("set_resolver")
        assert (kept["resolver"], kept["own"]) == (name, resolver is not None)
        made = place(llm, read_resolver=[{"resolver": name, "own": kept["own"]}])
        if resolver is None:
            await made.ingest(folder, "notes")
        else:
            with pytest.raises(UsageError, match="by your own resolver; pass it"):
                await made.ingest(folder, "notes")
            assert made.db.params("publish") == []


async def test_parts_of_a_call_replace_the_built_in_ones(place: Any, folder: Path) -> None:
    (folder / "curie.md").write_text("Marie found; Curie won.\n")
    made, extractor = place(), WordExtractor(signature="words", free=True)
    done = await made.ingest(folder, "notes", chunker=SignChunker(), extractor=extractor)
    assert (done.count("added"), extractor.asked) == (1, ["Marie", "Curie"])
    texts = [row["properties"]["text"] for row in made.published()["chunks"]]
    assert texts == ["Marie found;", " Curie won.\n"]
    assert made.published()["documents"][0]["signature"] == "words"
    assert [job["options"] for job in made.db.params("merge_jobs")] == ["{}"]


async def test_an_arbiter_needs_a_model_and_is_asked_about_close_names(
    place: Any, folder: Path
) -> None:
    with pytest.raises(UsageError, match="--arbiter asks a model"):
        await place().ingest(folder, "notes", arbiter=True)
    present: list[Row] = [
        {
            "key": key, "type": "Person", "traits": "sp", "short": "",
            "entity_key": key, "entity_type": "Person",
        }
        for key in ("BILL_GATES", "WILLIAM_GATES")
    ]  # fmt: skip
    llm = ScriptedLLM(lambda prompt: "1 different" if prompt.task == "judging" else RECORDS)
    made = place(llm, read_all_present=present)
    planned = await made.ingest.plan(folder, "notes", arbiter=True)
    assert (planned.judging.calls, planned.calls) == (1, 1)
    done = await made.ingest(folder, "notes", arbiter=True)
    assert (done.judged, done.joined, done.usage.calls) == (1, 0, 2)
    *_, last = made.db.params("publish")
    assert [(row["key"], row["other_key"], row["same"]) for row in last["ruled"]] == [
        ("BILL_GATES", "WILLIAM_GATES", False)
    ]


STORY = "".join(
    f"The {words} {number}. " for words in ("cat purrs by the fire", "forge melts iron and steel")
    for number in range(40)
)  # fmt: skip
SEMANTIC: dict[str, Any] = {"chunk_strategy": "semantic", "chunk_tokens": 100}


async def test_documents_are_divided_by_meaning_in_the_budget_of_the_ingestion(
    place: Any, folder: Path
) -> None:
    (folder / "story.md").write_text(STORY)
    made, embedder = place(), ScriptedEmbedder()
    made.core.embedder = embedder
    planned = await made.ingest.plan(folder, "notes", **SEMANTIC)
    assert (planned.dividing.model, planned.dividing.priced) == ("scripted", False)
    assert (planned.dividing.calls.calls, planned.low) == (1, None)
    assert embedder.calls == []
    done = await made.ingest(folder, "notes", **SEMANTIC)
    assert (done.usage.calls, len(embedder.texts), done.usage.estimated) == (1, 80, True)
    texts = [row["properties"]["text"] for row in made.published()["chunks"]]
    assert STORY in "".join(texts)
    assert len(texts) > 4
    hashing = place()
    assert (await hashing.ingest.plan(folder, "notes", **SEMANTIC)).dividing is None
    assert (await hashing.ingest(folder, "notes", **SEMANTIC)).usage.calls == 0
    hashing.core.settings = Settings(embedder="none")
    with pytest.raises(ConfigError, match="need an embedder that reads texts"):
        await hashing.ingest(folder, "notes", **SEMANTIC)


@pytest.mark.parametrize("graph", ["", "my notes", "-x", "n" * 65, "n" * 56])
async def test_a_bad_name_is_refused_before_the_database_is_asked(
    place: Any, folder: Path, graph: str
) -> None:
    """The longest one is that of the graph of entities."""
    made = place()
    with pytest.raises(MappingError, match="cannot be a graph's name"):
        await made.ingest(folder, graph)
    assert made.db.sent == []


async def test_the_graph_and_its_entities_can_be_asked_for(place: Any, folder: Path) -> None:
    made, name = place(), "n" * 55
    await made.ingest(folder, name, label="Notes")
    whole, entities = made.mappings()[name], made.mappings()[f"{name}.entities"]
    assert whole["labels"] == ["NotesChunk", "NotesEntity"]
    assert whole["chunk_labels"] == ["NotesChunk"]
    assert (entities["labels"], entities["relationship_types"]) == (["NotesEntity"], ["RELATES"])
    assert not entities.get("chunk_labels")
    assert not entities.get("mention_types")
    assert entities["relationship_text"] == whole["relationship_text"] == "fact"


@pytest.mark.parametrize(("label", "made_of"), [(None, "MyNotes"), ("Paper", "Paper")])
async def test_the_label_is_made_from_the_name_or_chosen(
    place: Any, folder: Path, label: str | None, made_of: str
) -> None:
    made = place()
    assert (await made.ingest(folder, "my-notes", label=label)).label == made_of
    assert made.published()["labels"] == [made_of, f"{made_of}Chunk"]
    assert {row["label"] for row in made.db.params("read_label_conflicts")} == {
        made_of, f"{made_of}Chunk", f"{made_of}Entity",
    }  # fmt: skip


async def test_the_label_of_the_first_ingestion_is_kept(place: Any, folder: Path) -> None:
    made = place(read_documents=[stored_row("old.md", "Paper")])
    with pytest.raises(UsageError, match="was ingested with the label Paper; leave out --label"):
        await made.ingest(folder, "notes", label="Note")
    assert {*made.names()} == {"read_documents"}
    for label in (None, "Paper"):
        assert (await made.ingest(folder, "notes", label=label)).label == "Paper"
    assert made.db.params("publish")[0]["documents"][0]["label"] == "Paper"


@pytest.mark.parametrize("taken", ["Notes", "NotesChunk", "NotesEntity"])
async def test_a_label_of_other_nodes_is_refused(place: Any, folder: Path, taken: str) -> None:
    made = place(read_label_conflicts=lambda params: [{"conflict": params["label"] == taken}])
    with pytest.raises(UsageError, match=f"the label {taken} is in use"):
        await made.ingest(folder, "notes")
    assert "take_ingest" not in made.names()


@pytest.mark.parametrize(
    ("graph", "label"),
    [
        *(("notes", label) for label in ("", " ", "PgsNotes", "pgs", "Document", "chunk")),
        *(("notes", label) for label in ("LoadedNode", "__Entity__", "A\0")),
        *((graph, None) for graph in ("pgs-notes", "document", "Chunk")),
    ],
)
async def test_a_label_that_means_something_else_is_refused(
    place: Any, folder: Path, graph: str, label: str | None
) -> None:
    made = place()
    with pytest.raises(UsageError, match=r"cannot be used: .* choose another one with --label"):
        await made.ingest(folder, graph, label=label)
    assert "take_ingest" not in made.names()
    assert (await made.ingest(folder, graph, label="Note")).label == "Note"


@pytest.mark.parametrize("name", ["notes", "notes.entities"])
async def test_a_stored_graph_of_other_nodes_is_left_alone(
    place: Any, folder: Path, name: str
) -> None:
    made = place(read_graphs=[stored_graph(name, "Author")])
    with pytest.raises(GraphExistsError, match=f"graph {name} is stored for other nodes"):
        await made.ingest(folder, "notes")
    assert "take_ingest" not in made.names()


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00broken\x00"])
async def test_nothing_is_stored_for_a_graph_without_documents(
    place: Any, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "a.pdf").write_bytes(content)
    made = place()
    paths = [tmp_path / "a.pdf"] if content else [tmp_path]
    done = await made.ingest(paths, "notes")
    assert done.count("failed") == bool(content)
    assert done.complete is (content is None)
    assert made.mappings() == {}
    assert made.indexed == []


def begun_deletion(*ids: str) -> Row:
    return {
        "uid": "notes/1/0", "label": "Paper", "documents": [*map(digest, ids)], "sentences": 2,
        "short": 1,
    }  # fmt: skip


async def test_a_deletion_that_broke_off_is_continued_with_others(place: Any) -> None:
    made = place(read_documents=[stored_row("b.md")], read_deletions=[begun_deletion("a.md")])
    done = await made.ingest.delete("notes", ["a.md", "b.md"])
    assert (done.documents, done.resumed, done.sentences) == (1, 1, 2)
    again = place(read_deletions=[begun_deletion("a.md", "b.md")])
    with pytest.raises(UsageError, match=r"no document c\.md"):
        await again.ingest.delete("notes", ["a.md", "c.md"])


async def test_with_sync_a_deletion_that_broke_off_is_continued(place: Any, folder: Path) -> None:
    made = place(read_deletions=[begun_deletion("old.md")])
    assert (await made.ingest(folder, "notes")).deletion is None
    assert made.db.params("set_ended") == []
    done = await made.ingest(folder, "notes", sync=True)
    assert done.deletion is not None
    assert (done.deletion.resumed, done.deletion.documents) == (1, 0)


async def test_a_document_named_twice_is_deleted_once(place: Any) -> None:
    made = place(read_documents=[stored_row("a.md", "Paper"), stored_row("b.md")])
    assert await made.ingest.delete("notes", []) == Deletion()
    assert {*made.names()} == {"read_version", "read_documents"}
    assert (await made.ingest.delete("notes", ["a.md", "a.md"])).documents == 1
    assert made.published()["gone"] == ["a.md"]
    assert made.published()["labels"] == ["Paper", "PaperChunk"]


async def test_deleting_waits_for_nobody(place: Any) -> None:
    other = [{"taken": False, "holder": "host:7", "expires_at": "later"}]
    busy = place(read_documents=[stored_row("a.md")], take_ingest=other)
    with pytest.raises(BusyError, match="host:7 is writing the documents of graph notes"):
        await busy.ingest.delete("notes", ["a.md"])
    assert "publish" not in busy.names()


def test_only_files_of_records_have_no_largest_size(place: Any) -> None:
    made = place()
    made.core.config = PGSConfig(max_document_mb=1.5)
    sizes = [made.ingest.most_bytes(name) for name in ("a.md", "a.CSV", "a.jsonl", "")]
    assert sizes == [1_500_000, None, None, 1_500_000]
