"""Reads recorded sweeps back.

A run may fail or be interrupted after its reports were paid for. The session's next run in mode
``continue`` or ``targeted`` does not read their nodes again, so its synthesis includes these
reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal, NotRequired, TypeVar

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict  # on Python 3.11, pydantic accepts only this TypedDict

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.stored_data import FIX, Count, check_stored, parse_stored, unreadable
from pgs_neo4j.model import (
    Absence,
    Citation,
    DoubtedSentence,
    Finding,
    Flag,
    Report,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.pgs.runs import keys, runs
from pgs_neo4j.pgs.runs.sweep_rows import Name, parse_citations, parse_quotes
from pgs_neo4j.pgs.sweeping.strict import marked_sentences


class CitedNode(TypedDict):
    """A node that a bullet cites, if it is still in the graph."""

    alias: str
    element_id: str


class StoredBullet(TypedDict):
    """A finding or a flag; ``citations`` is JSON."""

    place: Count
    text: str
    citations: str
    cited: list[CitedNode]


class StoredFinding(StoredBullet):
    """A finding; ``quotes`` is JSON, and ``doubts`` is None if its claims were not checked."""

    quotes: str
    doubts: list[str] | None


class StoredFlag(StoredBullet):
    """An outbound flag."""

    target: Count | None


class StoredAbsence(TypedDict):
    """An absence."""

    place: Count
    text: str


class StoredSweep(TypedDict):
    """The properties of a sweep; ``usage`` is JSON. A failed sweep has no ``domain_state``."""

    status: Literal["accepted", "partial", "failed", "unread"]
    nodes: Count
    read_first: list[Count]
    read_last: list[Count]
    passes: Count
    passes_accepted: Count
    errors: list[str]
    domain_state: NotRequired[str | None]
    struck: list[str]
    struck_reasons: list[str]
    usage: str
    seconds: Annotated[float, Field(allow_inf_nan=False)]
    wave: Count
    without_text: list[Count]
    unproven_first: list[Count]
    unproven_last: list[Count]


class RecordedSweepRow(TypedDict):
    """A row of ``read_sweeps``: a sweep with its bullets, in any order."""

    id: str
    partition: Count
    sweep: StoredSweep
    findings: list[StoredFinding]
    flags: list[StoredFlag]
    absences: list[StoredAbsence]


class UnsynthesizedRow(RecordedSweepRow):
    """A row of ``read_unsynthesized``.

    ``current`` means that the partition ids in its flags belong to the generation that is read.
    """

    run: str
    current: bool


Bullet = TypeVar("Bullet", StoredFinding, StoredFlag, StoredAbsence)

_RECORDED, _UNSYNTHESIZED = TypeAdapter(RecordedSweepRow), TypeAdapter(UnsynthesizedRow)
_USAGE = TypeAdapter(Usage)
_WHAT = "a report"


@dataclass(frozen=True, slots=True)
class Recovered:
    """A sweep of an earlier run, and its stored id ``key``."""

    key: str
    sweep: Sweep


async def read_unsynthesized(
    db: Database, graph: str, session: str, run: str, generation: str
) -> list[Recovered]:
    """Return the sweeps of the session's other runs that no synthesis has used.

    They belong to partitions of ``generation``, are sorted by id, and include the sweeps of killed
    runs. ``run`` is the id of the current run, empty without one. Raises StoredDataError.
    """
    rows = await db.read(
        queries.get("pgs/runs/read_unsynthesized"),
        session=keys.session_uid(db.scope, graph, session),
        run=run,
        given_up=await runs.find_dead_runs(db, keys.session_uid(db.scope, graph, session)),
        generation=generation,
    )
    return [
        Recovered(row["id"], _parse_sweep(row, generation, current=row["current"], run=row["run"]))
        for row in (check_stored(_UNSYNTHESIZED, row, _WHAT, FIX) for row in rows)
    ]


async def read_recorded_sweeps(
    db: Database, run: str, generation: str, partition: int | None = None
) -> list[Sweep]:
    """Return the sweeps that a run has recorded, sorted by partition.

    With ``partition``, return only the sweep of that partition. Raises StoredDataError.
    """
    rows = await db.read(
        queries.get("pgs/runs/read_sweeps"),
        run=run,
        partition=partition,
    )
    return [_parse_sweep(check_stored(_RECORDED, row, _WHAT, FIX), generation) for row in rows]


def _parse_sweep(
    row: RecordedSweepRow, generation: str, *, current: bool = True, run: str = ""
) -> Sweep:
    stored, partition = row["sweep"], row["partition"]
    if len(stored["struck"]) != len(stored["struck_reasons"]):
        raise unreadable(_WHAT, "its struck findings lack reasons", FIX)
    state = stored.get("domain_state") or ""
    # In another generation, the number in a flag may belong to another partition.
    flags = tuple(
        Flag(
            text=flag["text"],
            target=flag["target"] if current else None,
            citations=_locate_citations(flag, partition),
        )
        for flag in _sort_bullets(row["flags"])
    )
    report = Report(
        partition=partition,
        domain_state=state,
        findings=tuple(
            _parse_finding(finding, partition) for finding in _sort_bullets(row["findings"])
        ),
        flags=flags,
        absences=tuple(Absence(text=absence["text"]) for absence in _sort_bullets(row["absences"])),
        in_doubt=marked_sentences(state, flags, partition),
        struck=tuple(
            DoubtedSentence(text=text, reason=reason, partition=partition)
            for text, reason in zip(stored["struck"], stored["struck_reasons"], strict=True)
        ),
    )
    read = _parse_ranges(stored["read_first"], stored["read_last"])
    unproven = _parse_ranges(stored["unproven_first"], stored["unproven_last"])
    # Ranges are expanded to single ranks later, so damaged ranges that are too long would fill the
    # memory.
    if sum(last - first for first, last in read + unproven) > stored["nodes"]:
        raise unreadable(_WHAT, "its ranges have more nodes than it", FIX)
    status = SweepStatus(stored["status"])
    return Sweep(
        partition=partition,
        status=status,
        nodes=stored["nodes"],
        read=read,
        passes=stored["passes"],
        passes_accepted=stored["passes_accepted"],
        report=None if status is SweepStatus.FAILED else report,
        errors=tuple(stored["errors"]),
        usage=parse_stored(_USAGE, stored["usage"], f"the usage of {_WHAT}", FIX),
        seconds=stored["seconds"],
        generation=generation,
        wave=stored["wave"],
        run=run,
        without_text=tuple(stored["without_text"]),
        unproven=unproven,
    )


def _parse_ranges(first: Sequence[int], last: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return half-open ranges of ranks. Raises StoredDataError unless they are in order."""
    ranges = tuple(zip(first, last, strict=False))
    ends = [end for one in ranges for end in one]
    if len(first) != len(last) or any(one > other for one, other in pairwise(ends)):
        raise unreadable(_WHAT, "its ranges of nodes are malformed", FIX)
    return ranges


def _parse_finding(row: StoredFinding, partition: int) -> Finding:
    return Finding(
        text=row["text"],
        citations=_locate_citations(row, partition),
        quotes=parse_quotes(row["quotes"]),
        doubts=tuple(row["doubts"] or ()),
    )


def _locate_citations(row: StoredBullet, partition: int) -> tuple[Citation, ...]:
    element_ids: dict[Name, str] = {
        (partition, cited["alias"]): cited["element_id"] for cited in row["cited"]
    }
    return parse_citations(row["citations"], element_ids)


def _sort_bullets(rows: Sequence[Bullet]) -> list[Bullet]:
    return sorted(rows, key=lambda row: row["place"])
