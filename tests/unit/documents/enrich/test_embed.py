"""Texts that wait for a vector get one each, or still wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.documents.enrich import embed
from pgs_neo4j.documents.enrich.embed import TextsEmbedded, embed_waiting, entity_text
from pgs_neo4j.documents.order import Embedding, IngestTools
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.errors import EmbeddingError, LeaseLostError
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
    monkeypatch.setattr(embed, "PAGE", 5)
    monkeypatch.setattr(embed, "BATCH_TEXTS", 2)
    said = [f"text {n}" for n in range(12)]
    graph, embedder = WaitingTexts("text 0", *said), ScriptedEmbedder()
    assert (await graph.embed(embedder)).texts == 13
    assert sorted(embedder.texts) == sorted(said)
    assert sorted(map(len, embedder.calls)) == [1, 1, 2, 2, 2, 2, 2]
    assert {sent["most"] for sent in graph.database.params("read_unembedded_nodes")} == {5}


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


@pytest.mark.parametrize(
    ("count", "refused", "waits", "given_up"),
    [(100, [0, 57], 2, False), (1000, range(1000), 1000, True)],
)
async def test_a_text_that_the_embedder_fails_on_leaves_the_others_until_it_is_given_up(
    count: int, refused: Sequence[int], waits: int, given_up: bool
) -> None:
    said = [f"text {n}" for n in range(count)]
    graph, embedder = WaitingTexts(*said), Picky(*(said[n] for n in refused))
    done = await graph.embed(embedder)
    assert (done.texts, done.waiting, done.why) == (count - waits, waits, "no finite vector")
    assert done.refused == (embed.MOST_REFUSED if given_up else waits)
    assert bool(done.error) is given_up
    assert {*said} - {*embedder.texts} == {said[n] for n in refused}
    assert embedder.tries < 40


async def test_a_text_without_a_vector_is_not_asked_for_again() -> None:
    graph, embedder = WaitingTexts("the"), Lexical()
    for _ in range(2):
        await graph.embed(embedder)
    assert embedder.texts == ["the"]
    assert not any(sent["rows"] for sent in graph.database.params("write_node_vectors"))


class Blank(ScriptedEmbedder):
    """Has no vector of "the", in one of three ways."""

    nothing = 0.0

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        blank = np.array([[text == "the"] for text in texts])
        return np.where(blank, np.float32(self.nothing), super().vectors(texts))


class Lexical(Blank):
    """Knows words alone."""

    lexical = True


@pytest.mark.parametrize("nothing", [0.0, float("nan"), float("inf")])
async def test_a_vector_that_stands_for_nothing_costs_its_text_alone(nothing: float) -> None:
    graph, embedder = WaitingTexts("one", "the", "two"), Blank()
    embedder.nothing = nothing
    done = await graph.embed(embedder)
    assert (done.texts, done.unproven, done.waiting, done.refused) == (2, 0, 1, 1)
    assert done.places == ("n0001",)
    assert "vector of a text" in done.why
    assert embedder.calls == [["one", "the", "two"]]


async def test_too_few_vectors_are_not_written_for_other_texts() -> None:
    class Short(ScriptedEmbedder):
        def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return super().vectors([text for text in texts if text != "the"] or ["a", "b"])

    done = await WaitingTexts("one", "the", "two").embed(Short())
    assert (done.texts, done.waiting, done.places) == (2, 1, ("n0001",))
    assert "returned 2 rows for 1 text;" in done.why


async def test_a_writer_whose_right_is_lost_writes_nothing_more() -> None:
    graph = WaitingTexts("one", held=False)
    with pytest.raises(LeaseLostError, match="graph docs"):
        await graph.embed(ScriptedEmbedder())


def test_an_entity_stands_for_itself_by_name_and_description() -> None:
    assert entity_text("Paris", "A city.") == "Paris: A city."
    assert entity_text("Paris", None) == entity_text("Paris", "") == "Paris"
    assert entity_text(None, "A city.") == "A city."
