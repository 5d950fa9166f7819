"""Which vectors of texts are taken from the graph, and which are made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import Event, Progressed
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.analogies.making import EMBED_BATCH, PROBES, embed_lines, embed_texts
from pgs_neo4j.pgs.analogies.texts import AnalogyOrder, GraphText
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.analogies.conftest import analogy_tools, graph_text

DIMENSIONS = 8


class Embedder:
    """Turns a text into the vector that its number seeds."""

    name, free, dimensions = "seeded", True, None

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed(self, lines: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += lines
        return np.array([vector_of(line) for line in lines], np.float32).reshape(-1, DIMENSIONS)


def vector_of(line: str, space: int = 0) -> NDArray[np.float64]:
    chance = np.random.default_rng([space, int(line.split()[1])])
    return unit(chance.normal(size=DIMENSIONS))


def order(embedding: str | None = "vector") -> AnalogyOrder:
    mapping = GraphMapping(text=("body",), embedding=embedding)
    return AnalogyOrder("notes", mapping, PGSConfig())


def texts(count: int) -> list[GraphText]:
    return [graph_text(place, f"text {place}") for place in range(count)]


def stored(space: int, *, without: int | None = None) -> FakeDatabase:
    """A database in which all nodes but one have the vectors of a space."""
    return FakeDatabase(
        read_vectors=lambda params: [
            {"element_id": node, "vector": vector_of(node, space).tolist()}
            for node in params["nodes"]
            if int(node.split()[1]) != without
        ]
    )


@pytest.mark.parametrize(
    ("db", "embedded"),
    [
        (stored(0, without=20), [*range(PROBES), 20]),
        (stored(1), [*range(PROBES), *range(30)]),
    ],
    ids=["same embedder", "another embedder"],
)
async def test_stored_vectors_are_used_if_the_same_embedder_made_them(
    db: FakeDatabase, embedded: list[int]
) -> None:
    embedder = Embedder()
    made = await embed_texts(order(), analogy_tools(None, db=db, embedder=embedder), texts(30))
    assert np.allclose(made, [vector_of(f"text {i}") for i in range(30)], atol=1e-6)
    assert embedder.embedded == [f"text {i}" for i in embedded]


async def test_without_stored_vectors_lines_are_embedded_in_portions_that_are_told() -> None:
    embedder = Embedder()
    tools = analogy_tools(None, embedder=embedder)
    assert (await embed_texts(order(None), tools, texts(3))).shape == (3, DIMENSIONS)
    assert len(await embed_texts(order(), tools, [])) == 0
    assert embedder.embedded == ["text 0", "text 1", "text 2"]
    events: list[Event] = []
    own = analogy_tools(None, embedder=Embedder(), on_event=events.append)
    lines = [f"text {i}" for i in range(EMBED_BATCH + 1)]
    assert len(await embed_lines(own, lines, "texts")) == EMBED_BATCH + 1
    assert [event.done for event in events if isinstance(event, Progressed)] == [
        EMBED_BATCH,
        EMBED_BATCH + 1,
    ]
