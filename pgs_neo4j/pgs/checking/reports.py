"""Sorts the reports of all sweeps, and repeats their findings."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.model import Finding, Report, Stated, Sweep
from pgs_neo4j.text.claims.marking import remark


def sorted_reports(sweeps: Sequence[Sweep]) -> list[tuple[str, Report]]:
    """Return all reports by partition, each with the id of its run.

    The id is empty for the current run. Several reports on one partition stay in the order of
    ``sweeps``.
    """
    reports = [(sweep.run, sweep.report) for sweep in sweeps if sweep.report is not None]
    return sorted(reports, key=lambda pair: pair[1].partition)


def stated_finding(partition: int, place: int, finding: Finding, run: str) -> Stated:
    """Return a finding as other lists repeat it, with a mark if it is in doubt."""
    return Stated(partition, place, remark(finding.text, finding.failures), run)
