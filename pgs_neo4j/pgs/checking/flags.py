"""Compares each flag with the reports on its target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.model import ChasedFlag, Flag, Report, Stated, Sweep
from pgs_neo4j.pgs.checking.reports import sorted_reports, stated_finding
from pgs_neo4j.text.claims.marking import unmark
from pgs_neo4j.text.gist import SPEAKS, Rarity, gist, named
from pgs_neo4j.text.grouping import ROUNDING

MOST_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class _Bullet:
    """A bullet and the roots of the words it is about."""

    stated: Stated
    gist: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Bullets:
    """All findings and absences by partition id.

    ``rarity`` holds how rare their words are.
    """

    findings: Mapping[int, Sequence[_Bullet]]
    absences: Mapping[int, Sequence[_Bullet]]
    rarity: Rarity


def chase_flags(sweeps: Sequence[Sweep]) -> tuple[ChasedFlag, ...]:
    """Return every flag, by partition and place, with its target's reports."""
    reports = sorted_reports(sweeps)
    bullets = _collect_bullets(reports)
    swept = {report.partition for _, report in reports}
    return tuple(
        _chase_flag(report.partition, place, flag, swept, bullets)
        for _, report in reports
        for place, flag in enumerate(report.flags)
    )


def _collect_bullets(reports: Sequence[tuple[str, Report]]) -> _Bullets:
    findings: dict[int, list[_Bullet]] = defaultdict(list)
    absences: dict[int, list[_Bullet]] = defaultdict(list)
    for run, report in reports:
        number = report.partition
        findings[number] += [
            _Bullet(stated_finding(number, place, finding, run), gist(finding.text))
            for place, finding in enumerate(report.findings)
        ]
        absences[number] += [
            _Bullet(Stated(number, place, absence.text, run), gist(absence.text))
            for place, absence in enumerate(report.absences)
        ]
    rarity = Rarity.of(
        bullet.gist
        for by_partition in (findings, absences)
        for bullets in by_partition.values()
        for bullet in bullets
    )
    return _Bullets(findings, absences, rarity)


def _chase_flag(
    source: int, place: int, flag: Flag, swept: set[int], bullets: _Bullets
) -> ChasedFlag:
    target = -1 if flag.target is None else flag.target
    absent = _closest(flag, bullets.absences.get(target, ()), bullets.rarity)
    answers = _closest(flag, bullets.findings.get(target, ()), bullets.rarity)
    return ChasedFlag(
        source=source,
        place=place,
        text=flag.text,
        target=flag.target,
        swept=target in swept,
        citations=flag.citations,
        answers=answers[:MOST_ANSWERS],
        absent=absent[0] if absent else None,
    )


def _closest(flag: Flag, bullets: Sequence[_Bullet], rarity: Rarity) -> tuple[Stated, ...]:
    """Return the bullets on a flag's subject, the closest first."""
    about = named(unmark(flag.text))
    same = [bullet for bullet in bullets if rarity.near(about, bullet.gist) >= SPEAKS - ROUNDING]
    # Not by nearness: a short bullet is near with only a few shared words.
    same.sort(key=lambda bullet: -round(rarity.weight(about & bullet.gist), 9))
    return tuple(bullet.stated for bullet in same)
