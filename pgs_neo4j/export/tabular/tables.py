"""Fills the tables of an answer and the table of recorded runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from pgs_neo4j.errors import UsageError
from pgs_neo4j.export.document import Document
from pgs_neo4j.export.tabular.rows import (
    ROWS,
    RUNS,
    AbsenceRow,
    ConnectionRow,
    CoverageRow,
    FindingRow,
    Row,
    RunRow,
    SourceRow,
)
from pgs_neo4j.model import Answer, Citation, Finding
from pgs_neo4j.text.citations import name_of, pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its name, the dataclass of its rows, and the rows in their order."""

    name: str
    of: type[Row]
    rows: tuple[Row, ...]


def answer_table(document: Document, name: str) -> Table:
    """Return a table of an answer: findings, absences, connections, coverage, or sources.

    Raises UsageError for another name.
    """
    filled = {
        "findings": _fill_findings,
        "absences": _fill_absences,
        "connections": _fill_connections,
        "coverage": _fill_coverage,
        "sources": _fill_sources,
    }
    if name not in filled:
        known = ", ".join(filled)
        raise UsageError(f"an answer has no table {name!r}; its tables are {known}")
    return Table(name=name, of=ROWS[name], rows=tuple(filled[name](document)))


def runs_table(runs: Iterable[object]) -> Table:
    """Return the table of recorded runs. ``runs`` are entries of ``pgs.runs()``."""
    names = [field.name for field in fields(RunRow) if field.name != "run"]
    rows = []
    for run in runs:
        values = {name: getattr(run, name) for name in names}
        rows.append(RunRow(run=getattr(run, "id"), **values))  # noqa: B009 - every run has an id
    return Table(name=RUNS, of=RunRow, rows=tuple(rows))


def cell_values(row: Row) -> tuple[object, ...]:
    """Return the values of a row in the order of its columns; NaN and infinity become None."""
    return tuple(_drop_infinity(getattr(row, field.name)) for field in fields(row))


def _drop_infinity(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _fill_findings(document: Document) -> Iterator[Row]:
    answer = document.answer
    for place, finding in enumerate(answer.shown.findings if answer.shown else (), 1):
        yield _make_finding_row(answer.run, answer.run, None, place, finding)
    for sweep in answer.sweeps:
        for place, finding in enumerate(sweep.report.findings if sweep.report else (), 1):
            yield _make_finding_row(
                answer.run, sweep.run or answer.run, sweep.partition, place, finding
            )


def _make_finding_row(
    run: str, made_by: str, partition: int | None, place: int, found: Finding
) -> Row:
    valid = [citation for citation in found.citations if citation.valid]
    return FindingRow(
        run=run,
        made_by=made_by,
        partition=partition,
        place=place,
        text=found.text,
        supported=found.supported,
        citations=_name_citations(valid),
        nodes=tuple(citation.node or "" for citation in valid),
        invalid_citations=_name_citations([cited for cited in found.citations if not cited.valid]),
        misquotes=tuple(quote.text for quote in found.quotes if not quote.found),
        doubts=found.doubts,
    )


def _name_citations(citations: Sequence[Citation]) -> tuple[str, ...]:
    return tuple(name_of(citation.partition, citation.alias) for citation in citations)


def _fill_absences(document: Document) -> Iterator[Row]:
    for place, absence in enumerate(document.answer.crosscheck.absences, 1):
        seen = absence.sightings
        yield AbsenceRow(
            run=document.answer.run,
            place=place,
            text=absence.text,
            status=str(absence.status),
            partitions=absence.partitions,
            terms=absence.terms,
            method=absence.method,
            searched=absence.searched,
            texts=absence.texts,
            count=absence.count,
            sightings=tuple(name_of(sighting.partition, sighting.alias) for sighting in seen),
            nodes=tuple(sighting.node for sighting in seen),
        )


def _fill_connections(document: Document) -> Iterator[Row]:
    answer = document.answer
    yield from _fill_bullets(answer, "connection", answer.synthesis.connections)
    yield from _fill_bullets(answer, "convergence", answer.synthesis.convergences)
    for place, flag in enumerate(answer.crosscheck.flags, 1):
        yield ConnectionRow(
            run=answer.run,
            kind="flag",
            place=place,
            text=flag.text,
            partitions=(flag.source,) if flag.target is None else (flag.source, flag.target),
            citations=_name_citations(flag.citations),
            findings=tuple(stated.text for stated in flag.answers),
            absent=flag.absent.text if flag.absent else None,
        )
    for place, met in enumerate(answer.crosscheck.convergences, 1):
        yield ConnectionRow(
            run=answer.run,
            kind=met.kind,
            place=place,
            text=None,
            partitions=met.partitions,
            citations=_name_citations(met.citations),
            findings=tuple(stated.text for stated in met.findings),
            absent=None,
        )


def _fill_bullets(answer: Answer, kind: str, bullets: Sequence[str]) -> Iterator[Row]:
    for place, text in enumerate(bullets, 1):
        cited = [
            each.place for piece in pieces(text) if not isinstance(piece, str) for each in piece
        ]
        yield ConnectionRow(
            run=answer.run,
            kind=kind,
            place=place,
            text=text,
            partitions=tuple(dict.fromkeys(partition for partition, _ in cited if partition)),
            citations=tuple(dict.fromkeys(name_of(*each) for each in cited)),
            findings=(),
            absent=None,
        )


def _fill_coverage(document: Document) -> Iterator[Row]:
    for area in document.areas:
        yield CoverageRow(
            run=document.answer.run,
            partition=area.partition,
            label=area.label,
            keywords=area.keywords,
            state=str(area.state),
            nodes=area.nodes,
            nodes_read=area.nodes_read,
            nodes_unproven=area.nodes_unproven,
            texts=area.texts,
            texts_read=area.texts_read,
            pool=area.pool,
        )


def _fill_sources(document: Document) -> Iterator[Row]:
    for source in document.sources:
        yield SourceRow(
            run=document.answer.run,
            citation=name_of(source.partition, source.alias),
            partition=source.partition,
            key=source.key,
            title=source.title,
            labels=source.labels,
            text=source.text,
            changed=source.changed,
            gone=source.text is None,
        )
