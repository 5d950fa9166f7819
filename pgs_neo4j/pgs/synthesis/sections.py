"""Turns reports into sections of the synthesis prompt, and shortens them until all of them fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.model import Citation, Finding, Partition, Report, Sweep
from pgs_neo4j.text.citations import qualify_aliases
from pgs_neo4j.text.prompt_text import clean_text, cut
from pgs_neo4j.text.shown import unproven_note

KEYWORDS = (120, 180)  # maximum characters and bytes of a partition's keywords


@dataclass(frozen=True, slots=True)
class Section:
    """A report, or several reports condensed into one, with its header.

    ``partitions`` are the ids of the partitions that it covers. ``report`` is the parsed report.
    ``qualified`` is the same report with the partition before each alias and a mark on unsupported
    findings.
    """

    partitions: tuple[int, ...]
    name: str
    keywords: tuple[str, ...]
    header: str
    report: Report
    qualified: Report

    @property
    def citable(self) -> dict[tuple[int, str], Citation]:
        """Citations that the synthesis may repeat, by partition and alias."""
        return {(c.partition, c.alias): c for c in self.report.citations if c.valid}


def sections_of(sweeps: Sequence[Sweep], partitions: Sequence[Partition]) -> list[Section]:
    """Return one section for each sweep with a report, in order."""
    by_id = {partition.id: partition for partition in partitions}
    return [_make_section(by_id[s.partition], s, s.report) for s in sweeps if s.report is not None]


def listed_keywords(keywords: Sequence[str]) -> str:
    """Return keywords as a list in a prompt, shortened."""
    return cut(clean_text(", ".join(keywords)), *KEYWORDS)


def citable_of(sections: Sequence[Section]) -> Mapping[tuple[int, str], Citation]:
    """Return the citations of all sections, which the synthesis may repeat."""
    return {key: citation for section in sections for key, citation in section.citable.items()}


def _make_section(partition: Partition, sweep: Sweep, report: Report) -> Section:
    failed = sweep.passes - sweep.passes_accepted
    lost = f", {failed} of {sweep.passes} passes failed" if failed else ""
    header = (
        f"# Partition {partition.name}: {sweep.nodes_read} of {partition.size} nodes read"
        f"{unproven_note(sweep.nodes_unproven)}{lost}; "
        f"keywords: {listed_keywords(partition.topics) or 'none'}"
    )
    number = report.partition
    marked = replace(
        report,
        domain_state=qualify_aliases(report.domain_state, number),
        findings=tuple(_mark_finding(finding, number) for finding in report.findings),
        flags=tuple(replace(f, text=qualify_aliases(f.text, number)) for f in report.flags),
        absences=tuple(replace(a, text=qualify_aliases(a.text, number)) for a in report.absences),
    )
    return Section((partition.id,), partition.name, partition.topics, header, report, marked)


def _mark_finding(finding: Finding, partition: int) -> Finding:
    text = qualify_aliases(finding.text, partition)
    if not finding.supported:
        return replace(finding, text=f"{text} (unsupported: it cites no node that was shown)")
    if not all(quote.found for quote in finding.quotes):
        text = f"{text} (misquoted: its nodes do not say it in these words)"
    if finding.doubts:
        text = f"{text} (in doubt: {'; '.join(finding.doubts)})"
    return replace(finding, text=text)


@dataclass(frozen=True, slots=True)
class Shortening:
    """How much of the reports a prompt includes.

    It limits the number of reports, of bullets per list, and of characters per Domain State.
    """

    reports: int
    bullets: int
    state: int


def find_shortening(
    reports: Sequence[Report], fits: Callable[[Shortening], bool]
) -> Shortening | None:
    """Return the shortening that loses least; None if nothing fits.

    It drops bullets first, then the ends of states, then reports.
    """
    count = len(reports)
    most = max((len(_find_longest_list(report)) for report in reports), default=0)
    longest = max((len(report.domain_state) for report in reports), default=0)
    if fits(whole := Shortening(count, most, longest)):
        return whole
    bullets = _find_largest(1, most, lambda n: fits(Shortening(count, n, longest)))
    if bullets is not None:
        return Shortening(count, bullets, longest)
    least = min(most, 1)
    return _shorten_states(count, least, longest, fits) or _shorten_states(count, 0, longest, fits)


def _shorten_states(
    count: int, bullets: int, longest: int, fits: Callable[[Shortening], bool]
) -> Shortening | None:
    """Return the shortening that loses least with ``bullets`` bullets per list; None if none fits.

    Shortens Domain States first, and drops reports only if that is not enough.
    """
    state = _find_largest(0, longest, lambda n: fits(Shortening(count, bullets, n)))
    if state is not None:
        return Shortening(count, bullets, state)
    reports = _find_largest(1, count, lambda n: fits(Shortening(n, bullets, 0)))
    return None if reports is None else Shortening(reports, bullets, 0)


def _find_largest(low: int, high: int, fits: Callable[[int], bool]) -> int | None:
    """Return the largest number that fits, by bisection; None if ``low`` does not fit."""
    if low > high or not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _find_longest_list(report: Report) -> Sequence[object]:
    lists: tuple[Sequence[object], ...] = (report.findings, report.flags, report.absences)
    return max(lists, key=len)


def shorten_report(report: Report, shortening: Shortening) -> Report:
    """Return the part of a report that a prompt includes. Cuts its Domain State at a word."""
    return replace(
        report,
        domain_state=cut(report.domain_state, shortening.state, 4 * shortening.state),
        findings=report.findings[: shortening.bullets],
        flags=report.flags[: shortening.bullets],
        absences=report.absences[: shortening.bullets],
    )


def bullet_count(report: Report) -> int:
    """Return the total number of findings, flags, and absences."""
    return len(report.findings) + len(report.flags) + len(report.absences)
