"""Graphs with questions, and the nodes that answer each."""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.loading.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.engine.demo.graph import build_demo, demo_file
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.model import GraphMapping
from tests.bench import program
from tests.bench.graphs import DATA
from tests.bench.latent import LatentEmbedder
from tests.bench.loaded import stack_overflow

ELEMENT_IDS = """
MATCH (n:LoadedNode) WHERE n.graph = $graph RETURN n.id AS id, elementId(n) AS element_id
"""
TITLES = """
MATCH (q:Question) WHERE q.title IS NOT NULL
RETURN q.title AS title, elementId(q) AS element_id ORDER BY element_id
"""
FUNCTIONS = """
MATCH (f:LoadedNode) WHERE f.graph = $graph AND f.kind = 'function'
RETURN f.id AS title, elementId(f) AS element_id ORDER BY element_id
"""
TEXTS = """
MATCH (n:LoadedNode)
RETURN n.title AS title, n.text AS text, elementId(n) AS element_id ORDER BY element_id
"""
SET_VECTORS = """
UNWIND range(0, size($ids) - 1) AS i
MATCH (n) WHERE elementId(n) = $ids[i] SET n.vector = $vectors[i]
"""
NODES = "MATCH (n:LoadedNode) RETURN elementId(n) AS element_id ORDER BY element_id"
ADD_TEXT = """
MATCH (n) WHERE elementId(n) = $id SET n.text = coalesce(n.text + ' ', '') + $fact
"""
SEED = 3
PORTION = 500
# Those of CISI, a collection that is not among the shared data.
DENSE_DOCUMENTS, DENSE_LINKS = 1_460, 38_672
POPULARITY = 0.03
"""Spread of what a document adds to its likeness with every other."""
# Each word stands in several facts, so that no word alone finds one.
SUBSTANCES = ["granite", "copper", "walnut", "ivory", "marble", "velvet", "pewter", "amber"]
OBJECTS = [
    "lantern",
    "fountain",
    "staircase",
    "organ",
    "barometer",
    "carriage",
    "altar",
    "windmill",
]
CITIES = ["Oslo", "Lisbon", "Kyoto", "Quito", "Tallinn", "Accra", "Hobart", "Zagreb"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the element ids of the nodes that answer it.

    ``grades`` say how well each does, where people graded them.
    """

    text: str
    nodes: tuple[str, ...]
    grades: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A graph in the database, its mapping, and questions.

    ``embedder`` embeds questions like the stored vectors, if there are any. With ``marked``, the
    answer to question i is told by the text ``planted-fact-i-end``.
    """

    mapping: GraphMapping
    questions: tuple[Question, ...]
    embedder: Embedder | None = None
    marked: bool = False


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputFileError(f"{path} is not there; put the shared data beside this checkout")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


async def collection(database: Database, path: Path) -> Judged:
    """A file of documents, links, queries, and relevant documents, such as ``cacm.json.gz``."""
    return await _stored(database, _read(path))


async def _stored(database: Database, data: dict[str, Any]) -> Judged:
    place = {document["id"]: at for at, document in enumerate(data["documents"])}
    nodes = tuple(
        FileNode(id=one["id"], properties={"title": one["title"], "text": one["text"]})
        for one in data["documents"]
    )
    links = tuple(
        FileRelationship(place[a], place[b], "LINKS", float(weight))
        for a, b, weight in data["links"]
    )
    mapping = GraphMapping(text=("text",), title="title", key="id", relationship_weight="weight")
    await load(database, GraphFile(nodes=nodes, relationships=links, mapping=mapping), data["name"])
    _, rows = await database.call(ELEMENT_IDS, {"graph": data["name"]}, "read")
    ids = {row["id"]: row["element_id"] for row in rows}
    questions = tuple(
        Question(data["queries"][query], tuple(known), tuple(known.values()))
        for query, relevant in data["relevant"].items()
        if (known := {ids[one]: float(grade) for one, grade in relevant.items() if one in ids})
    )
    return Judged(mapping, questions)


async def cacm(database: Database) -> Judged:
    """Abstracts of a journal, with 52 judged questions."""
    return await collection(database, DATA / "cacm.json.gz")


async def cacm_vectors(database: Database) -> Judged:
    """The same with stored vectors."""
    return await _with_vectors(database, await cacm(database))


async def cacm_dense(database: Database) -> Judged:
    """As many of its abstracts and links as CISI has: each abstract has 53 on average.

    Links are between like abstracts, and to some more than to others.
    """
    data = _read(DATA / "cacm.json.gz")
    documents = [one for one in data["documents"] if one["text"]][:DENSE_DOCUMENTS]
    vectors = LatentEmbedder([f"{one['title']}\n{one['text']}" for one in documents]).vectors
    names = [one["id"] for one in documents]
    links = [(names[a], names[b], 1.0) for a, b in draw_links(vectors, DENSE_LINKS)]
    dense = data | {"name": "cacm_dense", "documents": documents, "links": links}
    return await _with_vectors(database, await _stored(database, dense))


def draw_links(vectors: NDArray[np.float32], count: int) -> list[tuple[int, int]]:
    """Draw links between rows ``(n, d)`` that are alike, or popular."""
    popular = np.random.default_rng(SEED).normal(scale=POPULARITY, size=len(vectors))
    scores = vectors @ vectors.T + popular[:, None] + popular[None, :]
    first, second = np.triu_indices(len(vectors), 1)
    best = np.argsort(-scores[first, second], kind="stable")[:count]
    return list(zip(first[best].tolist(), second[best].tolist(), strict=True))


async def _with_vectors(database: Database, graph: Judged) -> Judged:
    _, rows = await database.call(TEXTS, {}, "read")
    embedder = LatentEmbedder([f"{row['title']}\n{row['text']}" for row in rows])
    for first in range(0, len(rows), PORTION):
        ids = [row["element_id"] for row in rows[first : first + PORTION]]
        vectors = embedder.vectors[first : first + PORTION].tolist()
        await database.call(SET_VECTORS, {"ids": ids, "vectors": vectors}, "write")
    return replace(graph, mapping=replace(graph.mapping, embedding="vector"), embedder=embedder)


async def planted(database: Database) -> Judged:
    """The standard library, with 200 sentences planted in its nodes, each asked about."""
    graph = await demo(database)
    _, rows = await database.call(NODES, {}, "read")
    chance = random.Random(SEED)
    chosen = chance.sample(rows, 200)
    things = chance.sample([*itertools.product(SUBSTANCES, OBJECTS, CITIES)], len(chosen))
    questions = []
    for place, (row, (substance, thing, city)) in enumerate(zip(chosen, things, strict=True)):
        fact = f"The {substance} {thing} of {city} was repaired; planted-fact-{place}-end."
        await database.call(ADD_TEXT, {"id": row["element_id"], "fact": fact}, "write")
        text = f"When was the {substance} {thing} of {city} repaired?"
        questions.append(Question(text, (row["element_id"],)))
    return Judged(graph.mapping, tuple(questions), marked=True)


async def stackoverflow(database: Database) -> Judged:
    """Titles of 300 questions that stand in the graph word by word."""
    graph = await stack_overflow(database)
    _, rows = await database.call(TITLES, {}, "read")
    return Judged(graph.mapping, _drawn(rows, 300, "{}"))


async def demo(database: Database) -> Judged:
    """The standard library, with 200 of its functions asked about by name."""
    file = demo_file(build_demo())
    await load(database, file, "demo")
    _, rows = await database.call(FUNCTIONS, {"graph": "demo"}, "read")
    return Judged(file.mapping, _drawn(rows, 200, "What does {} do?"))


Load = Callable[[Database], Coroutine[Any, Any, Judged]]
Measure = Callable[[str, Load, argparse.Namespace], Coroutine[Any, Any, dict[str, Any]]]
JUDGED: dict[str, Load] = {
    "cacm": cacm,
    "cacm_vectors": cacm_vectors,
    "cacm_dense": cacm_dense,
    "stackoverflow": stackoverflow,
    "demo": demo,
    "planted": planted,
}


def _drawn(rows: list[dict[str, Any]], count: int, form: str) -> tuple[Question, ...]:
    chosen = random.Random(SEED).sample(rows, min(count, len(rows)))
    return tuple(Question(form.format(row["title"]), (row["element_id"],)) for row in chosen)


def add_judged(parser: argparse.ArgumentParser) -> None:
    """Add ``--graph`` and ``--collection``, which choose what is measured."""
    parser.add_argument("--graph", action="append", choices=list(JUDGED), help="all by default")
    parser.add_argument(
        "--collection", action="append", type=Path, default=[], help="a file like cacm.json.gz"
    )


async def measure_judged(
    names: Iterable[str], options: argparse.Namespace, measure: Measure
) -> dict[str, Any]:
    """Measure the named graphs and the collections, but for those whose files are absent."""
    loads: dict[str, Load] = {name: JUDGED[name] for name in names}
    loads |= {path.name: partial(collection, path=path) for path in options.collection}
    runs = []
    for name, graph_load in loads.items():
        try:
            runs.append(await measure(name, graph_load, options))
        except InputFileError as error:
            program.say(f"{name} is left out: {error}")
    if not runs:
        raise UsageError("none of the graphs is there, so nothing was measured")
    return {"runs": runs}
