"""Texts that wait for a vector get one each, or still wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import BudgetError, EmbeddingError, LeaseLostError, ModelUnavailableError
from pgs_neo4j.ingest.embed import texts, waiting
from pgs_neo4j.ingest.embed.texts import entity_text
from pgs_neo4j.ingest.embed.waiting import TextsEmbedded, embed_waiting, text_batches
from pgs_neo4j.ingest.order import Embedding, IngestTools
from pgs_neo4j.ingest.writer import Writer
from pgs_neo4j.text.tokens import estimate
from tests.fakes.database import FakeDatabase, Row
from tests.fakes.embedders import ScriptedEmbedder
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import Documents, ingestion

WRITER = Writer(graph="docs", holder="me", label="Docs")
FACT = {"source": "a", "type": "T", "target": "b"}


class WaitingTexts:
    """Texts of nodes by id and of one fact, with the model of their vectors, in memory."""

    def __init__(self, *said: str, fact: str = "", model: str = "", held: bool = True) -> None:
        self.texts = {f"n{place:04d}": text for place, text in enumerate(said)}
        self.fact, self.models = fact, dict.fromkeys([*self.texts, "fact"], model)
        self.vectors: dict[str, list[float]] = {}
        self.began: list[dict[str, str]] = []
        self.held = held
        self.database: Any = FakeDatabase(
            read_unembedded_nodes=self.read,
            read_unembedded_facts=self.read_facts,
            write_node_vectors=self.write,
            write_fact_vectors=self.write,
            count_unembedded=lambda sent: [
                {"texts": len(self.waiting(sent["model"])), "characters": 0}
            ],
            read_vector_models=lambda sent: [
                {"model": model, "dimensions": 8}
                for model in {*self.models.values()} - {"", sent["other"]}
            ],
            forget_facts=lambda sent: [{"last": None}],
            forget_nodes=self.forget,
        )

    def waiting(self, model: str) -> list[str]:
        return [id_ for id_, own in self.models.items() if own != model and self.text(id_)]

    def text(self, id_: str) -> str:
        return self.fact if id_ == "fact" else self.texts[id_]

    def read(self, sent: Row) -> list[Row]:
        assert (sent["graph"], sent["entities"]) == ("docs", "DocsEntity")
        own = (id_ for id_ in self.waiting(sent["model"]) if id_ != "fact")
        found = sorted(id_ for id_ in own if id_ > sent["after"])[: sent["most"]]
        nothing = {"name": None, "description": None}
        return [{"id": id_, "text": self.texts[id_], **nothing} for id_ in found]

    def read_facts(self, sent: Row) -> list[Row]:
        known = "fact" not in self.waiting(sent["model"]) or sent["source"] == "a"
        return [] if known else [{**FACT, "text": self.fact}]

    def write(self, sent: Row) -> list[Row]:
        assert sent["holder"] == "me"
        for row in sent["rows"]:
            self.vectors[row.get("id", "fact")] = row["vector"]
            self.models[row.get("id", "fact")] = sent["model"]
        for row in sent["blank"]:
            self.models[row if isinstance(row, str) else "fact"] = sent["model"]
        return [{"written": len(sent["rows"])}] if self.held else []

    def forget(self, sent: Row) -> list[Row]:
        gone = [id_ for id_, own in self.models.items() if own not in ("", sent["model"])]
        self.models |= dict.fromkeys(gone, "")
        for id_ in gone:
            self.vectors.pop(id_, None)
        return [{"removed": len(gone)}]

    def tools(self, embedder: ScriptedEmbedder, **knobs: Any) -> IngestTools:
        async def begin() -> None:
            self.began.append({**self.models})

        config = PGSConfig(**knobs)
        _, tools = ingestion(Documents(), WordExtractor(), Path(), config=config)
        return replace(tools, db=self.database, embedding=Embedding(embedder, begin))

    async def embed(
        self, embedder: ScriptedEmbedder, stopped: str = "", **knobs: Any
    ) -> TextsEmbedded:
        return await embed_waiting(self.tools(embedder, **knobs), WRITER, stopped=stopped)


async def test_every_text_is_embedded_and_equal_ones_once() -> None:
    graph, embedder = WaitingTexts("one", "two", "one", fact="so"), ScriptedEmbedder()
    done = await graph.embed(embedder)
    assert done == TextsEmbedded(texts=4)
    assert sorted(embedder.texts) == ["one", "so", "two"]
    assert graph.vectors["n0000"] == graph.vectors["n0002"]
    assert np.allclose(graph.vectors["fact"], embedder.vectors(["so"])[0])
    assert await graph.embed(embedder) == TextsEmbedded()
    assert len(embedder.texts) == 3


async def test_pages_and_calls_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "PAGE", 5)
    monkeypatch.setattr(waiting, "BATCH_TEXTS", 2)
    graph, embedder = WaitingTexts(*(f"text {n}" for n in range(12))), ScriptedEmbedder()
    assert (await graph.embed(embedder)).texts == 12
    assert sorted(map(len, embedder.calls)) == [1, 1, 2, 2, 2, 2, 2]
    assert {sent["most"] for sent in graph.database.params("read_unembedded_nodes")} == {5}


async def test_without_an_embedder_missing_vectors_are_only_counted() -> None:
    graph = WaitingTexts("one", "two")
    tools = replace(graph.tools(ScriptedEmbedder()), embedding=None)
    assert await embed_waiting(tools, WRITER, stopped="") == TextsEmbedded()
    graph.models["n0001"] = "old"
    assert await embed_waiting(tools, WRITER, stopped="") == TextsEmbedded(waiting=1)
    assert [name for name, _ in graph.database.sent] == [
        "read_vector_models", "read_vector_models", "count_unembedded",
    ]  # fmt: skip


async def test_after_a_limit_all_texts_wait() -> None:
    graph, embedder = WaitingTexts("one", "two"), ScriptedEmbedder()
    done = await graph.embed(embedder, stopped="max_calls")
    assert done == TextsEmbedded(waiting=2, stopped="max_calls")
    assert embedder.calls == []


async def test_a_limit_in_between_keeps_what_was_bought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "BATCH_TEXTS", 1)
    graph, embedder = WaitingTexts("one", "two", "three"), ScriptedEmbedder()
    done = await graph.embed(embedder, max_calls=2)
    assert (done.texts, done.waiting, "max_calls" in done.stopped) == (2, 1, True)
    assert len(graph.vectors) == 2
    embedder.failures = [ModelUnavailableError("gone")]
    assert await graph.embed(embedder) == TextsEmbedded(waiting=1, error="gone")
    assert await graph.embed(embedder) == TextsEmbedded(texts=1)


class Picky(ScriptedEmbedder):
    """Fails on some texts."""

    def __init__(self, *refused: str) -> None:
        super().__init__()
        self.refused, self.tries = refused, 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.tries += 1
        if {*texts} & {*self.refused}:
            raise EmbeddingError("no finite vector")
        return await super().embed(texts)


async def test_a_text_that_the_embedder_fails_on_leaves_the_others() -> None:
    said = [f"text {n}" for n in range(100)]
    graph, embedder = WaitingTexts(*said, fact="so"), Picky("text 0", "text 57")
    done = await graph.embed(embedder)
    assert (done.texts, done.waiting, done.why) == (99, 2, "no finite vector")
    assert {*said} - {*embedder.texts} == {"text 0", "text 57"}
    assert embedder.tries < 40


async def test_an_embedder_that_fails_on_everything_is_given_up() -> None:
    said = [f"text {n}" for n in range(1000)]
    graph, embedder = WaitingTexts(*said), Picky(*said)
    done = await graph.embed(embedder)
    assert (done.texts, done.waiting, done.error) == (0, 1000, "no finite vector")
    assert done.refused == waiting.MOST_REFUSED
    assert embedder.tries < 40


async def test_vectors_of_another_model_go_after_the_first_reply_of_the_new_one() -> None:
    graph, embedder = WaitingTexts("one", "two", model="old"), ScriptedEmbedder("new")
    graph.vectors = {"n0000": [1.0], "n0001": [1.0]}
    embedder.failures = [BudgetError("no")]
    assert (await graph.embed(embedder)).waiting == 2
    assert len(graph.vectors) == 2
    assert graph.began == []
    assert (await graph.embed(embedder)).texts == 2
    assert graph.began == [{"n0000": "", "n0001": "", "fact": ""}]
    assert {*graph.models.values()} == {"new", ""}


async def test_a_text_without_a_vector_is_not_asked_for_again() -> None:
    class Blank(ScriptedEmbedder):
        def vectors(self, texts: Any) -> Any:
            return super().vectors(texts) * 0

    graph, embedder = WaitingTexts("the", fact="so"), Blank()
    assert (await graph.embed(embedder)).texts == 2
    assert graph.vectors == {}
    await graph.embed(embedder)
    assert embedder.texts == ["the", "so"]


async def test_a_writer_whose_right_is_lost_writes_nothing_more() -> None:
    graph = WaitingTexts("one", held=False)
    with pytest.raises(LeaseLostError, match="graph docs"):
        await graph.embed(ScriptedEmbedder())


@pytest.mark.parametrize("most", [1, 10, 1000])
def test_batches_hold_all_texts_in_order_within_their_tokens(most: int) -> None:
    said = ["x" * (n * 7 % 50) for n in range(40)]
    made = [*text_batches(said, most)]
    assert [text for batch in made for text in batch] == said
    assert all(len(one) == 1 or sum(map(estimate, one)) <= most for one in made)


def test_an_entity_stands_for_itself_by_name_and_description() -> None:
    assert entity_text("Paris", "A city.") == "Paris: A city."
    assert entity_text("Paris", None) == entity_text("Paris", "") == "Paris"
    assert entity_text(None, "A city.") == "A city."
