"""What was found among the reports by looking and counting, a few lines each. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.cli.pages.text import item
from pgs_neo4j.export import facts
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Convergence,
    Sighting,
)
from pgs_neo4j.text.mentions import name_of, pieces
from pgs_neo4j.text.shown import counted, one_line

MOST_ABSENCES = 2  # of each status
MOST_SIGHTINGS = 2
MOST_NAMED = 4  # partitions
LONGEST_SIDE = 75  # characters of one of two findings that are connected
MOST = 3  # opportunities, convergences
TOLD = (AbsenceStatus.CONFIRMED, AbsenceStatus.ELSEWHERE, AbsenceStatus.CONTRADICTED)


def sections(answer: Answer, width: int) -> list[list[str]]:
    """Absences looked for, opportunities, and converging findings; nothing for what is empty."""
    met = answer.crosscheck
    looked_for = f"Absences looked for: {facts.statuses(met.absences)}"
    found = (
        (looked_for, _absences(met.absences), len(met.absences)),
        ("Opportunities", [*map(_opportunity, met.opportunities[:MOST])], len(met.opportunities)),
        (facts.CONVERGENCES, [*map(_meeting, met.convergences[:MOST])], len(met.convergences)),
    )
    shown = [
        [heading, *(line for text in items for line in item(text, width))]
        for heading, items, _ in found
        if items
    ]
    if shown and any(len(items) < count for _, items, count in found):
        shown[-1].append(f"  All of them: pgs export {one_line(answer.run)} --to answer.html")
    return shown


def counts(answer: Answer) -> str:
    """Findings, quotations, and citations that rest on nothing; empty when there are none."""
    loose, total = facts.unsupported(answer), sum(1 for _ in facts.findings(answer))
    wrong, invalid = facts.misquotes(answer), facts.invalid(answer)
    listed = (
        (loose, f"{loose:,} of {counted(total, 'finding')} unsupported"),
        (wrong, counted(wrong, "misquote")),
        (invalid, f"{counted(invalid, 'invalid citation')} in the answer"),
    )
    return ", ".join(text for number, text in listed if number)


def said(text: str, partition: int) -> str:
    """A bullet of the report on a partition on one line, each alias with its partition."""
    return "".join(
        piece
        if isinstance(piece, str)
        else "".join(f"{c.before}{name_of(*c.place)}{c.after}" for c in piece)
        for piece in pieces(one_line(text), partition)
    )


def _absences(found: Sequence[CheckedAbsence]) -> list[str]:
    """The first of each status: those that most partitions report come first."""
    return [
        f"{each.status}: {_outcome(each)}{_corroborated(each)}: "
        f"{said(each.text, facts.speaker(each))}"
        for status in TOLD
        for each in [absence for absence in found if absence.status is status][:MOST_ABSENCES]
    ]


def _outcome(absence: CheckedAbsence) -> str:
    if absence.status is AbsenceStatus.CONFIRMED:
        return f"nowhere among {counted(absence.searched, 'node')}"
    shown = [each for each in absence.sightings if each.read] or list(absence.sightings)
    named = ", ".join(map(_sighted, shown[:MOST_SIGHTINGS]))
    if absence.status is AbsenceStatus.CONTRADICTED:
        return f"{named} (read) {'holds' if len(shown[:MOST_SIGHTINGS]) == 1 else 'hold'} it"
    count = max(absence.count, len(shown))
    more = ", …" if count > MOST_SIGHTINGS else ""
    was = "was" if count == 1 else "were"
    return f"in {counted(count, 'node')} that {was} not read ({named}{more})"


def _sighted(seen: Sighting) -> str:
    return name_of(seen.partition, one_line(seen.alias, 30))


def _corroborated(absence: CheckedAbsence) -> str:
    count = len(absence.partitions)
    return f", reported by {counted(count, 'partition')}" if count > 1 else ""


def _opportunity(flag: ChasedFlag) -> str:
    absent = flag.absent
    missed = f"; P{flag.target} misses: {said(absent.text, absent.partition)}" if absent else ""
    return f"P{flag.source} → P{flag.target}: {said(flag.text, flag.source)}{missed}"


def _meeting(found: Convergence) -> str:
    """One finding speaks for those that say the same; those connected are shown side by side."""
    named = ", ".join(f"P{partition}" for partition in found.partitions[:MOST_NAMED])
    more = len(found.partitions) - MOST_NAMED
    named += f" and {more} more" if more > 0 else ""
    joined = facts.KINSHIP_WORDS[found.kind]
    if found.kind == "words":
        first = found.findings[0]
        return f"{named} by {joined}: {said(first.text, first.partition)}"
    nodes = dict.fromkeys(name_of(c.partition, one_line(c.alias, 30)) for c in found.citations)
    listed = f" ({', '.join([*nodes][:MOST_SIGHTINGS])})" if nodes else ""
    sides = (one_line(said(s.text, s.partition), LONGEST_SIDE) for s in found.findings[:2])
    return f"{named} by {joined}{listed}: {' / '.join(sides)}"
