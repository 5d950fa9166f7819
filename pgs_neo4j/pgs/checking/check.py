"""Compares all reports with each other and with the graph, and words the results for a prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
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
from pgs_neo4j.pgs.checking.absences import Lookups, check_absences, group_absences
from pgs_neo4j.pgs.checking.comparing import Place, chase_flags, cited_places, find_convergences
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.sweeping.order import without_centroid
from pgs_neo4j.search.lookup import look_up
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.text.citations import qualify_aliases
from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.shown import counted

WAIT_S = 20.0  # longest wait for the search for absences after the last report
# Numbers of results of each kind that a synthesis prompt shows, the most important first. The
# answer has all results.
TOLD_ABSENCES, TOLD_FLAGS, TOLD_CONVERGENCES = 60, 80, 25
TOLD_FINDINGS = 4  # findings of one convergence in a synthesis prompt
HEAD = (
    "# Checked\nFound among all reports by looking and counting, without a model. Absences were "
    "looked for by their words in the whole graph, read or unread."
)

STRUCTURE_HEAD = (
    "# Checked\nFound among all reports by looking and counting, without a model. No node of the "
    "graph has text, so absences could not be looked for: nothing is known to be absent."
)
MOST_LINKS = 5_000  # more than any answer can show
MOST_DEGREE = 10_000  # links are not followed from a node with more relationships than this


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOrder:
    """The reports to compare.

    ``read`` has the ranks that the session has read, by partition id.
    """

    mapping: GraphMapping
    generation: str
    sweeps: tuple[Sweep, ...]
    read: Mapping[int, frozenset[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTools:
    """The connections of a check. ``lookups`` searches for absences while sweeps are running."""

    db: Database
    lookups: Lookups


def open_lookups(
    db: Database,
    mapping: GraphMapping,
    partitioning: Partitioning,
    first: Collection[int],
    warn: Callable[[str], None],
) -> Lookups:
    """Open lookups of absences in the graph while sweeps are running.

    Partitions with ids in ``first`` are searched first.
    """
    order = LookupOrder(
        mapping=mapping,
        generation=partitioning.generation.id,
        partitions=tuple(map(without_centroid, partitioning.partitions)),
        first=frozenset(first),
        outdated=partitioning.outdated,
    )
    return Lookups(partial(look_up, db, order), warn)


async def check_reports(order: CheckOrder, tools: CheckTools) -> Crosscheck:
    """Check absences, chase flags, and find convergences. Raises DatabaseError."""
    for sweep in order.sweeps:
        if sweep.report is not None:
            tools.lookups.begin(sweep.report)
    cited = cited_places(order.sweeps)
    hits, links = await together(
        tools.lookups.finish(WAIT_S),
        read_links(tools.db, order.generation, order.mapping, cited),
    )
    return Crosscheck(
        absences=check_absences(group_absences(order.sweeps), hits, order.read),
        flags=chase_flags(order.sweeps),
        convergences=find_convergences(order.sweeps, links),
    )


def word_checks(crosscheck: Crosscheck, *, structure_only: bool = False) -> str:
    """Return the results of the checks in words for the synthesis prompt; may be empty.

    ``structure_only`` means that no node has text, so absences were not searched for.
    """
    flags = sorted(crosscheck.flags, key=lambda flag: (flag.absent is None, not flag.answers))
    absences = crosscheck.absences[:TOLD_ABSENCES]
    convergences = crosscheck.convergences[:TOLD_CONVERGENCES]
    parts = (
        ("Absences", [_word_absence(absence) for absence in absences]),
        ("Flags beside their targets", [_word_flag(flag) for flag in flags[:TOLD_FLAGS]]),
        ("Convergences", [_word_convergence(convergence) for convergence in convergences]),
    )
    blocks = [f"## {title}\n" + "\n".join(lines) for title, lines in parts if lines]
    head = STRUCTURE_HEAD if structure_only else HEAD
    return "\n\n".join((head, *blocks)) if blocks else ""


def _word_absence(absence: CheckedAbsence) -> str:
    by = ", ".join(f"P{number}" for number in absence.partitions)
    return f"- {_word_status(absence)}; missed by {by}: {_word_bullet(absence.reported[0])}"


def _word_status(absence: CheckedAbsence) -> str:
    first = absence.sightings[:3]
    seen = "; ".join(f"“{clean_text(node.title)}” in P{node.partition}" for node in first)
    match absence.status:
        case AbsenceStatus.CONFIRMED:
            if absence.texts is not None and absence.texts < absence.searched:
                of = f"{counted(absence.texts, 'text')} ({counted(absence.searched, 'node')})"
                return f"confirmed, in none of {of}"
            return f"confirmed, in none of {counted(absence.searched, 'node')}"
        case AbsenceStatus.ELSEWHERE:
            count = counted(absence.count, "node")
            were = "was" if absence.count == 1 else "were"
            return f"elsewhere, its words are in {count} that {were} not read ({seen})"
        case AbsenceStatus.CONTRADICTED:
            return f"contradicted, its words are in nodes that were read ({seen})"
    return "unchecked"


def _word_flag(flag: ChasedFlag) -> str:
    target = f"P{flag.target}" if flag.target is not None else "no partition named"
    lines = [f"- P{flag.source} to {target}: {qualify_aliases(flag.text, flag.source)}"]
    if flag.absent is not None:
        lines.append(f"  {target} reports this absent, an opportunity: {_word_bullet(flag.absent)}")
    lines += [f"  {target} reports: {_word_bullet(stated)}" for stated in flag.answers]
    if flag.target is not None and not flag.swept:
        lines.append(f"  {target} was not read.")
    elif len(lines) == 1 and flag.target is not None:
        lines.append(f"  {target} reports nothing in these words.")
    return "\n".join(lines)


def _word_convergence(convergence: Convergence) -> str:
    # The British spelling must stay, because cached replies are found by their exact prompts.
    how = "say nearly the same" if convergence.kind == "words" else "cite neighbouring nodes"
    findings = convergence.findings[:TOLD_FINDINGS]
    shown = [f"  P{stated.partition}: {_word_bullet(stated)}" for stated in findings]
    names = ", ".join(f"P{number}" for number in convergence.partitions)
    return "\n".join((f"- {names} {how}:", *shown))


def _word_bullet(stated: Stated) -> str:
    return qualify_aliases(stated.text, stated.partition)


async def read_links(
    db: Database, generation: str, mapping: GraphMapping, cited: Iterable[Place]
) -> list[tuple[Place, Place]]:
    """Return connected pairs of ``cited`` nodes, each once, in order.

    Returns at most ``MOST_LINKS`` pairs, with the node of the lower partition first. Directions do
    not matter, and only the mapping's relationship types count. A pair is missed if both nodes have
    more than ``MOST_DEGREE`` relationships. Raises DatabaseError.
    """
    ranks: dict[int, set[int]] = defaultdict(set)
    for partition, rank in cited:
        ranks[partition].add(rank)
    if len(ranks) < 2:
        return []
    rows = await db.read(
        queries.get("pgs/checking/read_links"),
        generation=generation,
        cited={str(partition): sorted(ranks[partition]) for partition in sorted(ranks)},
        types=list(mapping.relationship_types),
        degree=MOST_DEGREE,
        most=MOST_LINKS,
    )
    return [
        ((row["partition"], row["rank"]), (row["other_partition"], row["other_rank"]))
        for row in rows
    ]
