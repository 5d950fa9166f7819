"""Claims partitions, so that runs of one session read different ones.

A claim belongs to a running run. It is free as soon as the run has ended, its process is gone, or
it gives no sign of life any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.heartbeat import SILENT_S
from pgs_neo4j.pgs.runs import keys
from pgs_neo4j.pgs.runs.runs import Handle, read_running, write_as_holder


@dataclass(frozen=True, slots=True)
class Claimed:
    """The partitions that other running runs of a session have claimed, by run.

    ``ended`` are the runs whose process has ended. ``updated_at`` is the time when the last run of
    the session began or ended.
    """

    by_run: Mapping[str, frozenset[int]] = field(default_factory=dict)
    ended: tuple[str, ...] = ()
    updated_at: str = ""

    @property
    def partitions(self) -> frozenset[int]:
        """All of them."""
        return frozenset[int]().union(*self.by_run.values())


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """``taken`` are partitions that others have claimed; if there are any, nothing was claimed.

    ``changed``: a run of the session began or ended since its claims were read.
    """

    taken: frozenset[int]
    changed: bool


async def read_claimed(
    db: Database, graph: str, session: str, generation: str, run: str = ""
) -> Claimed:
    """Return what runs other than ``run`` have claimed in a generation. Raises DatabaseError."""
    running = await read_running(db, keys.session_uid(graph, session))
    return Claimed(
        {
            other.id: other.claimed
            for other in running
            if not other.ended and other.generation == generation and other.id != run
        },
        tuple(other.id for other in running if other.ended),
        running[0].updated_at if running else "",
    )


async def claim_partitions(
    db: Database,
    handle: Handle,
    session_uid: str,
    partition_ids: Iterable[int],
    claimed: Claimed | None = None,
) -> ClaimResult:
    """Claim partitions for a run, all or none.

    ``claimed`` is what other runs had claimed before; without it, they may share a claim. Raises
    RunLostError when another process has taken the run over.
    """
    rows = await write_as_holder(
        db,
        handle,
        queries.get("pgs/runs/claim_partitions"),
        session=session_uid,
        partitions=sorted(partition_ids),
        shared=claimed is None,
        ended=list(claimed.ended) if claimed else [],
        silent_s=SILENT_S,
    )
    changed = claimed is not None and rows[0]["updated_at"] != claimed.updated_at
    return ClaimResult(frozenset(rows[0]["taken"]), changed)
