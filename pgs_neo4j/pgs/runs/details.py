"""The stored form of an answer: one JSON document on its run.

The columns of the run (question, mode, status) and its recorded sweeps are stored separately. The
document is read back unchanged. The nodes of ``answer_rows`` repeat parts of the answer for queries
and are never read back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import (
    Answer,
    Coverage,
    Crosscheck,
    Routing,
    Shown,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.pgs.runs.session import Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Everything in an answer except its run's columns and recorded sweeps.

    ``unread`` are the sweeps that a limit prevented; they are recorded nowhere else. ``nodes_read``
    counts, by partition id, the nodes that the session had read by then, ``texts_read`` those of
    them that had text, and ``nodes_unproven`` others that were shown without proof. ``shown`` is
    that of an answer from a search.
    """

    routing: Routing
    coverage: Coverage
    usage: Usage
    seconds: dict[str, float]
    crosscheck: Crosscheck
    unread: tuple[Sweep, ...]
    nodes_read: dict[int, int]
    texts_read: dict[int, int]
    own_coverage: Coverage
    shown: Shown | None
    synthesis: Synthesis
    nodes_unproven: dict[int, int] = field(default_factory=dict)
    contexts: tuple[tuple[str, str], ...] = ()


DETAILS = TypeAdapter(Details)


def details_json(answer: Answer, read: Read) -> str:
    """Return the details as JSON, without element ids, which do not last."""
    details = Details(
        routing=answer.routing,
        coverage=answer.coverage,
        usage=answer.usage,
        seconds=answer.seconds,
        crosscheck=answer.crosscheck,
        unread=tuple(sweep for sweep in answer.sweeps if sweep.status is SweepStatus.UNREAD),
        nodes_read=read.counts,
        texts_read=read.text_counts,
        own_coverage=answer.own_coverage,
        shown=answer.shown,
        synthesis=answer.synthesis,
        nodes_unproven=read.unproven_counts,
        contexts=answer.contexts,
    )
    data = DETAILS.dump_python(details, mode="json")
    return json.dumps(_without_element_ids(data), ensure_ascii=False)


def result_properties(answer: Answer, read: Read) -> Row:
    """Return the properties with which a run ends that has an answer."""
    return {
        "status": "partial" if answer.partial else "complete",
        "answer": answer.text,
        "thesis": answer.synthesis.thesis,
        "model": answer.model,
        "seconds": round(answer.seconds["total"], 3),
        "nodes_read": sum(sweep.nodes_read for sweep in answer.sweeps),
        "texts_read": sum(sweep.texts_read for sweep in answer.sweeps),
        "nodes_unproven": sum(sweep.nodes_unproven for sweep in answer.sweeps),
        "warnings": list(answer.warnings),
        "stopped": answer.stopped,
        "details": details_json(answer, read),
        **({"nodes_shown": len(answer.shown.nodes)} if answer.shown else {}),
    }


def read_details(stored: str) -> Details:
    """Read a run's details."""
    return DETAILS.validate_json(stored)


def _without_element_ids(value: Any) -> Any:
    """Return JSON data without element ids.

    They identify nodes in this database only.
    """
    if isinstance(value, dict):
        return {
            key: _without_element_ids(item) for key, item in value.items() if key != "element_id"
        }
    return [_without_element_ids(item) for item in value] if isinstance(value, list) else value
