"""Lets only one process at a time write the documents of a graph.

The writer also decides which entity types become labels of their nodes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import Holder, keep_beating
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.errors import BusyError, LeaseLostError
from pgs_neo4j.text.extraction.schema import MOST_TYPES

HELD_S = 60.0
"""Seconds after which the right to write expires unless it is renewed."""
RENEWED_S = 15.0
CLOSE_S = 5.0
_in_use: set[str] = set()
"""The holders in this process that have the right to write, or that are about to take it."""


@dataclass(frozen=True, slots=True)
class TypeLabels:
    """Chooses the entity types of a graph that become labels. Every type is also a property.

    ``taken`` has the labels of graphs' views, because an entity with one of these labels would
    appear in that view. ``used`` has the types that are labels so far. Neo4j never forgets the name
    of a label, so only the first ``MOST_TYPES`` types become labels.
    """

    taken: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)

    def reserve(self, types: Iterable[str]) -> None:
        """Make labels of the types in a schema, before other types can use up the limit."""
        self.used.update(types)

    def labels_of(self, type_: str) -> list[str]:
        """Return the label of a type, or an empty list if it has none."""
        if type_ in self.taken:
            return []
        if type_ not in self.used and len(self.used) >= MOST_TYPES:
            return []
        self.used.add(type_)
        return [type_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The right to write the documents of a graph, with the label of its view and its resolution.

    ``describer`` is the signature of the describer. Without a describer, an entity's description
    consists of its first few descriptions. ``types`` chooses the entity types that become labels.
    """

    graph: str
    holder: str
    label: str
    resolution: Resolution = field(default_factory=Resolution)
    describer: str = ""
    types: TypeLabels = field(default_factory=TypeLabels)


@asynccontextmanager
async def hold_documents(
    db: Database, graph: str, label: str, describer: str = ""
) -> AsyncIterator[Writer]:
    """Hold the right to write the documents of a graph while the body runs.

    The right is taken over from a process on this machine that has ended. It is also taken over
    from an earlier body of this process that ended while the database was unavailable. If the right
    is lost, the body is canceled. The schema must exist. Raises BusyError while another writer has
    the right, and LeaseLostError if the right is lost.
    """
    with _unique_holder() as holder:
        writer = Writer(graph=graph, holder=holder, label=label, describer=describer)
        async with _hold_right(db, writer):
            yield writer


@contextmanager
def _unique_holder() -> Iterator[str]:
    """Yield the name of a new holder, which counts as alive until the body ends."""
    holder = str(Holder.unique())
    _in_use.add(holder)
    try:
        yield holder
    finally:
        _in_use.discard(holder)


@asynccontextmanager
async def _hold_right(db: Database, writer: Writer) -> AsyncIterator[None]:
    graph = writer.graph
    holder = await _take_right(db, writer)
    if holder and _has_ended(holder):
        holder = await _take_right(db, writer, former=holder)
    if holder:
        raise BusyError(
            f"{holder} is writing the documents of graph {graph}; wait until it ends, and try again"
        )

    async def renew() -> float:
        if await _take_right(db, writer):
            raise LeaseLostError(f"another process began to write the documents of graph {graph}")
        return RENEWED_S

    try:
        async with keep_beating(renew, first_s=RENEWED_S, close_s=CLOSE_S):
            yield
    finally:
        query = queries.get("documents/publish/release_ingest")
        await to_the_end(db.write(query, graph=graph, holder=writer.holder))


async def _take_right(db: Database, writer: Writer, former: str = "") -> str:
    """Take or renew the right, even if ``former`` holds it.

    Returns the holder that has the right instead, empty on success.
    """
    rows = await db.write(
        queries.get("documents/publish/take_ingest"),
        graph=writer.graph,
        holder=writer.holder,
        former=former,
        seconds=HELD_S,
    )
    return "" if rows[0]["taken"] else str(rows[0]["holder"])


def _has_ended(holder: str) -> bool:
    process = Holder.parse(holder)
    if process is None:
        return False
    return process.has_ended() or (process.is_this_process() and holder not in _in_use)


def writing_lost_error(graph: str) -> LeaseLostError:
    """Return the error for a writer whose right another process has taken."""
    return LeaseLostError(
        f"another process began to write the documents of graph {graph}; what was published "
        "stays. Wait until it ends, and try again"
    )


async def read_type_labels(db: Database, graph: str, own: Iterable[str]) -> TypeLabels:
    """Return the choice of labels for a graph's types; ``own`` has the labels of the graph's view.

    Raises DatabaseError.
    """
    taken, used = {*own}, set[str]()
    for row in await db.read(queries.get("documents/publish/read_type_labels"), graph=graph):
        used.update(row["used"])
        for mapping in row["mappings"]:
            taken.update(json.loads(mapping).get("labels") or ())
    return TypeLabels(frozenset(taken), used)
