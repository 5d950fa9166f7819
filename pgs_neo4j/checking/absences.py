"""What reports miss, and flag, set against each other and against the graph.

Pure: absences that say the same are grouped, judged by what was found of their words in the
graph, and flags are answered by the reports of their targets. How two texts are compared is in
``terms``, where they meet in findings in ``convergences``, and how the graph is searched while
sweeps are running in ``lookups``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.model import (
    AbsenceStatus,
    ChasedFlag,
    CheckedAbsence,
    Flag,
    Report,
    Sighting,
    Stated,
    Sweep,
)
from pgs_neo4j.text.gist import SPEAKS, Rarity, gist, named, wanted
from pgs_neo4j.text.grouping import ROUNDING, grouped
from pgs_neo4j.text.wanted import Found, Hit, Wanted

MOST_SIGHTINGS = 5
MOST_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class AbsenceGroup:
    """Absences that say the same, in the order of partitions; the first one speaks for all."""

    reported: tuple[Stated, ...]

    @property
    def text(self) -> str:
        """The absence as the first partition reports it."""
        return self.reported[0].text

    @property
    def partitions(self) -> int:
        """How many partitions miss it."""
        return len({stated.partition for stated in self.reported})


def grouped_absences(sweeps: Sequence[Sweep]) -> tuple[AbsenceGroup, ...]:
    """The absences of all reports, those missed by most partitions first.

    Ties in the order of partition and place; the order of ``sweeps`` does not matter.
    """
    stated = [
        Stated(report.partition, place, absence.text, run)
        for run, report in _reports(sweeps)
        for place, absence in enumerate(report.absences)
    ]
    gists = [gist(each.text) for each in stated]
    # Without words that count only what is the same to the letter is the same.
    gists = [
        found or frozenset({each.text.casefold()})
        for found, each in zip(gists, stated, strict=True)
    ]
    groups = [
        AbsenceGroup(tuple(stated[place] for place in places))
        for places in grouped(gists, Rarity.of(gists))
    ]
    return tuple(sorted(groups, key=lambda group: -group.partitions))


def checked(
    groups: Sequence[AbsenceGroup],
    hits: Mapping[Wanted, Found],
    read: Mapping[int, frozenset[int]],
) -> tuple[CheckedAbsence, ...]:
    """Judge each group by what was found of its words, in the order given.

    ``read`` are the ranks read of each partition. What is in a node that was read is
    contradicted, also when the node's own partition reports it absent. Where more nodes might
    hold the words than could be looked into, a sighting still counts, and none leaves the
    absence unchecked.
    """
    return tuple(_checked(group, hits, read) for group in groups)


def chased(sweeps: Sequence[Sweep]) -> tuple[ChasedFlag, ...]:
    """Every flag beside what its target's reports say, in the order of partition and place."""
    reports = _reports(sweeps)
    findings: dict[int, list[_Said]] = defaultdict(list)
    absences: dict[int, list[_Said]] = defaultdict(list)
    for run, report in reports:
        number = report.partition
        for place, finding in enumerate(report.findings):
            findings[number].append(_Said.of(Stated(number, place, finding.text, run)))
        for place, absence in enumerate(report.absences):
            absences[number].append(_Said.of(Stated(number, place, absence.text, run)))
    rarity = Rarity.of(
        said.gist for kind in (findings, absences) for each in kind.values() for said in each
    )
    swept = {report.partition for _, report in reports}

    def chase(source: int, place: int, flag: Flag) -> ChasedFlag:
        target = -1 if flag.target is None else flag.target
        absent = _closest(flag, absences.get(target, ()), rarity)
        return ChasedFlag(
            source=source,
            place=place,
            text=flag.text,
            target=flag.target,
            swept=target in swept,
            citations=flag.citations,
            answers=_closest(flag, findings.get(target, ()), rarity)[:MOST_ANSWERS],
            absent=absent[0] if absent else None,
        )

    return tuple(
        chase(report.partition, place, flag)
        for _, report in reports
        for place, flag in enumerate(report.flags)
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """A bullet and the roots of what it is about."""

    stated: Stated
    gist: frozenset[str]

    @classmethod
    def of(cls, stated: Stated) -> _Said:
        return cls(stated, gist(stated.text))


def _closest(flag: Flag, said: Sequence[_Said], rarity: Rarity) -> tuple[Stated, ...]:
    """What speaks of the same as a flag, what shares most of its words first."""
    about = named(flag.text)
    same = [each for each in said if rarity.near(about, each.gist) >= SPEAKS - ROUNDING]
    # Not by nearness, which what says little reaches with little.
    same.sort(key=lambda each: -round(rarity.weight(about & each.gist), 9))
    return tuple(each.stated for each in same)


def _checked(
    group: AbsenceGroup, hits: Mapping[Wanted, Found], read: Mapping[int, frozenset[int]]
) -> CheckedAbsence:
    asked = [wanted(stated.text) for stated in group.reported]
    # When time ran out for the first, what was found of another one that says the same will do.
    term = next((each for each in asked if each in hits), asked[0])
    found = hits.get(term, Found())
    sightings = sorted((_sighting(hit, read) for hit in found.hits), key=lambda each: not each.read)
    return CheckedAbsence(
        text=group.text,
        reported=group.reported,
        status=_status(found, sightings),
        terms=term.terms,
        searched=found.searched,
        method=found.method,
        count=found.count,
        sightings=tuple(sightings[:MOST_SIGHTINGS]),
    )


def _status(found: Found, sightings: Sequence[Sighting]) -> AbsenceStatus:
    if sightings:
        read = sightings[0].read
        return AbsenceStatus.CONTRADICTED if read else AbsenceStatus.ELSEWHERE
    if found.searched and found.complete:
        return AbsenceStatus.CONFIRMED
    return AbsenceStatus.UNCHECKED


def _sighting(hit: Hit, read: Mapping[int, frozenset[int]]) -> Sighting:
    return Sighting(
        partition=hit.partition,
        rank=hit.rank,
        node=hit.key,
        title=hit.title,
        read=hit.rank in read.get(hit.partition, frozenset()),
        element_id=hit.element_id,
    )


def _reports(sweeps: Sequence[Sweep]) -> list[tuple[str, Report]]:
    """The reports there are, and of which run; several on one partition in the order given."""
    found = [(sweep.run, sweep.report) for sweep in sweeps if sweep.report is not None]
    return sorted(found, key=lambda each: each[1].partition)
