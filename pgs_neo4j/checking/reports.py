"""Puts the reports of all sweeps in order."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.model import Report, Sweep


def sorted_reports(sweeps: Sequence[Sweep]) -> list[tuple[str, Report]]:
    """The id of its earlier run (empty for this one) and each report, by partition.

    Several reports on one partition stay in the order of ``sweeps``.
    """
    reports = [(sweep.run, sweep.report) for sweep in sweeps if sweep.report is not None]
    return sorted(reports, key=lambda pair: pair[1].partition)
