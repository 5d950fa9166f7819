"""A few lines on checked absences, opportunities, and convergences. Pure.

The answer above has sections of its own on absences and convergences. What one of its bullets
states is not told again, since a reader would take it for something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pgs_neo4j.cli.pages.text import item
from pgs_neo4j.export import wording
from pgs_neo4j.export.judge import Judge
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Convergence,
    Stated,
)
from pgs_neo4j.text.claims.marking import unmark
from pgs_neo4j.text.gist import SAME, Rarity, gist
from pgs_neo4j.text.mentions import name_of
from pgs_neo4j.text.shown import one_line

MAX_ABSENCES = 2  # of each status
MAX_NODES = 2
MAX_PARTITIONS = 4
MAX_SIDE = 75  # characters of each of two connected findings
MAX_ITEMS = 3  # opportunities, convergences
MAX_DOUBTS = 12  # sentences in doubt
_PARTITION = re.compile(r"(?<![^\W_])P(\d{1,9})(?![^\W_])")
LISTED = (AbsenceStatus.CONFIRMED, AbsenceStatus.ELSEWHERE, AbsenceStatus.CONTRADICTED)


def sections(answer: Answer, width: int) -> list[list[str]]:
    """Return what the checks found, without the sections that are empty."""
    checks = answer.crosscheck
    absences = _untold_absences(answer)
    heading = f"{wording.ABSENCES}: {wording.status_counts(checks.absences)}"
    if told := len(checks.absences) - len(absences):
        heading += f"; the answer tells {told:,} of them"
    opportunities, convergences = checks.opportunities, _untold_convergences(answer)
    lists = (
        (heading, _absences(absences), len(absences)),
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


def _untold_absences(answer: Answer) -> list[CheckedAbsence]:
    """Return the absences that no bullet of the answer gives with the result of its check."""
    absences = answer.crosscheck.absences
    if not answer.synthesis.judged:
        return [*absences]
    judge = Judge(absences)
    verdicts = dict.fromkeys(f" ({wording.absence_verdict(one)})" for one in absences)
    told = [
        judge.find(bullet.removesuffix(verdict))
        for bullet in answer.synthesis.absences
        for verdict in verdicts
        if bullet.endswith(verdict)
    ]
    return [one for one in absences if one not in told]


def _untold_convergences(answer: Answer) -> list[Convergence]:
    """Return the convergences of which the answer does not state a finding as one of several."""
    met, bullets = answer.crosscheck.convergences, answer.synthesis.convergences
    if not bullets:
        return [*met]
    said = [(gist(bullet), set(map(int, _PARTITION.findall(bullet)))) for bullet in bullets]
    found = {one: [gist(stated.text) for stated in one.findings] for one in met}
    rarity = Rarity.of(
        [*(words for words, _ in said), *(g for some in found.values() for g in some)]
    )
    return [
        one
        for one in met
        if not any(
            len(partitions.intersection(one.partitions)) > 1
            and any(rarity.near(words, other) >= SAME for other in found[one])
            for words, partitions in said
        )
    ]


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
