"""An answer and a stored run as plain JSON data, with the keys that ``pgs export`` has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.export.json_text import answer_data, citations_data
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.text.mentions import distinct

if TYPE_CHECKING:
    from pgs_neo4j.export import Area, Document
    from pgs_neo4j.model import Answer
    from pgs_neo4j.pgs.layered import SearchAnswer
    from pgs_neo4j.runs.runs import StoredRun


def answer(found: Answer, areas: Sequence[Area] = (), searched: SearchAnswer | None = None) -> Json:
    """The answer of ``pgs ask``; ``areas`` are the partitions around it, for their keywords.

    ``searched`` is the answer of the search before it, if there was one.
    """
    return {**answer_data(found, areas), "search": search(searched) if searched else None}


def run(stored: StoredRun, document: Document | None) -> Json:
    """A stored run: its answer, or, with null in its place, how it ended without one."""
    kept = stored.properties
    head = {"status": stored.status, "asked_at": kept.get("started_at")}
    head |= {"finished_at": kept.get("finished_at"), "error": kept.get("error")}
    if document is not None:
        return {**head, **answer_data(document.answer, document.areas)}
    names = {"graph": stored.graph, "session": stored.session, "run": stored.id}
    return {
        **head,
        "question": kept.get("question"),
        **names,
        "mode": kept.get("mode"),
        "partial": True,
        "answer": None,
    }


def search(found: SearchAnswer) -> Json:
    """The answer from the nearest nodes, best first, and how they were found."""
    return {
        "answer": found.text,
        "method": found.method,
        "nodes": [
            {"alias": node.alias, "node": node.key, "title": node.title} for node in found.nodes
        ],
        "citations": citations_data(distinct(found.citations)),
    }
