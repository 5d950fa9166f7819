"""Writes an answer, or an event of a run, as complete JSON with stable keys.

NaN and infinity become null. Answers leave out element ids, which have no meaning outside the
database and are not even permanent inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from pgs_neo4j.events import ContextsKnown, Event, Routed, SweepFinished
from pgs_neo4j.export import wording
from pgs_neo4j.export.document import Area, Document, SourceNode
from pgs_neo4j.model import (
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Coverage,
    Finding,
    Report,
    Shown,
    Sighting,
    Sweep,
)
from pgs_neo4j.text.citations import distinct
from pgs_neo4j.text.json_data import Json, json_text, plain_data


def to_json(document: Document) -> str:
    """Render a document as JSON text. A parser returns all texts unchanged."""
    return json_text(document_data(document))


def document_data(document: Document) -> Json:
    """Return a document as JSON data: the answer, its partitions, and its sources."""
    return {
        **answer_data(document.answer, document.areas),
        "asked_at": document.asked_at,
        "areas": plain_data(document.areas),
        "sources": [_source_data(source) for source in document.sources],
    }


def answer_data(answer: Answer, areas: Sequence[Area] = ()) -> Json:
    """Return an answer as JSON data.

    ``areas`` provide the keywords, labels, and titles of the partitions of sweeps.
    """
    by_id = {area.partition: area for area in areas}
    synthesis, checks = answer.synthesis, answer.crosscheck
    names = ("question", "graph", "session", "run", "mode", "model", "generation")
    return {
        **{name: getattr(answer, name) for name in names},
        "partial": answer.partial,
        "stopped": answer.stopped,
        "answer": answer.text,
        "complete": synthesis.complete,
        "proven": synthesis.proven,
        "reductions": synthesis.reductions,
        "thesis": synthesis.thesis,
        "connections": list(synthesis.connections),
        "absences": list(synthesis.absences),
        "convergences": list(synthesis.convergences),
        "citations": citations_data(distinct(synthesis.citations)),
        "checks": {
            "findings": wording.finding_count(answer),
            "unsupported_findings": wording.unsupported_count(answer),
            "misquotes": wording.misquote_count(answer),
            "invalid_citations": wording.invalid_citation_count(answer),
            "doubted_sentences": len(answer.in_doubt),
            "struck_sentences": len(answer.struck),
        },
        "in_doubt": plain_data(answer.in_doubt),
        "struck": plain_data(answer.struck),
        "checked_absences": [_absence_data(absence) for absence in checks.absences],
        "flags": [_flag_data(flag) for flag in checks.flags],
        "converging_findings": [_convergence_data(met) for met in checks.convergences],
        "sweeps": [sweep_data(sweep, by_id.get(sweep.partition)) for sweep in answer.sweeps],
        "routing": plain_data(answer.routing),
        "coverage": coverage_data(answer.coverage),
        "own_coverage": coverage_data(answer.own_coverage),
        "usage": plain_data(answer.usage),
        "synthesis_usage": plain_data(synthesis.usage),
        "cost": plain_data(answer.cost),
        "contexts": dict(answer.contexts),
        "seconds": plain_data(answer.seconds),
        "warnings": list(answer.warnings),
        **({"shown": shown_data(answer.shown)} if answer.shown else {}),
    }


def shown_data(shown: Shown) -> Json:
    """Return, as JSON data, the nodes and relationships that a search showed, with the findings."""
    return {
        "nodes": citations_data(shown.nodes),
        "relationships": citations_data(shown.relationships),
        "nodes_total": shown.nodes_total,
        "tokens": shown.tokens,
        "findings": [_finding_data(finding) for finding in shown.findings],
        "reason": shown.reason,
        "rows": plain_data(shown.rows),
    }


def coverage_data(coverage: Coverage) -> Json:
    """Return coverage as JSON data: counts of partitions, nodes, and texts, and the fraction."""
    return {**plain_data(coverage), "fraction": plain_data(coverage.fraction)}


def citations_data(citations: Sequence[Citation]) -> list[Json]:
    """Return citations as JSON data. Key and title are null if a citation is invalid."""
    names = ("partition", "alias", "node", "title", "valid")
    return [{name: getattr(citation, name) for name in names} for citation in citations]


def sweep_data(sweep: Sweep, area: Area | None = None) -> Json:
    """Return a sweep with its report as JSON data; ``area`` is its partition."""
    return {
        "partition": sweep.partition,
        "keywords": list(area.keywords) if area else [],
        "label": area.label if area else "",
        "titles": list(area.titles) if area else [],
        "status": str(sweep.status),
        "wave": sweep.wave,
        "nodes": sweep.nodes,
        "nodes_read": sweep.nodes_read,
        "texts_read": sweep.texts_read,
        "nodes_unproven": sweep.nodes_unproven,
        "read": plain_data(sweep.read),
        "passes": sweep.passes,
        "passes_accepted": sweep.passes_accepted,
        "report": _report_data(sweep.report) if sweep.report is not None else None,
        "errors": list(sweep.errors),
        "usage": plain_data(sweep.usage),
        "seconds": plain_data(sweep.seconds),
        "generation": sweep.generation,
        "run": sweep.run,
    }


def _report_data(report: Report) -> Json:
    return {
        "domain_state": report.domain_state,
        "findings": [_finding_data(finding) for finding in report.findings],
        "flags": [
            {"text": flag.text, "target": flag.target, "citations": citations_data(flag.citations)}
            for flag in report.flags
        ],
        "absences": [absence.text for absence in report.absences],
        "struck": plain_data(report.struck),
    }


def _finding_data(finding: Finding) -> Json:
    return {
        "text": finding.text,
        "supported": finding.supported,
        "citations": citations_data(finding.citations),
        "quotes": plain_data(finding.quotes),
        "doubts": list(finding.doubts),
    }


def _absence_data(absence: CheckedAbsence) -> Json:
    return {
        "text": absence.text,
        "status": str(absence.status),
        "partitions": list(absence.partitions),
        "reported": plain_data(absence.reported),
        "terms": list(absence.terms),
        "searched": absence.searched,
        "texts": absence.texts,
        "method": absence.method,
        "count": absence.count,
        "sightings": [_sighting_data(sighting) for sighting in absence.sightings],
    }


def _sighting_data(sighting: Sighting) -> Json:
    names = ("partition", "alias", "node", "title", "read")
    return {name: getattr(sighting, name) for name in names}


def _flag_data(flag: ChasedFlag) -> Json:
    return {
        "source": flag.source,
        "target": flag.target,
        "place": flag.place,
        "text": flag.text,
        "swept": flag.swept,
        "opportunity": flag.absent is not None,
        "citations": citations_data(flag.citations),
        "answers": plain_data(flag.answers),
        "absent": plain_data(flag.absent),
    }


def _convergence_data(convergence: Convergence) -> Json:
    return {
        "kind": convergence.kind,
        "partitions": list(convergence.partitions),
        "findings": plain_data(convergence.findings),
        "citations": citations_data(convergence.citations),
    }


def _source_data(source: SourceNode) -> Json:
    return {**plain_data(source), "gone": source.text is None}


def event_data(event: Event, run: str | None = None) -> Json:
    """Return an event as JSON data: kind, run, and fields.

    ``run`` is None for events outside a run. Routings and sweeps have the same keys as in ``pgs
    export``. Texts from the model or the graph are unchanged; ``json_text`` makes them safe.
    """
    head: Json = {"kind": event.kind, "run": run}
    match event:
        case Routed(routing):
            return {**head, "routing": plain_data(routing)}
        case ContextsKnown(contexts):
            return {**head, "contexts": dict(contexts)}
        case SweepFinished(sweep):
            return {**head, "sweep": sweep_data(sweep)}
    names = (field.name for field in fields(event))
    return {**head, **{name: plain_data(getattr(event, name)) for name in names}}
