"""Finds words in the names of labels and relationship types, which are words of their nodes.

Prompts show these names, so a graph of people who ``DIRECTED`` films is not silent about directing,
even if the word is in no text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.lookup_order import LookupOrder
from pgs_neo4j.text.matching import Page, SearchTerms

MOST = 100  # nodes to verify for a search
NAMES = "names of labels and relationship types"


@dataclass(frozen=True, slots=True)
class NamedSearch:
    """A search some of whose terms are in names.

    ``rest`` are the terms that must then be in the text of such a node, None if there need be none.
    """

    search: SearchTerms
    labels: tuple[str, ...]
    types: tuple[str, ...]
    rest: SearchTerms | None


async def match_names(
    db: Database, mapping: GraphMapping, searches: Sequence[SearchTerms]
) -> list[NamedSearch]:
    """Return the searches that names could satisfy, alone or with a text. Raises DatabaseError."""
    if not searches:
        return []
    [row] = await db.read(queries.get("retrieval/read_names"))
    chosen = mapping.relationship_types
    types = {name: Page.of(name) for name in row["types"] if not chosen or name in chosen}
    labels = {name: Page.of(name) for name in row["labels"]}
    found = (_match(search, labels, types) for search in searches)
    return [one for one in found if one is not None]


def _match(
    search: SearchTerms, labels: Mapping[str, Page], types: Mapping[str, Page]
) -> NamedSearch | None:
    terms = search.usable
    pages = [*labels.values(), *types.values()]
    named = [term for term in terms if any(page.holds(term) for page in pages)]
    others = tuple(term for term in terms if term not in named)
    needed = max(search.needed - len(named), 0)
    if not named or needed > len(others):
        return None
    return NamedSearch(
        search=search,
        labels=tuple(name for name, page in labels.items() if any(map(page.holds, named))),
        types=tuple(name for name, page in types.items() if any(map(page.holds, named))),
        rest=SearchTerms(others, needed, search.segmented) if needed else None,
    )


async def find_named(db: Database, order: LookupOrder, named: NamedSearch) -> list[str]:
    """Return the element ids of some nodes with the names, those to be read first in front.

    Raises DatabaseError.
    """
    rows = await db.read(
        queries.get("retrieval/find_named_nodes"),
        partitions=[partition.uid for partition in order.sequence],
        labels=list(named.labels),
        types=list(named.types),
        most=MOST,
    )
    return [row["element_id"] for row in rows]


async def read_node_names(
    db: Database, mapping: GraphMapping, nodes: Sequence[str]
) -> dict[str, list[str]]:
    """Return the labels and relationship types of nodes by element id. Raises DatabaseError."""
    rows = await db.read(
        queries.get("retrieval/read_node_names"),
        nodes=list(nodes),
        types=list(mapping.relationship_types),
    )
    return {row["element_id"]: row["names"] for row in rows}
