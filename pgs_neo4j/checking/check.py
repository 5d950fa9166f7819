"""Looks and counts among all reports once they are there, and tells the synthesis of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from pgs_neo4j.checking.absences import chased, checked, grouped_absences
from pgs_neo4j.checking.convergences import cited_places, convergences
from pgs_neo4j.checking.links import linked
from pgs_neo4j.checking.lookups import Lookups
from pgs_neo4j.database.connection import Database
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.model import (
    AbsenceStatus,
    ChasedFlag,
    CheckedAbsence,
    Convergence,
    Crosscheck,
    GraphMapping,
    Stated,
    Sweep,
)
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.retrieval.lookup import Ground, look_up
from pgs_neo4j.sweeping.pack import clean
from pgs_neo4j.text.citations import qualified

WAIT_S = 20.0  # for absences that are still looked for when all reports are there
# Of each kind the synthesis is told so many, the most telling ones; the answer keeps all.
TOLD_ABSENCES, TOLD_FLAGS, TOLD_CONVERGENCES = 60, 80, 25
TOLD_FINDINGS = 4  # of one convergence
HEAD = (
    "# Checked\nFound among all reports by looking and counting, without a model. Absences were "
    "looked for by their words in the whole graph, read or unread."
)


def lookups_on(
    db: Database,
    mapping: GraphMapping,
    partitioning: Partitioning,
    first: Collection[int],
    embedder: Embedder | None,
    warn: Callable[[str], None],
) -> Lookups:
    """What looks up absences while sweeps go on, in the partitions ``first`` before the others."""
    ground = Ground(
        db=db,
        mapping=mapping,
        generation=partitioning.generation.id,
        partitions=partitioning.partitions,
        first=frozenset(first),
        embedder=embedder,
    )
    return Lookups(partial(look_up, ground), warn)


async def crosscheck(
    db: Database,
    mapping: GraphMapping,
    generation: str,
    sweeps: Sequence[Sweep],
    read: Mapping[int, frozenset[int]],
    lookups: Lookups,
) -> Crosscheck:
    """What is found among the reports; ``read`` are the ranks read of each partition.

    Raises DatabaseError.
    """
    hits, links = await asyncio.gather(
        lookups.finish(WAIT_S), linked(db, generation, mapping, cited_places(sweeps))
    )
    return Crosscheck(
        absences=checked(grouped_absences(sweeps), hits, read),
        flags=chased(sweeps),
        convergences=convergences(sweeps, links),
    )


def told(found: Crosscheck) -> str:
    """What the synthesis is told of it; empty when there is nothing to tell."""
    flags = sorted(found.flags, key=lambda flag: (flag.absent is None, not flag.answers))
    parts = (
        ("Absences", [_absence(each) for each in found.absences[:TOLD_ABSENCES]]),
        ("Flags beside their targets", [_flag(each) for each in flags[:TOLD_FLAGS]]),
        ("Convergences", [_convergence(each) for each in found.convergences[:TOLD_CONVERGENCES]]),
    )
    blocks = [f"## {title}\n" + "\n".join(lines) for title, lines in parts if lines]
    return "\n\n".join((HEAD, *blocks)) if blocks else ""


def _absence(found: CheckedAbsence) -> str:
    by = ", ".join(f"P{number}" for number in found.partitions)
    return f"- {_status(found)}; missed by {by}: {_said(found.reported[0])}"


def _status(found: CheckedAbsence) -> str:
    seen = "; ".join(f"“{clean(each.title)}” in P{each.partition}" for each in found.sightings[:3])
    match found.status:
        case AbsenceStatus.CONFIRMED:
            return f"confirmed, in none of {found.searched:,} nodes"
        case AbsenceStatus.ELSEWHERE:
            return f"elsewhere, its words are in {found.count:,} nodes that were not read ({seen})"
        case AbsenceStatus.CONTRADICTED:
            return f"contradicted, its words are in nodes that were read ({seen})"
    return "unchecked"


def _flag(found: ChasedFlag) -> str:
    target = f"P{found.target}" if found.target is not None else "no partition named"
    lines = [f"- P{found.source} to {target}: {qualified(found.text, found.source)}"]
    if found.absent is not None:
        lines.append(f"  {target} reports this absent, an opportunity: {_said(found.absent)}")
    lines += [f"  {target} reports: {_said(stated)}" for stated in found.answers]
    if found.target is not None and not found.swept:
        lines.append(f"  {target} was not read.")
    elif len(lines) == 1 and found.target is not None:
        lines.append(f"  {target} reports nothing in these words.")
    return "\n".join(lines)


def _convergence(found: Convergence) -> str:
    how = "say nearly the same" if found.kind == "words" else "cite neighbouring nodes"
    shown = [f"  P{each.partition}: {_said(each)}" for each in found.findings[:TOLD_FINDINGS]]
    names = ", ".join(f"P{number}" for number in found.partitions)
    return "\n".join((f"- {names} {how}:", *shown))


def _said(stated: Stated) -> str:
    return qualified(stated.text, stated.partition)
