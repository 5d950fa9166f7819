"""Shortens reports until all of them fit one prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.model import Report
from pgs_neo4j.text.cut import cut


@dataclass(frozen=True, slots=True)
class Shortening:
    """How much of all reports a prompt includes.

    Counts of reports and of bullets per list, and characters of each Domain State.
    """

    reports: int
    bullets: int
    state: int


def find_shortening(
    reports: Sequence[Report], fits: Callable[[Shortening], bool]
) -> Shortening | None:
    """Return the shortening that loses least; None when nothing fits.

    It drops bullets first, then the ends of states, then reports.
    """
    count = len(reports)
    most = max((len(_longest_list(report)) for report in reports), default=0)
    longest = max((len(report.domain_state) for report in reports), default=0)
    if fits(whole := Shortening(count, most, longest)):
        return whole
    bullets = _largest(1, most, lambda n: fits(Shortening(count, n, longest)))
    if bullets is not None:
        return Shortening(count, bullets, longest)
    least = min(most, 1)
    return _drop_more(count, least, longest, fits) or _drop_more(count, 0, longest, fits)


def _drop_more(
    count: int, bullets: int, longest: int, fits: Callable[[Shortening], bool]
) -> Shortening | None:
    """Return the shortening for so many bullets.

    States are shortened first, then reports are dropped.
    """
    state = _largest(0, longest, lambda n: fits(Shortening(count, bullets, n)))
    if state is not None:
        return Shortening(count, bullets, state)
    reports = _largest(1, count, lambda n: fits(Shortening(n, bullets, 0)))
    return None if reports is None else Shortening(reports, bullets, 0)


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int | None:
    """Return the largest number that fits, by bisection.

    None if ``low`` does not fit.
    """
    if low > high or not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _longest_list(report: Report) -> Sequence[object]:
    lists: tuple[Sequence[object], ...] = (report.findings, report.flags, report.absences)
    return max(lists, key=len)


def shorten_report(report: Report, shortening: Shortening) -> Report:
    """Return the part of a report that a prompt includes.

    Its Domain State is cut at a word.
    """
    return replace(
        report,
        domain_state=cut(report.domain_state, shortening.state, 4 * shortening.state),
        findings=report.findings[: shortening.bullets],
        flags=report.flags[: shortening.bullets],
        absences=report.absences[: shortening.bullets],
    )


def bullet_count(report: Report) -> int:
    """Return the number of findings, flags, and absences together."""
    return len(report.findings) + len(report.flags) + len(report.absences)
