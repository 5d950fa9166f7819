"""Texts that wait for a vector get one each, or still wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.errors import EmbeddingError, LeaseLostError
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


class WaitingTexts:
    """Texts of nodes by id, with the model of their vectors, in memory."""

    def __init__(self, *said: str, held: bool = True) -> None:
        self.texts = {f"n{place:04d}": text for place, text in enumerate(said)}
        self.models = dict.fromkeys(self.texts, "")
        self.held = held
        self.database: Any = FakeDatabase(
            read_unembedded_nodes=self.read,
            write_node_vectors=self.write,
            count_unembedded=lambda sent: [
                {"texts": len(self.waiting(sent["model"])), "characters": 0}
            ],
            read_vector_models=lambda sent: [
                {"model": model, "dimensions": 8}
                for model in {*self.models.values()} - {"", sent["other"]}
            ],
        )

    def waiting(self, model: str) -> list[str]:
        return [id_ for id_, own in self.models.items() if own != model]

    def read(self, sent: Row) -> list[Row]:
        found = [id_ for id_ in self.waiting(sent["model"]) if id_ > sent["after"]]
        nothing = {"name": None, "description": None}
        return [{"id": id_, "text": self.texts[id_], **nothing} for id_ in found[: sent["most"]]]

    def write(self, sent: Row) -> list[Row]:
        self.models |= dict.fromkeys([row["id"] for row in sent["rows"]], sent["model"])
        self.models |= dict.fromkeys(sent["blank"], sent["model"])
        return [{"written": len(sent["rows"])}] if self.held else []

    def tools(self, embedder: ScriptedEmbedder) -> IngestTools:
        async def begin() -> None:
            return

        _, tools = ingestion(Documents(), WordExtractor(), Path())
        return replace(tools, db=self.database, embedding=Embedding(embedder, begin))

    async def embed(self, embedder: ScriptedEmbedder) -> TextsEmbedded:
        return await embed_waiting(self.tools(embedder), WRITER, stopped="")


async def test_pages_and_calls_are_bounded_and_equal_texts_embedded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(texts, "PAGE", 5)
    monkeypatch.setattr(waiting, "BATCH_TEXTS", 2)
    said = [f"text {n}" for n in range(12)]
    graph, embedder = WaitingTexts("text 0", *said), ScriptedEmbedder()
    assert (await graph.embed(embedder)).texts == 13
    assert sorted(embedder.texts) == sorted(said)
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
    graph, embedder = WaitingTexts(*said), Picky("text 0", "text 57")
    done = await graph.embed(embedder)
    assert (done.texts, done.waiting, done.why) == (98, 2, "no finite vector")
    assert {*said} - {*embedder.texts} == {"text 0", "text 57"}
    assert embedder.tries < 40


async def test_an_embedder_that_fails_on_everything_is_given_up() -> None:
    said = [f"text {n}" for n in range(1000)]
    graph, embedder = WaitingTexts(*said), Picky(*said)
    done = await graph.embed(embedder)
    assert (done.texts, done.waiting, done.error) == (0, 1000, "no finite vector")
    assert done.refused == waiting.MOST_REFUSED
    assert embedder.tries < 40


async def test_a_text_without_a_vector_is_not_asked_for_again() -> None:
    class Blank(ScriptedEmbedder):
        def vectors(self, texts: Any) -> Any:
            return super().vectors(texts) * 0

    graph, embedder = WaitingTexts("the"), Blank()
    assert (await graph.embed(embedder)).texts == 1
    assert [
        row for sent in graph.database.params("write_node_vectors") for row in sent["rows"]
    ] == []
    await graph.embed(embedder)
    assert embedder.texts == ["the"]


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
