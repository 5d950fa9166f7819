"""An answer as JSON: everything that is known of it, under keys that stay.

Numbers that JSON has no word for (NaN, infinity) become null. Element ids stay out: they mean
nothing outside the database, and little in it tomorrow.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pgs_neo4j.export import facts
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.mentions import distinct
from pgs_neo4j.model import (
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Finding,
    Report,
    Sighting,
    Sweep,
)

Json = dict[str, Any]

# What a terminal might obey, a viewer might reorder, or UTF-8 has no bytes for.
_UNSAFE = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def to_json(document: Document) -> str:
    """The document as JSON text, two spaces deep; parsed again, no text has lost a character."""
    value = {
        **_answer(document.answer),
        "asked_at": document.asked_at,
        "areas": plain_data(document.areas),
        "sources": [_source(each) for each in document.sources],
    }
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def plain_data(value: object) -> Any:
    """Dataclasses, mappings, sequences, and numbers as JSON data, by field name."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain_data(item) for item in value]
    return str(value)


def _answer(found: Answer) -> Json:
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
        "citations": _citations(distinct(made.citations)),
        "checks": {
            "findings": sum(1 for _ in facts.findings(found)),
            "unsupported_findings": facts.unsupported(found),
            "misquotes": facts.misquotes(found),
            "invalid_citations": facts.invalid(found),
        },
        "checked_absences": [_absence(each) for each in found.crosscheck.absences],
        "flags": [_flag(each) for each in found.crosscheck.flags],
        "converging_findings": [_convergence(each) for each in found.crosscheck.convergences],
        "sweeps": [_sweep(each) for each in found.sweeps],
        "routing": plain_data(found.routing),
        "coverage": {
            **plain_data(found.coverage),
            "fraction": plain_data(found.coverage.fraction),
        },
        "usage": plain_data(found.usage),
        "synthesis_usage": plain_data(made.usage),
        "cost": plain_data(found.cost),
        "seconds": plain_data(found.seconds),
        "warnings": list(found.warnings),
    }


def _citations(found: Sequence[Citation]) -> list[Json]:
    names = ("partition", "alias", "node", "title", "valid")
    return [{name: getattr(each, name) for name in names} for each in found]


def _sweep(found: Sweep) -> Json:
    return {
        "partition": found.partition,
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
    }


def _report(found: Report) -> Json:
    return {
        "domain_state": found.domain_state,
        "findings": [_finding(each) for each in found.findings],
        "flags": [
            {"text": each.text, "target": each.target, "citations": _citations(each.citations)}
            for each in found.flags
        ],
        "absences": [each.text for each in found.absences],
    }


def _finding(found: Finding) -> Json:
    return {
        "text": found.text,
        "supported": found.supported,
        "citations": _citations(found.citations),
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
        "citations": _citations(found.citations),
        "answers": plain_data(found.answers),
        "absent": plain_data(found.absent),
    }


def _convergence(found: Convergence) -> Json:
    return {
        "kind": found.kind,
        "partitions": list(found.partitions),
        "findings": plain_data(found.findings),
        "citations": _citations(found.citations),
    }


def _source(found: SourceNode) -> Json:
    return {**plain_data(found), "gone": found.text is None}
