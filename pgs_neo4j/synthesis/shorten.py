"""Decides how much of each report is shown when all of them exceed one prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.model import Report
from pgs_neo4j.text.cut import cut


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is shown: reports, bullets of each list, characters of each Domain State."""

    reports: int
    bullets: int
    state: int


def largest_plan(reports: Sequence[Report], fits: Callable[[Plan], bool]) -> Plan | None:
    """The plan that shows most: bullets are given up first, then states, then reports."""
    count = len(reports)
    most = max((len(_longest(report)) for report in reports), default=0)
    longest = max((len(report.domain_state) for report in reports), default=0)
    if fits(whole := Plan(count, most, longest)):
        return whole
    bullets = _most(1, most, lambda n: fits(Plan(count, n, longest)))
    if bullets is not None:
        return Plan(count, bullets, longest)
    least = min(most, 1)
    return _leanest(count, least, longest, fits) or _leanest(count, 0, longest, fits)


def _leanest(count: int, bullets: int, longest: int, fits: Callable[[Plan], bool]) -> Plan | None:
    """The plan for this many bullets: all reports and short states, else fewer reports."""
    state = _most(0, longest, lambda n: fits(Plan(count, bullets, n)))
    if state is not None:
        return Plan(count, bullets, state)
    shown = _most(1, count, lambda n: fits(Plan(n, bullets, 0)))
    return None if shown is None else Plan(shown, bullets, 0)


def _most(low: int, high: int, fits: Callable[[int], bool]) -> int | None:
    """The largest number that fits, None when ``low`` does not, by bisection."""
    if low > high or not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _longest(report: Report) -> Sequence[object]:
    lists: tuple[Sequence[object], ...] = (report.findings, report.flags, report.absences)
    return max(lists, key=len)


def shortened(report: Report, plan: Plan) -> Report:
    """What a plan leaves of a report; a Domain State is cut at a word."""
    return replace(
        report,
        domain_state=cut(report.domain_state, plan.state, 4 * plan.state),
        findings=report.findings[: plan.bullets],
        flags=report.flags[: plan.bullets],
        absences=report.absences[: plan.bullets],
    )


def bullet_count(report: Report) -> int:
    """Findings, flags, and absences together."""
    return len(report.findings) + len(report.flags) + len(report.absences)
