"""Stores sessions: what was asked, read, and found.

Coverage is counted by node: a node is read when it stood whole in a prompt whose report was
accepted. Each run writes its own nodes, so concurrent runs in one session lose nothing. Every write
has a key, so repeating it is harmless.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.errors import UnknownGraphError, UnknownSessionError, UsageError
from pgs_neo4j.model import Citation, Coverage, Finding, Flag, Mode, Partition, Report, Sweep
from pgs_neo4j.runs import keys
from pgs_neo4j.runs.runs import Handle, taken_away
from pgs_neo4j.runs.verdicts import citations_json, quotes_json

DEFAULT = "default"
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Read:
    """The ranks that a session has read, by partition id.

    They are of one generation.
    """

    ranks: dict[int, frozenset[int]]

    @property
    def counts(self) -> dict[int, int]:
        """How many nodes of each partition were read."""
        return {partition: len(ranks) for partition, ranks in self.ranks.items()}

    def unread(self, partition: Partition) -> int:
        """How many nodes of a partition are unread."""
        return partition.size - len(self.ranks.get(partition.id, frozenset()))

    def coverage(self, partitions: Sequence[Partition]) -> Coverage:
        """Coverage in partitions (those read whole) and in nodes."""
        return Coverage(
            partitions_swept=sum(not self.unread(partition) for partition in partitions),
            partitions_total=len(partitions),
            nodes_read=sum(len(ranks) for ranks in self.ranks.values()),
            nodes_total=sum(partition.size for partition in partitions),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A stored session, with its coverage of the graph's current generation."""

    id: str
    graph: str
    created_at: str
    updated_at: str
    runs: int
    coverage: Coverage | None = None


async def open_session(db: Database, graph: str, session: str) -> None:
    """Create a session, or find it there already. Raises UnknownGraphError."""
    rows = await db.write(
        queries.get("runs/merge_sessions"),
        uid=keys.session_uid(graph, session),
        graph=graph,
        id=session,
    )
    if not rows:
        raise UnknownGraphError(f"graph {graph} was removed; add it again to continue")


def check_name(session: str) -> None:
    """Raise UsageError unless a session's name is short and printable."""
    if not session.strip() or len(session) > MAX_NAME or not session.isprintable():
        raise UsageError(
            f"session names must be 1-{MAX_NAME} printable characters; got {session[:40]!r}"
        )


async def check_exists(db: Database, graph: str, session: str) -> None:
    """Raise UnknownSessionError when the graph has no such session."""
    rows = await db.read(queries.get("runs/session_by_uid"), uid=keys.session_uid(graph, session))
    if not rows:
        raise UnknownSessionError(
            f"graph {graph} has no session {session}; 'pgs sessions list' shows those it has, "
            "and asking in mode 'full' begins one"
        )


async def read_so_far(
    db: Database, graph: str, session: str, generation: str, before: str = ""
) -> Read:
    """What the session has read of a generation.

    What it read of older generations counts. With the id of a run as ``before``, only runs that
    began before it count.
    """
    rows = await db.read(
        queries.get("runs/read_coverage"),
        session=keys.session_uid(graph, session),
        generation=generation,
        before=before,
    )
    return Read({row["partition"]: frozenset(row["ranks"]) for row in rows})


def find_candidates(
    mode: Mode, partitions: Sequence[Partition], read: Read
) -> tuple[tuple[Partition, ...], bool]:
    """Partitions a run may sweep, and whether it skips read nodes.

    ``full`` takes all. ``continue`` and ``targeted`` take those with unread nodes, or all once
    every node was read.
    """
    everything = tuple(partitions)
    if mode == "full":
        return everything, False
    unread = tuple(partition for partition in partitions if read.unread(partition))
    return (unread, True) if unread else (everything, False)


