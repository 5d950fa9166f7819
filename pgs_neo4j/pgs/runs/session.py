"""Stores sessions: their runs, coverage, and findings.

Coverage is counted by node: a node counts as read if a prompt with an accepted report contained all
of it. Each run writes to separate nodes, so concurrent runs of a session cannot overwrite each
other. Each write merges by key, so it can be repeated safely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import UnknownGraphError, UnknownSessionError, UsageError
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.llm.calls.ledger import Total
from pgs_neo4j.llm.calls.spending import run_days
from pgs_neo4j.model import Coverage, Mode, Partition, Sweep
from pgs_neo4j.pgs.runs import keys
from pgs_neo4j.pgs.runs.runs import Handle, total_properties, write_as_holder
from pgs_neo4j.pgs.runs.sweep_rows import sweep_rows

DEFAULT = "default"
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Read:
    """The ranks that a session has read in one generation, by partition id.

    ``texts`` are the ranks, among these, of nodes that were read with a text. ``unproven`` are
    other ranks, of nodes that were shown without proof that the model was given each whole node.
    """

    ranks: dict[int, frozenset[int]]
    texts: dict[int, frozenset[int]] = field(default_factory=dict)
    unproven: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[int, int]:
        """How many nodes of each partition were read."""
        return {partition: len(ranks) for partition, ranks in self.ranks.items()}

    @property
    def unproven_counts(self) -> dict[int, int]:
        """How many nodes of each partition were only shown without proof, and never read."""
        return {partition: len(ranks) for partition, ranks in self.unproven.items()}

    def shown(self, partition: int) -> frozenset[int]:
        """Return the ranks that need not be shown again: read, or shown without proof."""
        none: frozenset[int] = frozenset()
        return self.ranks.get(partition, none) | self.unproven.get(partition, none)

    def unread(self, partition: Partition) -> int:
        """Return how many nodes of a partition were neither read nor shown."""
        return partition.size - len(self.shown(partition.id))

    @property
    def text_counts(self) -> dict[int, int]:
        """How many nodes of each partition were read with a text."""
        return {partition: len(ranks) for partition, ranks in self.texts.items()}

    def coverage(self, partitions: Sequence[Partition], texts: int) -> Coverage:
        """Return the coverage in completely read partitions, in nodes, and in texts.

        ``texts`` is the number of nodes of the generation that have text.
        """
        return Coverage(
            partitions_swept=sum(
                len(self.ranks.get(partition.id, ())) >= partition.size for partition in partitions
            ),
            partitions_total=len(partitions),
            nodes_read=sum(len(ranks) for ranks in self.ranks.values()),
            nodes_total=sum(partition.size for partition in partitions),
            texts_read=sum(len(ranks) for ranks in self.texts.values()),
            texts_total=texts,
            nodes_unproven=sum(len(ranks) for ranks in self.unproven.values()),
        )

    def of_sweeps(self, sweeps: Iterable[Sweep]) -> Read:
        """Return the part of this reading that ``sweeps`` have contributed."""
        ranks: dict[int, set[int]] = {}
        texts: dict[int, set[int]] = {}
        unproven: dict[int, set[int]] = {}
        for sweep in sweeps:
            own = {rank for first, last in sweep.read for rank in range(first, last)}
            ranks.setdefault(sweep.partition, set()).update(own)
            with_text = own.difference(sweep.without_text)
            texts.setdefault(sweep.partition, set()).update(with_text)
            shown = {rank for first, last in sweep.unproven for rank in range(first, last)}
            unproven.setdefault(sweep.partition, set()).update(shown)
        return Read(
            _intersect(ranks, self.ranks),
            _intersect(texts, self.texts),
            _intersect(unproven, self.unproven),
        )


def _intersect(
    ranks: Mapping[int, set[int]], among: Mapping[int, frozenset[int]]
) -> dict[int, frozenset[int]]:
    """Return the ranks that are in both mappings, by partition id."""
    common = ((number, among.get(number, frozenset()) & own) for number, own in ranks.items())
    return {number: both for number, both in common if both}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A stored session, with its coverage of the graph's current generation.

    ``redefined`` means that this generation was made with an earlier definition of the graph, so
    the coverage is not known until the next question.
    """

    id: str
    graph: str
    created_at: str
    updated_at: str
    runs: int
    coverage: Coverage | None = None
    redefined: bool = False


async def open_session(db: Database, graph: str, session: str) -> None:
    """Create a session unless it exists. Raises UnknownGraphError."""
    rows = await db.write(
        queries.get("pgs/runs/merge_sessions"),
        uid=keys.session_uid(db.scope, graph, session),
        graph=graph,
        id=session,
    )
    if not rows:
        raise UnknownGraphError(f"graph {graph} was removed; add it again to continue")


