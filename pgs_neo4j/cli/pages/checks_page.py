"""A few lines on checked absences, opportunities, and convergences. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.cli.pages.text import item
from pgs_neo4j.export import wording
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Convergence,
    Stated,
)
from pgs_neo4j.text.claims.marking import unmark
from pgs_neo4j.text.mentions import name_of
from pgs_neo4j.text.shown import one_line

MAX_ABSENCES = 2  # of each status
MAX_NODES = 2
MAX_PARTITIONS = 4
MAX_SIDE = 75  # characters of each of two connected findings
MAX_ITEMS = 3  # opportunities, convergences
MAX_DOUBTS = 12  # sentences in doubt
LISTED = (AbsenceStatus.CONFIRMED, AbsenceStatus.ELSEWHERE, AbsenceStatus.CONTRADICTED)


def sections(answer: Answer, width: int) -> list[list[str]]:
    """Return what the checks found, without the sections that are empty."""
    checks = answer.crosscheck
    absences = f"{wording.ABSENCES}: {wording.status_counts(checks.absences)}"
    opportunities, convergences = checks.opportunities, checks.convergences
    lists = (
        (absences, _absences(checks.absences), len(checks.absences)),
        (wording.OPPORTUNITIES, [*map(_opportunity, opportunities[:MAX_ITEMS])],
         len(opportunities)),
        (wording.CONVERGENCES, [*map(_convergence, convergences[:MAX_ITEMS])], len(convergences)),
        (wording.IN_DOUBT, [*map(wording.doubt_line, answer.in_doubt[:MAX_DOUBTS])],
         len(answer.in_doubt)),
        (wording.STRUCK, [*map(wording.doubt_line, answer.struck[:MAX_DOUBTS])],
         len(answer.struck)),
    )  # fmt: skip
    blocks = [
        [heading, *(line for text in items for line in item(text, width))]
        for heading, items, _ in lists
        if items
    ]
    if blocks and any(len(items) < count for _, items, count in lists):
        blocks[-1].append(
            f"  To see all of them: pgs export {one_line(answer.run)} --to answer.html"
        )
    return blocks


def _absences(absences: Sequence[CheckedAbsence]) -> list[str]:
    """Return the most reported absences of each status."""
    return [
        wording.absence_line(absence)
        for status in LISTED
        for absence in [one for one in absences if one.status is status][:MAX_ABSENCES]
    ]


def _opportunity(flag: ChasedFlag) -> str:
    line = f"{wording.flag_course(flag)}: {wording.bullet_line(flag.text, flag.source)}"
    return (
        f"{line} ({wording.reported_missing(flag)}: {_bullet(flag.absent)})"
        if flag.absent
        else line
    )


def _convergence(convergence: Convergence) -> str:
    """Return a convergence in one line.

    One finding stands for those that say the same; connected ones are put side by side.
    """
    heading = wording.convergence_heading(convergence, MAX_PARTITIONS)
    if convergence.kind == "words":
        return f"{heading}: {_bullet(convergence.findings[0])}"
    citations = convergence.citations
    nodes = [*dict.fromkeys(name_of(c.partition, one_line(c.alias, 30)) for c in citations)]
    names = f" ({', '.join(nodes[:MAX_NODES])})" if nodes else ""
    sides = map(_side, convergence.findings[:2])
    return f"{heading}{names}: {' / '.join(sides)}"


def _side(stated: Stated) -> str:
    """Return a connected finding, shortened; a mark of doubt stays."""
    text = _bullet(stated)
    short = one_line(unmark(text), MAX_SIDE)
    return short if text == unmark(text) else f"{short} (in doubt)"


def _bullet(stated: Stated) -> str:
    return wording.bullet_line(stated.text, stated.partition)
