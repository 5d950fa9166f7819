"""Keeps what a deletion searches for until its search has ended, without any text.

If the process is killed after the documents are gone, the next deletion continues the search. Kept
are hashes of the ids of documents, and of runs of words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import MOST_FREED, forget_ended
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.writer import Writer, lost_right
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.text.traces import Traces

PORTION = 1_000_000
"""Bytes of runs that one node holds, at most; a run has eight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunDeletions:
    """The deletions of a graph whose search has not ended; ``label`` is that of the graph.

    ``documents`` are hashes of ids, and ``uids`` those of the nodes that hold all this.
    """

    uids: tuple[str, ...] = ()
    label: str = ""
    documents: frozenset[str] = frozenset()
    sentences: int = 0
    short: int = 0

    def has(self, document: str) -> bool:
        """Whether a document, by its id, was to be deleted."""
        return digest(document) in self.documents


async def read_begun(db: Database, graph: str) -> BegunDeletions:
    """Return the deletions of a graph whose search has not ended. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/deletion/read_deletions"), graph=graph)
    return BegunDeletions(
        uids=tuple(row["uid"] for row in rows),
        label=rows[0]["label"] if rows else "",
        documents=frozenset(hashed for row in rows for hashed in row["documents"]),
        sentences=sum(row["sentences"] for row in rows),
        short=sum(row["short"] for row in rows),
    )


async def add_begun(db: Database, begun: BegunDeletions, traces: Traces) -> None:
    """Also look for what these deletions look for. Raises DatabaseError."""
    traces.sentences += begun.sentences
    traces.short += begun.short
    query = queries.get("documents/deletion/read_deletion_runs")
    for uid in begun.uids:
        for row in await db.read(query, uid=uid):
            traces.add_runs(row["runs"], row["sizes"])


async def keep_deletion(
    db: Database, writer: Writer, ids: Sequence[str], traces: Traces, begun: BegunDeletions
) -> list[str]:
    """Keep what a deletion looks for before it begins, and return the ids of what keeps it.

    The counts of those that began before are kept already. Raises DatabaseError, and LeaseLostError
    if another writer took over.
    """
    runs, own = traces.runs, f"{writer.graph}/{uuid4().hex}"
    documents = sorted(set(map(digest, ids)) - begun.documents)
    first = {
        "documents": documents,
        "sentences": traces.sentences - begun.sentences,
        "short": traces.short - begun.short,
    }
    rest: Row = {"documents": [], "sentences": 0, "short": 0}
    uids = []
    for start in range(0, max(1, len(runs)), PORTION):
        uids.append(f"{own}/{start}")
        properties = {
            **(rest if start else first),
            "label": writer.label,
            "sizes": traces.sizes,
            "runs": runs[start : start + PORTION],
        }
        query = queries.get("documents/deletion/keep_deletion")
        held = {"graph": writer.graph, "holder": writer.holder}
        if not await db.write(query, **held, uid=uids[-1], properties=properties):
            raise lost_right(writer.graph)
    return uids


async def end_deletions(db: Database, writer: Writer, uids: Sequence[str]) -> None:
    """End deletions whose search has ended.

    What they looked for is forgotten when no run is in progress that began before. Raises
    DatabaseError, and LeaseLostError if another writer took over.
    """
    query = queries.get("documents/deletion/set_ended")
    held = {"graph": writer.graph, "holder": writer.holder}
    for first in range(0, len(uids), MOST_FREED):
        if not await db.write(query, **held, uids=uids[first : first + MOST_FREED]):
            raise lost_right(writer.graph)
    await forget_ended(db)