def check_name(session: str) -> None:
    """Raise UsageError unless a session's name is short and printable."""
    if not session.strip() or len(session) > MAX_NAME or not session.isprintable():
        raise UsageError(
            f"session names must have 1 to {MAX_NAME} printable characters; got {session[:40]!r}"
        )


async def check_exists(db: Database, graph: str, session: str) -> None:
    """Raise UnknownSessionError when the graph has no such session."""
    rows = await db.read(
        queries.get("pgs/runs/session_by_uid"), uid=keys.session_uid(db.scope, graph, session)
    )
    if not rows:
        raise UnknownSessionError(
            f"graph {graph} has no session {session}; "
            f"'pgs sessions list --graph {graph}' shows those it has, and a question in mode "
            "'full' starts one"
        )


async def read_so_far(
    db: Database, graph: str, session: str, generation: str, before: str = ""
) -> Read:
    """Return what the session has read of a generation.

    Nodes that were read in older generations count if they still have the same text. With the id of
    a run as ``before``, only runs that began before it count.
    """
    rows = await db.read(
        queries.get("pgs/runs/read_coverage"),
        session=keys.session_uid(db.scope, graph, session),
        generation=generation,
        before=before,
        empty=text_hash(""),
    )
    return Read(
        {row["partition"]: frozenset(row["ranks"]) for row in rows if row["ranks"]},
        {row["partition"]: frozenset(row["texts"]) for row in rows if row["texts"]},
        {row["partition"]: frozenset(row["unproven"]) for row in rows if row["unproven"]},
    )


def find_candidates(
    mode: Mode, partitions: Sequence[Partition], read: Read
) -> tuple[tuple[Partition, ...], bool]:
    """Return the partitions that a run may sweep, and whether it skips nodes that were read.

    Mode ``full`` may sweep all. Modes ``continue`` and ``targeted`` may sweep the partitions with
    unread nodes, or all partitions if every node was read.
    """
    everything = tuple(partitions)
    if mode == "full":
        return everything, False
    unread = tuple(partition for partition in partitions if read.unread(partition))
    return (unread, True) if unread else (everything, False)


async def record_sweep(
    db: Database,
    handle: Handle,
    sweep: Sweep,
    replies: Sequence[Row] = (),
    total: Total | None = None,
) -> None:
    """Record a sweep, its findings, and their citations in one transaction.

    Replaces an earlier record of this sweep that had fewer passes. ``replies`` and the ``total``
    that the run has spent are stored in the same transaction. Raises RunLostError when the run or
    the partition was removed, or another process has taken the run over.
    """
    await write_as_holder(
        db,
        handle,
        queries.get("pgs/runs/write_sweeps"),
        generation=sweep.generation,
        partition=sweep.partition,
        **sweep_rows(handle.id, sweep),
        replies=list(replies),
        spent=total_properties(total) if total else {},
        days=run_days(handle.id, total.days) if total else [],
    )


async def list_sessions(db: Database, graph: str | None) -> list[SessionInfo]:
    """Return the sessions of one graph or of all graphs, the most recently used first."""
    rows = await db.read(
        queries.get("pgs/runs/read_sessions"), graph=graph or "", suffix=db.scope.suffix
    )
    names = ("id", "graph", "created_at", "updated_at", "runs")
    return [SessionInfo(**{name: row[name] for name in names}) for row in rows]


async def show_runs(db: Database, graph: str, session: str) -> list[dict[str, Any]]:
    """Return the runs of a session, oldest first.

    Each run has its stored properties, its ``sweeps`` as rows, and its ``definition``: the mapping
    of the graph at that time, None if it is not known.
    """
    await check_exists(db, graph, session)
    rows = await db.read(
        queries.get("pgs/runs/read_runs"), uid=keys.session_uid(db.scope, graph, session)
    )
    return [
        {**row["run"], "sweeps": row["sweeps"], "definition": row["definition"]} for row in rows
    ]


async def delete_session(db: Database, graph: str, session: str) -> None:
    """Delete a session and everything it recorded. Raises UnknownSessionError."""
    await check_exists(db, graph, session)
    await delete_stored_session(db, keys.session_uid(db.scope, graph, session))


async def delete_stored_session(db: Database, uid: str) -> None:
    """Delete a session by its id in the database, and everything that it recorded."""
    await db.write(queries.get("pgs/runs/delete_sessions"), uid=uid)
