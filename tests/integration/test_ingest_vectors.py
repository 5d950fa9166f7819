"""Vectors of ingested texts: made once, gone with their text, and used by what answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import list_search_indexes
from pgs_neo4j.documents.enrich import embed
from pgs_neo4j.documents.enrich.embed import entity_text
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ConfigError, ModelUnavailableError
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM, contract_reply
from pgs_neo4j.model import Prompt, SearchMode
from pgs_neo4j.model.documents import DocumentSource
from tests.conftest import Endpoint
from tests.database import SEARCHED
from tests.documents import stored_graph
from tests.engines import KNOBS, engine_on
from tests.fakes.embedders import ScriptedEmbedder
from tests.integration.test_ingest import CURIE, SEINE, model, reader

QUESTION, FACT = "What flows through Paris?", "The Seine flows through Paris."
MODES: tuple[SearchMode, ...] = (
    *("naive", "local", "global", "hybrid", "mix"),
    *("multipath", "triplets", "structural", "auto"),
)
ANSWERING: tuple[SearchMode, ...] = ("summary", "bypass", "mix")
Texts = dict[str, list[float] | None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "curie.md").write_text(CURIE)
    (tmp_path / "seine.txt").write_text(SEINE)
    return tmp_path


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder()


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database, embedder: ScriptedEmbedder) -> AsyncIterator[PGS]:
    async with engine_on(endpoint, **KNOBS | {"embedder": embedder}) as opened:
        assert isinstance(opened.sweep_llm, ScriptedLLM)
        opened.sweep_llm._answer = reader
        yield opened


async def texts_of(db: Database, graph: str = "docs") -> Texts:
    """The texts of a graph with the vectors that stand beside them."""
    stored, found = await stored_graph(db, graph), Texts()
    for node in stored["nodes"]:
        own: dict[str, Any] = node["properties"]
        if "Chunk" in node["labels"]:
            found[own["text"]] = own.get("embedding")
        elif "DocsEntity" in node["labels"]:
            found[entity_text(own["name"], own.get("description"))] = own.get("embedding")
    for link in stored["links"]:
        if link["type"] == "RELATES":
            own = link["properties"]
            found[own["fact"]] = own.get("Docs_embedding")
    return found


def are_true(texts: Texts, embedder: ScriptedEmbedder) -> bool:
    """Whether each text has the vector that the embedder gives it."""
    made = embedder.vectors([*texts])
    return all(
        vector is not None and np.allclose(vector, own, atol=1e-6)
        for vector, own in zip(texts.values(), made, strict=True)
    )


@pytest.mark.schema
async def test_every_text_gets_a_vector_once(
    pgs: PGS, db: Database, folder: Path, embedder: ScriptedEmbedder
) -> None:
    done = await pgs.ingest(folder, "docs", embed=True)
    texts = await texts_of(db)
    assert are_true(texts, embedder)
    assert {"Paris: Paris is named.", "The Seine flows through Paris."} <= texts.keys()
    assert sorted(embedder.texts) == sorted(texts)
    assert (done.unembedded, done.complete) == (0, True)
    assert done.embedded >= len(texts)
    assert done.usage.calls == 1 + len(embedder.calls)
    for purged in (False, True):
        if purged:
            await pgs.purge()
        again = await pgs.ingest(folder, "docs", embed=True)
        assert (again.embedded, again.usage.calls) == (0, 0)
    assert (await pgs.graphs.get("docs")).mapping.embedding_model == "scripted"
    assert await texts_of(db) == texts


@pytest.mark.schema
@pytest.mark.thorough
@pytest.mark.usefixtures("no_search_indexes")
async def test_the_view_names_the_vectors_and_every_search_uses_them(
    pgs: PGS, db: Database, folder: Path, embedder: ScriptedEmbedder
) -> None:
    await pgs.ingest(folder, "docs", embed=True)
    mapping = (await pgs.graphs.get("docs")).mapping
    assert (mapping.embedding, mapping.embedding_model) == ("embedding", "scripted")
    assert mapping.relationship_embedding == "Docs_embedding"
    made = {(one.name, one.dimensions, one.state) for one in await list_search_indexes(db)}
    assert made == {(wanted.name, wanted.dimensions, "ONLINE") for wanted in SEARCHED}
    embedder.calls.clear()
    found = await pgs.search("Boats cross the Seine.", graph="docs", mode="hybrid")
    assert embedder.texts == ["Boats cross the Seine."]
    assert [report.error for report in found.paths if report.error] == []
    methods = {report.name: report.method for report in found.paths}
    assert "vector index" in methods["vector"]
    assert "vector index" in methods["facts"]
    answer = await pgs.execute("Boats cross the Seine.", graph="docs")
    assert answer.coverage.nodes_read == answer.coverage.nodes_total
    real = {node["id"] for node in (await stored_graph(db, "docs"))["nodes"]}
    for mode in MODES:
        found = await pgs.search(QUESTION, graph="docs", mode=mode)
        assert [path.error for path in found.paths if path.error] == [], mode
        assert {item.key for item in found.items} <= real, mode
        told = [*(item.text for item in found.items), *(fact.line for fact in found.facts)]
        assert FACT in " ".join(told), mode
    assert isinstance(pgs.synthesis_llm, ScriptedLLM)
    for mode in ANSWERING:
        found = await pgs.search(QUESTION, graph="docs", mode=mode, answer=True)
        assert found.answer is not None
        assert found.answer.mode == mode
        assert (FACT in pgs.synthesis_llm.prompts[-1].user) == (mode != "bypass")
        keys = {source.key for source in (await pgs.runs.document(found.answer.run)).sources}
        assert keys <= real
        assert bool(keys) == (mode != "bypass")


def namer(prompt: Prompt) -> Reply:
    """Name two companies that share no word, and judge that they are one."""
    if prompt.task != "extraction":
        return "1. same" if "Big Blue" in prompt.user else contract_reply(prompt)
    found = [
        f"entity<|#|>{name}<|#|>Organization<|#|>It makes large computers for banks.<|#|>{line[1]}"
        for line in prompt.user.splitlines()
        for name in ("Big Blue", "IBM")
        if line.startswith("[") and name in line
    ]
    return "\n".join([*found, "<|COMPLETE|>", ""])


@pytest.mark.thorough
async def test_names_that_share_no_word_are_judged_by_their_vectors(
    pgs: PGS, db: Database, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = embedder.vectors
    said = ": It makes large computers for banks."

    def by_description(texts: Sequence[str]) -> NDArray[np.float32]:
        return made([said if said in text else text for text in texts])

    monkeypatch.setattr(embedder, "vectors", by_description)
    model(pgs)._answer = namer
    notes = [
        DocumentSource(id="a.md", data="Big Blue makes large computers for banks."),
        DocumentSource(id="b.md", data="IBM makes large computers for banks."),
    ]
    done = await pgs.ingest(notes, "docs", embed=True, arbiter=True)
    assert (done.complete, done.judged, done.joined) == (True, 1, 1)
    assert [one.name for one in await pgs.entities("docs")] in (["Big Blue"], ["IBM"])
    assert are_true(await texts_of(db), embedder)
    again = await pgs.ingest(notes, "docs", embed=True, arbiter=True)
    assert again.usage.calls == 0


@pytest.mark.thorough
async def test_a_vector_goes_with_the_text_that_it_stands_for(
    pgs: PGS, db: Database, folder: Path, embedder: ScriptedEmbedder
) -> None:
    await pgs.ingest(folder, "docs", embed=True)
    before = await texts_of(db)
    embedder.calls.clear()
    (folder / "seine.txt").write_text("The Seine flows far through Paris. Boats cross the Seine.\n")
    (folder / "curie.md").rename(folder / "marie.md")
    without = await pgs.ingest(folder, "docs", sync=True)
    between = await texts_of(db)
    assert without.unembedded >= len({*between} - {*before})
    assert {text for text, vector in between.items() if vector is None} == {*between} - {*before}
    assert (await pgs.graphs.get("docs")).mapping.embedding == "embedding"
    await pgs.ingest(folder, "docs", embed=True)
    texts = await texts_of(db)
    assert are_true(texts, embedder)
    assert sorted(embedder.texts) == sorted({*texts} - {*before})


@pytest.mark.thorough
async def test_a_failing_embedder_leaves_the_rest_for_the_next_ingestion(
    pgs: PGS,
    db: Database,
    folder: Path,
    embedder: ScriptedEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embed, "BATCH_TEXTS", 2)
    embedder.failures = [None, ModelUnavailableError("the endpoint is gone")]
    done = await pgs.ingest(folder, "docs", embed=True)
    assert (done.complete, done.unembedded_why) == (False, "the endpoint is gone")
    texts = await texts_of(db)
    assert done.unembedded >= sum(vector is None for vector in texts.values()) > 0
    assert done.embedded > 0
    assert (await pgs.jobs.get(done.job)).outcome == "partial"
    finished = await pgs.ingest.resume(done.job)
    assert (finished.complete, finished.embedded) == (True, done.unembedded)
    assert sorted(embedder.texts) == sorted({*embedder.texts})
    assert are_true(await texts_of(db), embedder)


async def test_a_limit_ends_embedding_and_the_rest_waits(
    pgs: PGS,
    db: Database,
    folder: Path,
    embedder: ScriptedEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embed, "BATCH_TEXTS", 2)
    done = await pgs.ingest(folder, "docs", embed=True, max_calls=3)
    assert (done.usage.calls, len(embedder.calls)) == (3, 2)
    assert "max_calls" in done.stopped
    assert done.unembedded > 0
    finished = await pgs.ingest(folder, "docs", embed=True)
    assert (finished.complete, finished.embedded) == (True, done.unembedded)
    assert len(embedder.texts) == len({*embedder.texts})
    with pytest.raises(ConfigError, match="scripted"):
        await pgs.ingest(folder, "docs", embed=True, max_cost=1.0)


@pytest.mark.thorough
async def test_another_embedder_makes_all_vectors_again_once_it_answers(
    pgs: PGS, db: Database, folder: Path, embedder: ScriptedEmbedder
) -> None:
    await pgs.ingest(folder, "docs", embed=True)
    other = ScriptedEmbedder("other", dimensions=6)
    other.failures = [ModelUnavailableError("not yet")]
    failed = await pgs.ingest(folder, "docs", embed=other)
    assert not failed.complete
    assert are_true(await texts_of(db), embedder)
    assert (await pgs.graphs.get("docs")).mapping.embedding_model == "scripted"
    done = await pgs.ingest(folder, "docs", embed=other)
    assert done.embedded == failed.unembedded
    assert are_true(await texts_of(db), other)
    assert (await pgs.graphs.get("docs")).mapping.embedding_model == "other"
    assert {index.dimensions for index in await pgs.indexes() if index.kind == "vector"} == {6}
    found = await pgs.search("Boats", graph="docs", mode="naive")
    assert any("other made the vectors" in note for note in found.warnings)
