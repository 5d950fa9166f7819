"""Compares reports with each other: flags with their targets, and findings that converge.

Findings of different partitions converge if they agree in their words, or cite the same or
connected nodes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from pgs_neo4j.model import ChasedFlag, Citation, Convergence, Finding, Flag, Report, Stated, Sweep
from pgs_neo4j.text.claims.marking import remark, unmark
from pgs_neo4j.text.gist import ROUNDING, SPEAKS, Rarity, gist, grouped, named

MOST_ANSWERS = 3
MOST = 50  # maximum number of convergences; neither people nor the synthesis would read more
MOST_FINDINGS = 8  # maximum number of findings of one convergence, from different partitions first
Place = tuple[int, int]
"""A node, by the id of its partition and its rank there."""


def sorted_reports(sweeps: Sequence[Sweep]) -> list[tuple[str, Report]]:
    """Return all reports sorted by partition, each with the id of its run.

    The id is empty for the current run. Several reports on one partition keep the order of
    ``sweeps``.
    """
    reports = [(sweep.run, sweep.report) for sweep in sweeps if sweep.report is not None]
    return sorted(reports, key=lambda pair: pair[1].partition)


def stated_finding(partition: int, place: int, finding: Finding, run: str) -> Stated:
    """Return a finding in the form that other lists use, with a mark if it is in doubt."""
    return Stated(partition, place, remark(finding.text, finding.failures), run)


@dataclass(frozen=True, slots=True)
class _Bullet:
    """A bullet, and the roots of its content words."""

    stated: Stated
    gist: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Bullets:
    """All findings and absences by partition id, and the rarity of their words."""

    findings: Mapping[int, Sequence[_Bullet]]
    absences: Mapping[int, Sequence[_Bullet]]
    rarity: Rarity


def chase_flags(sweeps: Sequence[Sweep]) -> tuple[ChasedFlag, ...]:
    """Return every flag, by partition and place, with the matching bullets of its target."""
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
    absent = _find_closest(flag, bullets.absences.get(target, ()), bullets.rarity)
    answers = _find_closest(flag, bullets.findings.get(target, ()), bullets.rarity)
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


def _find_closest(flag: Flag, bullets: Sequence[_Bullet], rarity: Rarity) -> tuple[Stated, ...]:
    """Return the bullets on a flag's subject, the closest first."""
    about = named(unmark(flag.text))
    same = [bullet for bullet in bullets if rarity.near(about, bullet.gist) >= SPEAKS - ROUNDING]
    # Sort by the weight of shared words and not by nearness, since a short bullet is near even with
    # only a few shared words.
    same.sort(key=lambda bullet: -round(rarity.weight(about & bullet.gist), 9))
    return tuple(bullet.stated for bullet in same)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A finding, its text without a mark, and its valid citations by the cited node."""

    stated: Stated
    text: str
    cited: dict[Place, Citation] = field(compare=False)


def cited_places(sweeps: Sequence[Sweep]) -> tuple[Place, ...]:
    """Return all nodes that findings cite, sorted and without repetition."""
    return tuple(sorted({place for claim in _list_claims(sweeps) for place in claim.cited}))


def find_convergences(
    sweeps: Sequence[Sweep], links: Iterable[tuple[Place, Place]]
) -> tuple[Convergence, ...]:
    """Return convergences of findings, at most ``MOST``, the broadest first.

    ``links`` are pairs of cited nodes that a relationship connects. Findings that say nearly the
    same form one convergence. Connected findings are grouped around the finding with connections to
    the most partitions, then around the next finding among the remaining pairs, and so on. So each
    pair appears once. Findings that say the same do not appear again as connected.
    """
    claims = _list_claims(sweeps)
    groups = _group_same(claims)
    met = [_join_by_words(claims, group) for group in groups]
    met += _join_by_links(claims, _find_bonds(claims, links, groups))
    return tuple(sorted(met, key=_rank_breadth)[:MOST])


def _list_claims(sweeps: Sequence[Sweep]) -> list[_Claim]:
    """Return all findings in the order of partition and place."""
    return [
        _Claim(
            stated_finding(report.partition, place, finding, run),
            finding.text,
            _index_citations(finding),
        )
        for run, report in sorted_reports(sweeps)
        for place, finding in enumerate(report.findings)
    ]


def _index_citations(finding: Finding) -> dict[Place, Citation]:
    by_place: dict[Place, Citation] = {}
    for citation in finding.citations:
        if citation.valid and citation.rank is not None:
            by_place.setdefault((citation.partition, citation.rank), citation)
    return by_place


def _group_same(claims: Sequence[_Claim]) -> list[list[int]]:
    """Return groups of findings, by index, that say the same in different partitions."""
    gists = [gist(claim.text) for claim in claims]
    groups = grouped(gists, Rarity.of(gists))
    return [group for group in groups if len({claims[i].stated.partition for i in group}) > 1]


def _join_by_words(claims: Sequence[_Claim], group: Sequence[int]) -> Convergence:
    chosen = _choose_spread(claims, group, MOST_FINDINGS)
    return Convergence(kind="words", findings=tuple(claims[i].stated for i in chosen))


def _find_bonds(
    claims: Sequence[_Claim], links: Iterable[tuple[Place, Place]], groups: Sequence[Sequence[int]]
) -> dict[tuple[int, int], set[Place]]:
    """Return connected pairs of findings, by index, and the nodes that connect them.

    The two findings belong to different partitions and different groups.
    """
    citing: dict[Place, list[int]] = defaultdict(list)
    for i, claim in enumerate(claims):
        for place in claim.cited:
            citing[place].append(i)
    group_of = {i: number for number, group in enumerate(groups) for i in group}
    bonds: dict[tuple[int, int], set[Place]] = defaultdict(set)
    for one, other in sorted(set(links)):
        for i in citing.get(one, ()) if one[0] != other[0] else ():
            for j in citing.get(other, ()):
                if group_of.get(i, -i - 1) != group_of.get(j, -j - 1):
                    bonds[min(i, j), max(i, j)] |= {one, other}
    return bonds


def _join_by_links(
    claims: Sequence[_Claim], bonds: Mapping[tuple[int, int], set[Place]]
) -> Iterator[Convergence]:
    """Yield findings, each with all findings bound to it, the broadest first, at most ``MOST``.

    Each bond appears only once.
    """
    beside: dict[int, set[int]] = defaultdict(set)
    for one, other in bonds:
        beside[one].add(other)
        beside[other].add(one)
    queue = [(-_count_partitions(claims, met), i) for i, met in beside.items()]
    heapify(queue)
    count = 0
    while queue and count < MOST:
        breadth, center = heappop(queue)
        now = -_count_partitions(claims, beside[center])
        if now != breadth:
            # Some bonds of this finding are already used, so another finding may be broader now.
            heappush(queue, (now, center))
        elif now:
            around = sorted(beside.pop(center))
            for other in around:
                beside[other].discard(center)
            yield _join_around(claims, bonds, center, around)
            count += 1


def _join_around(
    claims: Sequence[_Claim],
    bonds: Mapping[tuple[int, int], set[Place]],
    center: int,
    around: Sequence[int],
) -> Convergence:
    chosen = _choose_spread(claims, around, MOST_FINDINGS - 1)
    pairs = [(min(i, center), max(i, center)) for i in chosen]
    nodes = dict.fromkeys(node for pair in pairs for node in sorted(bonds[pair]))
    citations: dict[Place, Citation] = {}
    for i in (center, *chosen):
        citations |= claims[i].cited
    return Convergence(
        kind="neighbors",
        findings=tuple(claims[i].stated for i in (center, *chosen)),
        citations=tuple(citations[node] for node in nodes),
    )


def _count_partitions(claims: Sequence[_Claim], places: Iterable[int]) -> int:
    return len({claims[i].stated.partition for i in places})


def _choose_spread(claims: Sequence[_Claim], places: Sequence[int], most: int) -> list[int]:
    """Choose at most ``most`` findings from as many partitions as possible; keep their order."""
    seen: Counter[int] = Counter()
    turns: list[tuple[int, int]] = []
    for i in sorted(places):
        turns.append((seen[claims[i].stated.partition], i))
        seen[claims[i].stated.partition] += 1
    return sorted(i for _, i in sorted(turns)[:most])


def _rank_breadth(met: Convergence) -> tuple[int, int, str, tuple[int, int, str]]:
    first = met.findings[0]
    return (
        -len(met.partitions),
        -len(met.findings),
        met.kind,
        (first.partition, first.place, first.text),
    )
