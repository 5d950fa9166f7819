"""Prepares each report as a section of the synthesis prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.model import Citation, Finding, Partition, Report, Sweep
from pgs_neo4j.text.citations import qualify_aliases
from pgs_neo4j.text.clean import clean_text
from pgs_neo4j.text.cut import cut
from pgs_neo4j.text.shown import unproven_note

KEYWORDS = (120, 180)  # characters and bytes of a partition's keywords


@dataclass(frozen=True, slots=True)
class Section:
    """A report, or several condensed into one, with its header.

    ``partitions`` are the ids of the partitions it covers. ``report`` is the parsed report.
    ``qualified`` is the same with the partition before each alias and a mark on unsupported
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
    return [_section(by_id[s.partition], s, s.report) for s in sweeps if s.report is not None]


def listed_keywords(keywords: Sequence[str]) -> str:
    """Return keywords as a prompt lists them, shortened."""
    return cut(clean_text(", ".join(keywords)), *KEYWORDS)


def citable_of(sections: Sequence[Section]) -> Mapping[tuple[int, str], Citation]:
    """Return all sections' citations, which the synthesis may repeat."""
    return {key: citation for section in sections for key, citation in section.citable.items()}


def _section(partition: Partition, sweep: Sweep, report: Report) -> Section:
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
        findings=tuple(_marked(finding, number) for finding in report.findings),
        flags=tuple(replace(f, text=qualify_aliases(f.text, number)) for f in report.flags),
        absences=tuple(replace(a, text=qualify_aliases(a.text, number)) for a in report.absences),
    )
    return Section((partition.id,), partition.name, partition.topics, header, report, marked)


def _marked(finding: Finding, partition: int) -> Finding:
    text = qualify_aliases(finding.text, partition)
    if not finding.supported:
        return replace(finding, text=f"{text} (unsupported: it cites no node that was shown)")
    if not all(quote.found for quote in finding.quotes):
        text = f"{text} (misquoted: its nodes do not say it in these words)"
    if finding.doubts:
        text = f"{text} (in doubt: {'; '.join(finding.doubts)})"
    return replace(finding, text=text)
