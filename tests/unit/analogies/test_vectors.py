"""Which vectors of texts are taken from the graph, and which are made."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.analogies import vectors
from pgs_neo4j.analogies.order import AnalogyOrder, AnalogyTools
from pgs_neo4j.analogies.texts import GraphText
from pgs_neo4j.analogies.vectors import BATCH, embed_lines, embed_texts
from pgs_neo4j.events import Event, Progressed
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import GraphMapping, PromptNode

DIMENSIONS = 8


class Embedder:
    """Turns a text into the vector that its number seeds."""

    name = "seeded"

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed(self, lines: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += lines
        return np.array([vector_of(line) for line in lines], np.float32).reshape(-1, DIMENSIONS)


def vector_of(line: str, space: int = 0) -> NDArray[np.float64]:
    chance = np.random.default_rng([space, int(line.split()[1])])
    return unit(chance.normal(size=DIMENSIONS))


def texts(count: int) -> list[GraphText]:
    shown = PromptNode("n1", "t", "")
    return [GraphText(f"node {i}", "t", f"text {i}", shown, f"k{i}", False) for i in range(count)]


def tools(events: list[Event] | None = None) -> tuple[AnalogyTools, Embedder]:
    embedder = Embedder()
    on_event = (events if events is not None else []).append
    given: Any = SimpleNamespace(db=None, embedder=embedder, on_event=on_event)
    return cast("AnalogyTools", given), embedder


def order(embedding: str | None = "vector") -> AnalogyOrder:
    return cast("AnalogyOrder", SimpleNamespace(mapping=GraphMapping(embedding=embedding)))


def store(monkeypatch: pytest.MonkeyPatch, space: int, *, without: int | None = None) -> None:
    async def read(_: object, nodes: Sequence[str], *__: object) -> dict[str, Any]:
        kept = [node for node in nodes if int(node.split()[1]) != without]
        return {node: vector_of(node, space) for node in kept}

    monkeypatch.setattr(vectors, "read_vectors", read)


async def test_stored_vectors_of_the_same_embedder_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store(monkeypatch, 0, without=20)
    own, embedder = tools()
    made = await embed_texts(order(), own, texts(30))
    assert np.allclose(made, [vector_of(f"text {i}") for i in range(30)], atol=1e-6)
    assert embedder.embedded == [*(f"text {i}" for i in range(vectors.PROBES)), "text 20"]


async def test_stored_vectors_of_another_embedder_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    store(monkeypatch, 1)
    own, embedder = tools()
    made = await embed_texts(order(), own, texts(30))
    assert np.allclose(made, [vector_of(f"text {i}") for i in range(30)], atol=1e-6)
    assert embedder.embedded[vectors.PROBES :] == [f"text {i}" for i in range(30)]


async def test_nothing_is_read_for_a_graph_without_embeddings() -> None:
    own, embedder = tools()
    assert (await embed_texts(order(None), own, texts(3))).shape == (3, DIMENSIONS)
    assert embedder.embedded == ["text 0", "text 1", "text 2"]


async def test_no_texts_have_no_vectors() -> None:
    own, embedder = tools()
    assert len(await embed_texts(order(), own, [])) == 0
    assert embedder.embedded == []


async def test_many_lines_are_embedded_in_portions_that_are_told() -> None:
    events: list[Event] = []
    own, _ = tools(events)
    lines = [f"text {i}" for i in range(BATCH + 1)]
    assert len(await embed_lines(own, lines, "texts")) == BATCH + 1
    assert [event.done for event in events if isinstance(event, Progressed)] == [BATCH, BATCH + 1]