async def record_sweep(
    db: Database, handle: Handle, sweep: Sweep, replies: Sequence[Row] = ()
) -> None:
    """Record a sweep, its findings, and their citations in one transaction.

    A sweep that is recorded again, with more passes, replaces what was there. ``replies`` are
    stored with it. Raises RunLostError when the run or the partition was removed.
    """
    run_id, partition_id = handle.id, sweep.partition
    report = sweep.report or Report(partition=partition_id)
    findings = [
        _finding_row(keys.finding_id(run_id, partition_id, place), place, finding)
        for place, finding in enumerate(report.findings)
    ]
    flags = [
        _flag_row(keys.flag_id(run_id, partition_id, place), place, flag)
        for place, flag in enumerate(report.flags)
    ]
    cited = [
        (row["id"], finding.citations)
        for row, finding in zip(findings, report.findings, strict=True)
    ]
    cited += [(row["id"], flag.citations) for row, flag in zip(flags, report.flags, strict=True)]
    rows = await db.write(
        queries.get("runs/write_sweeps"),
        run=run_id,
        holder=handle.holder,
        generation=sweep.generation,
        partition=partition_id,
        sweep=_sweep_row(keys.sweep_id(run_id, partition_id), sweep),
        findings=findings,
        flags=flags,
        absences=[
            {
                "id": keys.absence_id(run_id, partition_id, place),
                "text": absence.text,
                "place": place,
            }
            for place, absence in enumerate(report.absences)
        ],
        citations=[
            _citation_row(bullet_id, citation)
            for bullet_id, citations in cited
            for citation in citations
            if citation.valid
        ],
        replies=list(replies),
    )
    if not rows:
        raise taken_away()


def _finding_row(finding_id: str, place: int, finding: Finding) -> Row:
    return {
        "id": finding_id,
        "text": finding.text,
        "place": place,
        "supported": finding.supported,
        "misquoted": sum(not quote.found for quote in finding.quotes),
        "citations": citations_json(finding.citations),
        "quotes": quotes_json(finding.quotes),
    }


def _flag_row(flag_id: str, place: int, flag: Flag) -> Row:
    return {
        "id": flag_id,
        "text": flag.text,
        "place": place,
        "target": flag.target,
        "citations": citations_json(flag.citations),
    }


async def list_sessions(db: Database, graph: str | None) -> list[SessionInfo]:
    """Sessions of one graph or of all, the one used last first."""
    rows = await db.read(queries.get("runs/read_sessions"), graph=graph or "")
    names = ("id", "graph", "created_at", "updated_at", "runs")
    return [SessionInfo(**{name: row[name] for name in names}) for row in rows]


async def show_runs(db: Database, graph: str, session: str) -> list[dict[str, Any]]:
    """Runs of a session, oldest first.

    Each has its stored properties, and a row for each of its sweeps.
    """
    await check_exists(db, graph, session)
    rows = await db.read(queries.get("runs/read_runs"), uid=keys.session_uid(graph, session))
    return [{**row["run"], "sweeps": row["sweeps"]} for row in rows]


async def delete_session(db: Database, graph: str, session: str) -> None:
    """Delete a session and all it recorded. Raises UnknownSessionError."""
    await check_exists(db, graph, session)
    await db.write(queries.get("runs/delete_sessions"), uid=keys.session_uid(graph, session))


def _sweep_row(sweep_id: str, sweep: Sweep) -> Row:
    return {
        "id": sweep_id,
        "partition": sweep.partition,
        "status": str(sweep.status),
        "nodes": sweep.nodes,
        "nodes_read": sweep.nodes_read,
        "read_first": [first for first, _ in sweep.read],
        "read_last": [last for _, last in sweep.read],
        "passes": sweep.passes,
        "passes_accepted": sweep.passes_accepted,
        "domain_state": sweep.report.domain_state if sweep.report else None,
        "wave": sweep.wave,
        "errors": list(sweep.errors),
        "usage": json.dumps(
            {
                "calls": sweep.usage.calls,
                "input_tokens": sweep.usage.input_tokens,
                "output_tokens": sweep.usage.output_tokens,
                "cached": sweep.usage.cached,
                "estimated": sweep.usage.estimated,
            }
        ),
        "seconds": sweep.seconds,
    }


def _citation_row(key: str, citation: Citation) -> Row:
    return {"id": key, "rank": citation.rank, "alias": citation.alias}
