"""Every retrieval mode, and routing, over a graph that was made of documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import SearchMode
from pgs_neo4j.retrieval.paths import walk
from tests.conftest import Endpoint
from tests.documents import stored_graph
from tests.engines import KNOBS, engine_on
from tests.fakes.embedders import ScriptedEmbedder
from tests.integration.test_ingest import CURIE, SEINE, reader

QUESTION = "What flows through Paris?"
FACT = "The Seine flows through Paris."
MODES: tuple[SearchMode, ...] = (
    *("naive", "local", "global", "hybrid", "mix"),
    *("multipath", "triplets", "structural", "auto"),
)
ANSWERING: tuple[SearchMode, ...] = ("summary", "bypass", "mix")


@pytest.fixture
async def pgs(
    endpoint: Endpoint, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PGS]:
    """Documents with vectors and partitions."""
    monkeypatch.setattr(walk, "PATH_S", 60.0)
    (tmp_path / "curie.md").write_text(CURIE)
    (tmp_path / "seine.txt").write_text(SEINE)
    async with engine_on(endpoint, **KNOBS | {"embedder": ScriptedEmbedder()}) as opened:
        assert isinstance(opened.sweep_llm, ScriptedLLM)
        opened.sweep_llm._answer = reader
        done = await opened.ingest(tmp_path, "docs", embed=True)
        assert done.complete
        await opened.partition("docs")
        yield opened


async def ids_of(db: Database) -> set[str]:
    return {node["id"] for node in (await stored_graph(db, "docs"))["nodes"]}


async def test_every_mode_finds_what_a_document_says(pgs: PGS, db: Database) -> None:
    real, silent = await ids_of(db), []
    for mode in MODES:
        found = await pgs.search(QUESTION, graph="docs", mode=mode)
        assert [path.error for path in found.paths if path.error] == [], mode
        assert {item.key for item in found.items} <= real, mode
        told = [*(item.text for item in found.items), *(fact.line for fact in found.facts)]
        if FACT not in " ".join(told):
            silent.append(mode)
    assert silent == []


async def test_modes_that_answer_cite_documents_or_nothing(pgs: PGS, db: Database) -> None:
    real = await ids_of(db)
    assert isinstance(pgs.synthesis_llm, ScriptedLLM)
    for mode in ANSWERING:
        found = await pgs.search(QUESTION, graph="docs", mode=mode, answer=True)
        assert found.answer is not None
        assert found.answer.mode == mode
        shown = pgs.synthesis_llm.prompts[-1].user
        assert (FACT in shown) == (mode != "bypass")
        keys = {source.key for source in (await pgs.document(found.answer.run)).sources}
        assert keys <= real
        assert bool(keys) == (mode != "bypass")
