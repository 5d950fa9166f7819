"""An answer and a stored run as plain JSON data, under keys that stay."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.cli.as_json import Json, coverage, plain_data, routing

if TYPE_CHECKING:
    from pgs_neo4j.export import Area, Document
    from pgs_neo4j.model import Answer, Citation, Sweep
    from pgs_neo4j.pgs.layered import SearchAnswer
    from pgs_neo4j.pgs.runs import StoredRun

PHASES = ("partition", "route", "sweep", "synthesize", "total")


def answer(
    found: Answer, keywords: Mapping[int, Sequence[str]], searched: SearchAnswer | None = None
) -> Json:
    """The answer of ``pgs ask``; ``keywords`` are those of the partitions that were swept.

    ``searched`` is the answer of the search before it, if there was one.
    """
    made = found.synthesis
    told = exported(found)
    return {
        "question": found.question,
        "graph": found.graph,
        "session": found.session,
        "run": found.run,
        "mode": found.mode,
        "model": found.model,
        "generation": found.generation,
        "partial": found.partial,
        "stopped": found.stopped,
        "answer": found.text,
        "thesis": made.thesis,
        "connections": list(made.connections),
        "absences": list(made.absences),
        "convergences": list(made.convergences),
        "citations": [citation(each) for each in distinct(made.citations)],
        "checks": told["checks"],
        "crosscheck": {
            "absences": told["checked_absences"],
            "flags": told["flags"],
            "convergences": told["converging_findings"],
        },
        "partitions": [
            {**sweep(each, keywords.get(each.partition, ())), "report": as_told["report"]}
            for each, as_told in zip(found.sweeps, told["sweeps"], strict=True)
        ],
        "routing": routing(found.routing),
        "coverage": coverage(found.coverage),
        "usage": plain_data(found.usage),
        "reductions": made.reductions,
        "cost": plain_data(found.cost),
        "seconds": {name: plain_data(found.seconds.get(name, 0.0)) for name in PHASES},
        "warnings": list(found.warnings),
        "search": search(searched) if searched is not None else None,
    }


def exported(found: Answer) -> Json:
    """The answer as ``pgs export`` writes it, so that the same has the same keys."""
    from pgs_neo4j.export import Document, to_json

    document: Json = json.loads(to_json(Document(answer=found, asked_at="")))
    return document


def run(stored: StoredRun, document: Document | None) -> Json:
    """A stored run: its answer, or, with null in its place, how it ended without one."""
    kept = stored.properties
    head = {"status": stored.status, "asked_at": kept.get("started_at")}
    head |= {"finished_at": kept.get("finished_at"), "error": kept.get("error")}
    if document is not None:
        return {**head, **answer(document.answer, keywords_of(document.areas))}
    names = {"graph": stored.graph, "session": stored.session, "run": stored.id}
    return {
        **head,
        "question": kept.get("question"),
        **names,
        "mode": kept.get("mode"),
        "partial": True,
        "answer": None,
    }


def keywords_of(areas: Sequence[Area]) -> dict[int, Sequence[str]]:
    """The keywords of partitions by their number."""
    return {area.partition: area.keywords for area in areas}


def search(found: SearchAnswer) -> Json:
    """The answer from the nearest nodes, best first, and how they were found."""
    return {
        "answer": found.text,
        "method": found.method,
        "nodes": [
            {"alias": node.alias, "node": node.key, "title": node.title} for node in found.nodes
        ],
        "citations": [citation(each) for each in distinct(found.citations)],
    }


def distinct(citations: Sequence[Citation]) -> list[Citation]:
    """Each citation once, in the order of its first appearance."""
    return list({(each.partition, each.alias): each for each in citations}.values())


def citation(found: Citation) -> Json:
    """A citation with the key and title of its node; both null when it resolves to none."""
    names = ("alias", "partition", "node", "title", "valid")
    return {name: getattr(found, name) for name in names}


def sweep(found: Sweep, keywords: Sequence[str]) -> Json:
    """How the reading of one partition ended."""
    return {
        "id": found.partition,
        "status": str(found.status),
        "wave": found.wave,
        "nodes": found.nodes,
        "nodes_read": found.nodes_read,
        "passes": found.passes,
        "passes_accepted": found.passes_accepted,
        "keywords": list(keywords),
        "errors": list(found.errors),
        "usage": plain_data(found.usage),
        "seconds": plain_data(found.seconds),
    }
