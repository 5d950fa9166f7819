"""Removes the text of documents that are deleted during a run from the memory of the run.

The deletion itself removes text that the run has already recorded. Later records must not bring the
text back, so bullets and cached replies that contain some of it are left out. Nodes that were read
still count as read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import Report, Sweep
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.runs.sweeps import Recovered

NOTE = (
    "documents were deleted during this run; what its reports quote of them was left out, and "
    "nothing of it is stored"
)

T = TypeVar("T")
HoldsDeleted = Callable[[object], bool]


async def notice_deletions(db: Database, log: RunLog) -> HoldsDeleted:
    """Check for deletions that began since the last write, and warn once if there are any.

    Returns a function that reports whether a value contains deleted text. Raises TextDeletedError
    after a purge, and DatabaseError.
    """
    if db.fence is None:
        return lambda _: False
    await db.fence.renew(db)
    if db.fence.moved and NOTE not in log.warnings:
        log.warn(NOTE)
    return db.fence.holds


def forget_deleted(sweep: Sweep, holds: HoldsDeleted) -> Sweep:
    """Return a sweep without the bullets and errors that contain deleted text."""
    if not holds(sweep):
        return sweep
    report = None if sweep.report is None else _forget_in_report(sweep.report, holds)
    return replace(sweep, report=report, errors=_without_deleted(sweep.errors, holds))


def forget_recovered(earlier: Sequence[Recovered], holds: HoldsDeleted) -> tuple[Recovered, ...]:
    """Return the sweeps of earlier runs without bullets and errors that contain deleted text."""
    return tuple(replace(one, sweep=forget_deleted(one.sweep, holds)) for one in earlier)


def forget_replies(replies: Iterable[Row], holds: HoldsDeleted) -> list[Row]:
    """Return the replies that contain no deleted text."""
    return [row for row in replies if not holds(row)]


def _forget_in_report(report: Report, holds: HoldsDeleted) -> Report:
    return replace(
        report,
        domain_state="" if holds(report.domain_state) else report.domain_state,
        findings=_without_deleted(report.findings, holds),
        flags=_without_deleted(report.flags, holds),
        absences=_without_deleted(report.absences, holds),
        in_doubt=_without_deleted(report.in_doubt, holds),
        struck=_without_deleted(report.struck, holds),
    )


def _without_deleted(values: tuple[T, ...], holds: HoldsDeleted) -> tuple[T, ...]:
    return tuple(one for one in values if not holds(one))
