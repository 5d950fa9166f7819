"""An answer as JSON: everything that is known of it, under keys that stay.

Numbers that JSON has no word for (NaN, infinity) become null. Element ids stay out: they mean
nothing outside the database, and little in it tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgs_neo4j.export import facts
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
    Sighting,
    Sweep,
)
from pgs_neo4j.text.json_data import Json, json_text, plain_data
from pgs_neo4j.text.mentions import distinct


def to_json(document: Document) -> str:
    """The document as JSON text; parsed again, no text has lost a character."""
    return json_text(
        {
            **answer_data(document.answer, document.areas),
            "asked_at": document.asked_at,
            "areas": plain_data(document.areas),
            "sources": [_source(each) for each in document.sources],
        }
    )


def answer_data(found: Answer, areas: Sequence[Area] = ()) -> Json:
    """An answer as JSON data; its sweeps have the keywords of their ``areas``."""
    keywords = {area.partition: area.keywords for area in areas}
    made = found.synthesis
    names = ("question", "graph", "session", "run", "mode", "model", "generation")
    return {
        **{name: getattr(found, name) for name in names},
        "partial": found.partial,
        "stopped": found.stopped,
        "answer": found.text,
        "complete": made.complete,
        "reductions": made.reductions,
        "thesis": made.thesis,
        "connections": list(made.connections),
        "absences": list(made.absences),
        "convergences": list(made.convergences),
        "citations": citations_data(distinct(made.citations)),
        "checks": {
            "findings": sum(1 for _ in facts.findings(found)),
            "unsupported_findings": facts.unsupported(found),
            "misquotes": facts.misquotes(found),
            "invalid_citations": facts.invalid(found),
        },
        "checked_absences": [_absence(each) for each in found.crosscheck.absences],
        "flags": [_flag(each) for each in found.crosscheck.flags],
        "converging_findings": [_convergence(each) for each in found.crosscheck.convergences],
        "sweeps": [_sweep(each, keywords) for each in found.sweeps],
        "routing": plain_data(found.routing),
        "coverage": coverage_data(found.coverage),
        "usage": plain_data(found.usage),
        "synthesis_usage": plain_data(made.usage),
        "cost": plain_data(found.cost),
        "seconds": plain_data(found.seconds),
        "warnings": list(found.warnings),
    }


def coverage_data(found: Coverage) -> Json:
    """Coverage in partitions and in nodes."""
    return {**plain_data(found), "fraction": plain_data(found.fraction)}


def citations_data(found: Sequence[Citation]) -> list[Json]:
    """Citations with the key and title of their nodes; both null where one resolves to none."""
    names = ("partition", "alias", "node", "title", "valid")
    return [{name: getattr(each, name) for name in names} for each in found]


def _sweep(found: Sweep, keywords: Mapping[int, Sequence[str]]) -> Json:
    return {
        "partition": found.partition,
        "keywords": list(keywords.get(found.partition, ())),
        "status": str(found.status),
        "wave": found.wave,
        "nodes": found.nodes,
        "nodes_read": found.nodes_read,
        "read": plain_data(found.read),
        "passes": found.passes,
        "passes_accepted": found.passes_accepted,
        "report": _report(found.report) if found.report is not None else None,
        "errors": list(found.errors),
        "usage": plain_data(found.usage),
        "seconds": plain_data(found.seconds),
        "generation": found.generation,
        "run": found.run,
    }


def _report(found: Report) -> Json:
    return {
        "domain_state": found.domain_state,
        "findings": [_finding(each) for each in found.findings],
        "flags": [
            {"text": each.text, "target": each.target, "citations": citations_data(each.citations)}
            for each in found.flags
        ],
        "absences": [each.text for each in found.absences],
    }


def _finding(found: Finding) -> Json:
    return {
        "text": found.text,
        "supported": found.supported,
        "citations": citations_data(found.citations),
        "quotes": plain_data(found.quotes),
    }


def _absence(found: CheckedAbsence) -> Json:
    return {
        "text": found.text,
        "status": str(found.status),
        "partitions": list(found.partitions),
        "reported": plain_data(found.reported),
        "terms": list(found.terms),
        "searched": found.searched,
        "method": found.method,
        "count": found.count,
        "sightings": [_sighting(each) for each in found.sightings],
    }


def _sighting(found: Sighting) -> Json:
    names = ("partition", "alias", "node", "title", "read")
    return {name: getattr(found, name) for name in names}


def _flag(found: ChasedFlag) -> Json:
    return {
        "source": found.source,
        "target": found.target,
        "place": found.place,
        "text": found.text,
        "swept": found.swept,
        "opportunity": found.absent is not None,
        "citations": citations_data(found.citations),
        "answers": plain_data(found.answers),
        "absent": plain_data(found.absent),
    }


def _convergence(found: Convergence) -> Json:
    return {
        "kind": found.kind,
        "partitions": list(found.partitions),
        "findings": plain_data(found.findings),
        "citations": citations_data(found.citations),
    }


def _source(found: SourceNode) -> Json:
    return {**plain_data(found), "gone": found.text is None}
