"""What a text cites and quotes, as it was judged when the text came, and as it is stored.

The graph moves on: judged again, a true citation of a node that was deleted since would be an
invalid one, and a true quotation of a node that was edited a misquote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import TypeAdapter

from pgs_neo4j.model import Citation, Quote

CITATIONS = TypeAdapter(tuple[Citation, ...])
QUOTES = TypeAdapter(tuple[Quote, ...])

Name = tuple[int, str]
"""What a citation calls a node: its partition and its alias there."""


def citations_json(citations: tuple[Citation, ...]) -> str:
    """Citations as they are stored. No id of the database is in it: those do not last."""
    stored = CITATIONS.dump_json(
        citations, exclude={"__all__": {"element_id"}}, exclude_defaults=True
    )
    return stored.decode()


def quotes_json(quotes: tuple[Quote, ...]) -> str:
    """Quotations as they are stored."""
    return QUOTES.dump_json(quotes).decode()


def citations_of(stored: str, here: Mapping[Name, str]) -> tuple[Citation, ...]:
    """Citations as they were given; ``here`` has the element ids of nodes that are still there."""
    return located(CITATIONS.validate_json(stored), here)


def quotes_of(stored: str) -> tuple[Quote, ...]:
    """Quotations with the verdicts that they were given."""
    return QUOTES.validate_json(stored)


def located(citations: Iterable[Citation], here: Mapping[Name, str]) -> tuple[Citation, ...]:
    """Citations with the element ids that their nodes have now, None where one is gone."""
    return tuple(
        replace(each, element_id=here.get((each.partition, each.alias)) if each.valid else None)
        for each in citations
    )
