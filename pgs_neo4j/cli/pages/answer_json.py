"""Answers and stored runs as JSON data with the export's keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.export.json_text import answer_data, citations_data, document_data
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.mentions import distinct

if TYPE_CHECKING:
    from pgs_neo4j.engine import SearchAnswer, StoredRun
    from pgs_neo4j.export import Area, Document
    from pgs_neo4j.model import Answer


def answer(
    result: Answer, areas: Sequence[Area] = (), searched: SearchAnswer | None = None
) -> Json:
    """Return the answer of ``pgs ask``.

    ``areas`` are the partitions of its generation; their keywords are included. ``searched`` is the
    answer of a preceding search, if there was one.
    """
    return {**answer_data(result, areas), "search": search(searched) if searched else None}


def run(stored: StoredRun, document: Document | None) -> Json:
    """Return a stored run with its answer, or with how it ended."""
    properties = stored.properties
    head = {"status": stored.status, "asked_at": properties.get("started_at")}
    head |= {"finished_at": properties.get("finished_at"), "error": properties.get("error")}
    head["outcome"] = properties.get("outcome")
    if document is not None:
        return {**head, **document_data(document)}
    names = {"graph": stored.graph, "session": stored.session, "run": stored.id}
    return {
        **head,
        "question": properties.get("question"),
        **names,
        "mode": properties.get("mode"),
        "partial": True,
        "answer": None,
    }


def search(result: SearchAnswer) -> Json:
    """Return the answer from the nearest nodes, and the search method.

    The nodes come best first.
    """
    return {
        "answer": result.text,
        "method": result.method,
        "nodes": [
            {"alias": node.alias, "node": node.key, "title": node.title} for node in result.nodes
        ],
        "citations": citations_data(distinct(result.citations)),
        "struck": plain_data(result.struck),
    }
