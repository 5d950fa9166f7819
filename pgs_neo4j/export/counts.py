"""Counts the results of an answer's checks."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.model import Answer, CheckedAbsence, Finding

EXTRACTIVE = "extractive"


def findings(answer: Answer) -> Iterator[Finding]:
    """Yield the findings of all reports, in the order of the sweeps, or those of a search."""
    yield from answer.shown.findings if answer.shown else ()
    for sweep in answer.sweeps:
        if sweep.report is not None:
            yield from sweep.report.findings


def finding_count(answer: Answer) -> int:
    """Return the number of findings in all reports."""
    return sum(1 for _ in findings(answer))


def unsupported_count(answer: Answer) -> int:
    """Return the number of findings that cite no node of their prompt."""
    return sum(not finding.supported for finding in findings(answer))


def misquote_count(answer: Answer) -> int:
    """Count quotations that no cited node contains."""
    return sum(not quote.found for finding in findings(answer) for quote in finding.quotes)


def invalid_citation_count(answer: Answer) -> int:
    """Count distinct citations of the answer that resolve to no node."""
    citations = answer.synthesis.citations
    return len({(cited.partition, cited.alias) for cited in citations if not cited.valid})


def alias_partition(absence: CheckedAbsence) -> int:
    """Return the partition whose aliases an absence's text uses.

    0 if no partition reports the absence in these words.
    """
    same = (stated.partition for stated in absence.reported if stated.text == absence.text)
    return next(same, 0)


def used_extractive_reader(answer: Answer) -> bool:
    """Whether the extractive reader, which is no language model, took part."""
    return EXTRACTIVE in answer.model.split(" / ")


def quotes_only(answer: Answer, *, synthesis: bool) -> bool:
    """Whether the extractive reader wrote the sweeps, or the synthesis.

    Its sentences are the graph's own, so none of their marks is Markdown.
    """
    models = answer.model.split(" / ")
    return models[-1 if synthesis else 0] == EXTRACTIVE
