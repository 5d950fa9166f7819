"""The texts of a graph that vectors stand for, and what reads and writes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.publish import entity_label, fact_vector
from pgs_neo4j.documents.writer import Writer, lost_right

PAGE = 1_000
"""Texts that are read together."""


@dataclass(frozen=True, slots=True)
class WaitingText:
    """A text of a node or relationship; ``place`` has the ids that find it again."""

    place: Row
    text: str

    @property
    def name(self) -> str:
        """Its id, or the ends and the type of a fact, for notes."""
        if "id" in self.place:
            return str(self.place["id"])
        return f"{self.place['source']} {self.place['type']} {self.place['target']}"


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The model that made the vectors of a graph, and their length."""

    model: str
    dimensions: int


def entity_text(name: str | None, description: str | None) -> str:
    """Return what stands for an entity: its name, and what is said of it.

    A name alone says little about what an entity is, and namesakes share it.
    """
    return ": ".join(filter(None, (name, description)))


async def read_space(db: Database, graph: str, other: str = "") -> VectorSpace | None:
    """Return the space of a graph's vectors, first another one than that of the model ``other``.

    Raises DatabaseError.
    """
    query = queries.get("documents/vectors/read_vector_models")
    rows = await db.read(query, graph=graph, other=other)
    return VectorSpace(rows[0]["model"], rows[0]["dimensions"]) if rows else None


async def count_unembedded(db: Database, graph: str, label: str, model: str) -> tuple[int, int]:
    """Return how many texts have no vector of a model, and their characters."""
    query = queries.get("documents/vectors/count_unembedded")
    (row,) = await db.read(query, graph=graph, model=model, entities=entity_label(label))
    return row["texts"], row["characters"]


async def read_node_texts(
    db: Database, writer: Writer, model: str
) -> AsyncGenerator[list[WaitingText]]:
    """Yield the texts of nodes that have no vector of a model, page by page."""
    query, after = queries.get("documents/vectors/read_unembedded_nodes"), ""
    wanted: Row = {"graph": writer.graph, "model": model, "most": PAGE}
    wanted |= {"entities": entity_label(writer.label)}
    while rows := await db.read(query, **wanted, after=after):
        yield [
            WaitingText(
                {"id": row["id"]}, row["text"] or entity_text(row["name"], row["description"])
            )
            for row in rows
        ]
        after = rows[-1]["id"]


async def read_fact_texts(
    db: Database, writer: Writer, model: str
) -> AsyncGenerator[list[WaitingText]]:
    """Yield the facts that have no vector of a model, page by page."""
    query, after = queries.get("documents/vectors/read_unembedded_facts"), ("", "", "")
    wanted: Row = {"graph": writer.graph, "model": model, "most": PAGE}
    while rows := await db.read(
        query, **wanted, **dict(zip(("source", "type", "target"), after, strict=True))
    ):
        yield [WaitingText(row, row.pop("text") or "") for row in rows]
        after = rows[-1]["source"], rows[-1]["type"], rows[-1]["target"]


async def write_vectors(
    db: Database,
    writer: Writer,
    model: str,
    texts: Sequence[WaitingText],
    vectors: Sequence[NDArray[np.float32]],
) -> None:
    """Write the vectors ``(d,)`` of some texts; nothing is written for zeros.

    Raises DatabaseError and LeaseLostError.
    """
    given: Row = {"graph": writer.graph, "holder": writer.holder, "model": model}
    given |= {"rows": [], "blank": []}
    for one, vector in zip(texts, vectors, strict=True):
        if vector.any():
            given["rows"].append({**one.place, "vector": vector.tolist()})
        else:
            given["blank"].append(one.place.get("id", one.place))
    if "id" in texts[0].place:
        written = await db.write(queries.get("documents/vectors/write_node_vectors"), **given)
    else:
        query = queries.get("documents/vectors/write_fact_vectors")
        written = await db.write(query, **given, vector=fact_vector(writer.label))
    if not written:
        raise lost_right(writer.graph)


async def forget_vectors(db: Database, writer: Writer, model: str) -> None:
    """Remove the vectors that other models made: facts first, since nodes tell that there are any.

    Raises DatabaseError and LeaseLostError.
    """
    held = {"graph": writer.graph, "holder": writer.holder, "model": model, "most": PAGE}
    facts, after = queries.get("documents/vectors/forget_facts"), ""
    while after is not None:
        rows = await db.write(facts, **held, vector=fact_vector(writer.label), after=after)
        if not rows:
            raise lost_right(writer.graph)
        after = rows[0]["last"]
    nodes = queries.get("documents/vectors/forget_nodes")
    while rows := await db.write(nodes, **held):
        if not rows[0]["removed"]:
            return
    raise lost_right(writer.graph)
