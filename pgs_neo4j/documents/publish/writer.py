"""Lets one process at a time write the documents of a graph.

The writer also decides which types of entities are labels of their nodes.
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
"""Seconds for which the right to write lasts unless it is renewed."""
RENEWED_S = 15.0
CLOSE_S = 5.0
_in_use: set[str] = set()
"""Holders of this process whose bodies run, or that are about to take the right."""


@dataclass(frozen=True, slots=True)
class TypeLabels:
    """Chooses the types of a graph that are labels. Each type is a property in any case.

    ``taken`` are labels of graphs: an entity with one of them would appear in the view of that
    graph. ``used`` are the types that are labels so far. Neo4j never forgets the name of a label,
    so only the first ``MOST_TYPES`` become one.
    """

    taken: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)

    def reserve(self, types: Iterable[str]) -> None:
        """Make labels of types that people chose, whatever comes first."""
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
    """The right to write the documents of a graph, the label of its view, and how names resolve.

    ``describer`` is the signature of what describes entities that many chunks describe; without
    one, a few descriptions speak for all. ``types`` are those of its entities that are labels.
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

    It is taken over from a dead process of this machine, and from a body of this process that ended
    while the database was away. Raises BusyError while another writer holds it. When it is lost,
    the body is canceled, and LeaseLostError is raised. The schema must exist.
    """
    with _unique_holder() as holder:
        writer = Writer(graph=graph, holder=holder, label=label, describer=describer)
        async with _hold(db, writer):
            yield writer


@contextmanager
def _unique_holder() -> Iterator[str]:
    """Name a holder that counts as alive in this process until the body ends."""
    holder = str(Holder.unique())
    _in_use.add(holder)
    try:
        yield holder
    finally:
        _in_use.discard(holder)


@asynccontextmanager
async def _hold(db: Database, writer: Writer) -> AsyncIterator[None]:
    graph = writer.graph
    holder = await _take(db, writer)
    if holder and _has_ended(holder):
        holder = await _take(db, writer, former=holder)
    if holder:
        raise BusyError(
            f"{holder} is writing the documents of graph {graph}; wait until it ends, and try again"
        )

    async def renew() -> float:
        if await _take(db, writer):
            raise LeaseLostError(f"another process began to write the documents of graph {graph}")
        return RENEWED_S

    try:
        async with keep_beating(renew, first_s=RENEWED_S, close_s=CLOSE_S):
            yield
    finally:
        query = queries.get("documents/release_ingest")
        await to_the_end(db.write(query, graph=graph, holder=writer.holder))


async def _take(db: Database, writer: Writer, former: str = "") -> str:
    """Take or renew the right, also from ``former``.

    Returns who holds it instead, empty on success.
    """
    rows = await db.write(
        queries.get("documents/take_ingest"),
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


def lost_right(graph: str) -> LeaseLostError:
    """Return the error of a writer whose right another process took."""
    return LeaseLostError(
        f"another process began to write the documents of graph {graph}; what was published "
        "stays. Wait until it ends, and try again"
    )


async def read_type_labels(db: Database, graph: str, own: Iterable[str]) -> TypeLabels:
    """Return the labels of a graph's types, where ``own`` are the labels of its view.

    Raises DatabaseError.
    """
    taken, used = {*own}, set[str]()
    for row in await db.read(queries.get("documents/read_type_labels"), graph=graph):
        used.update(row["used"])
        for mapping in row["mappings"]:
            taken.update(json.loads(mapping).get("labels") or ())
    return TypeLabels(frozenset(taken), used)
