"""Citations and quotations as they are stored, with their verdicts.

A verdict is made once, when the text arrives, because the graph may change later. Then a citation
of a deleted node would look invalid, and a quotation of an edited node would look wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import TypeAdapter

from pgs_neo4j.database.stored_data import parse_stored
from pgs_neo4j.database.typed_columns import FIX
from pgs_neo4j.model import Citation, Quote

CITATIONS = TypeAdapter(tuple[Citation, ...])
QUOTES = TypeAdapter(tuple[Quote, ...])

Name = tuple[int, str]
"""A node as a citation names it: partition id and alias."""


def citations_json(citations: tuple[Citation, ...]) -> str:
    """Return citations as JSON, without element ids, which do not last."""
    stored = CITATIONS.dump_json(
        citations, exclude={"__all__": {"element_id"}}, exclude_defaults=True
    )
    return stored.decode()


def quotes_json(quotes: tuple[Quote, ...]) -> str:
    """Return quotations as JSON."""
    return QUOTES.dump_json(quotes).decode()


def citations_of(stored: str, element_ids: Mapping[Name, str]) -> tuple[Citation, ...]:
    """Read stored citations with their verdicts. Raises StoredDataError.

    ``element_ids`` belong to the nodes that are still in the graph.
    """
    citations = parse_stored(CITATIONS, stored, "a list of citations", FIX)
    return located(citations, element_ids)


def quotes_of(stored: str) -> tuple[Quote, ...]:
    """Read stored quotations with their verdicts. Raises StoredDataError."""
    return parse_stored(QUOTES, stored, "a list of quotations", FIX)


def located(citations: Iterable[Citation], element_ids: Mapping[Name, str]) -> tuple[Citation, ...]:
    """Give citations the element ids that their nodes have now.

    The id is None if the node is no longer in the graph, or if the citation is invalid.
    """
    return tuple(
        replace(
            citation,
            element_id=element_ids.get((citation.partition, citation.alias))
            if citation.valid
            else None,
        )
        for citation in citations
    )
