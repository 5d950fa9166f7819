"""Loads real graphs of the shared folder into a database."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.loading.brain import read_brain
from pgs_neo4j.documents.loading.graph_file import GraphFile
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.engine.survey import propose, survey
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model import GraphMapping
from tests.bench.graphs import BRAIN, DATA
from tests.stackoverflow import ARCHIVE, load_stack_overflow

STACK_OVERFLOW = "stackoverflow"
FACT = re.compile(r"planted-fact-\d+-end")
WITH_TEXT = "MATCH (n:{labels}) WHERE n.{text} IS NOT NULL RETURN elementId(n) AS id ORDER BY id"
PLANT = """
UNWIND range(0, size($ids) - 1) AS i
MATCH (n) WHERE elementId(n) = $ids[i]
SET n.{text} = n.{text} + ' planted-fact-' + i + '-end'
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A graph in the database; ``labels`` and ``text`` are where facts can be planted."""

    mapping: GraphMapping
    labels: str
    text: str


async def physics2(database: Database) -> Loaded:
    """The original engine's demo graph."""
    result = await load(database, brain(), BRAIN)
    return Loaded(result.mapping, result.label, "concept")


async def stack_overflow(database: Database) -> Loaded:
    """Neo4j's example, with the mapping that our survey proposes."""
    await load_stack_overflow(database, _there(ARCHIVE))
    mapping = propose(await survey(database)).mapping
    return Loaded(mapping, "Answer|Question", "body_markdown")


GRAPHS: dict[str, Callable[[Database], Coroutine[Any, Any, Loaded]]] = {
    BRAIN: physics2,
    STACK_OVERFLOW: stack_overflow,
}


def brain() -> GraphFile:
    """The demo graph as a file. Raises InputFileError where it is absent."""
    return read_brain(_there(f"{BRAIN}.json.gz"))


def copied(file: GraphFile, times: int) -> GraphFile:
    """So many copies side by side, each with keys of its own and no relationship to another."""
    size = len(file.nodes)
    return replace(
        file,
        nodes=tuple(
            replace(node, id=f"{copy}/{node.id}") for copy in range(times) for node in file.nodes
        ),
        relationships=tuple(
            replace(link, source=link.source + copy * size, target=link.target + copy * size)
            for copy in range(times)
            for link in file.relationships
        ),
    )


async def plant(database: Database, graph: Loaded, facts: int, seed: int) -> dict[str, str]:
    """Write facts into as many nodes, chosen by lot: what is written, and the node's id."""
    _, rows = await database.call(
        WITH_TEXT.format(labels=graph.labels, text=graph.text), {}, "read"
    )
    ids = [row["id"] for row in rows]
    chosen = random.Random(seed).sample(ids, min(facts, len(ids)))
    await database.call(PLANT.format(text=graph.text), {"ids": chosen}, "write")
    return {f"planted-fact-{place}-end": node for place, node in enumerate(chosen)}


def _there(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        raise InputFileError(f"{path} is not there; put the shared data beside this checkout")
    return path
