"""Graphs with questions, and the nodes that answer each."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.demo.graph import build_demo
from pgs_neo4j.demo.load import demo_file
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.ingest.load import load
from pgs_neo4j.model import GraphMapping
from tests.bench.graphs import DATA
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
SEED = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the element ids of the nodes that answer it."""

    text: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A graph in the database, its mapping, and questions."""

    mapping: GraphMapping
    questions: tuple[Question, ...]


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputFileError(f"{path} is not there; put the shared data beside this checkout")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


async def collection(database: Database, path: Path) -> Judged:
    """A file of documents, links, queries, and relevant documents, such as ``cacm.json.gz``."""
    data = _read(path)
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
        Question(data["queries"][query], tuple(ids[document] for document in relevant))
        for query, relevant in data["relevant"].items()
    )
    return Judged(mapping, questions)


async def cacm(database: Database) -> Judged:
    """Abstracts of a journal, with 52 judged questions."""
    return await collection(database, DATA / "cacm.json.gz")


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


JUDGED: dict[str, Callable[[Database], Coroutine[Any, Any, Judged]]] = {
    "cacm": cacm,
    "stackoverflow": stackoverflow,
    "demo": demo,
}


def _drawn(rows: list[dict[str, Any]], count: int, form: str) -> tuple[Question, ...]:
    chosen = random.Random(SEED).sample(rows, min(count, len(rows)))
    return tuple(Question(form.format(row["title"]), (row["element_id"],)) for row in chosen)
