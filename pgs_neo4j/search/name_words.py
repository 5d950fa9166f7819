"""Finds words in the names of labels and relationship types, which are words of their nodes.

Prompts show these names, so a graph of people who ``DIRECTED`` films is not silent about directing,
even if the word is in no text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.text.matching import Page, SearchTerms, root
from pgs_neo4j.text.words import words

MOST = 100  # nodes to verify for a search
NAMES = "names of labels and relationship types"
SHORT = 3
"""Letters that short words derived from each other have in common. With fewer, "user" and "us"
would meet."""
# Without "ies", "ied", and "ly", which leave three letters of "movies", "cities", and "early".
_ENDINGS = (
    *("ations", "ation", "ings", "ions", "ing", "ion", "ors", "ers", "ed", "es", "or", "er", "s"),
)
_VOWELS = frozenset("aeiouy")


@dataclass(frozen=True, slots=True)
class NamedSearch:
    """A search some of whose terms are in names.

    ``rest`` are the terms that must then be in the text of such a node, None if there need be none.
    """

    search: SearchTerms
    labels: tuple[str, ...]
    types: tuple[str, ...]
    rest: SearchTerms | None


@dataclass(frozen=True, slots=True)
class Names:
    """The labels and relationship types of a view, as texts in which words are searched."""

    labels: Mapping[str, Page] = field(default_factory=dict)
    types: Mapping[str, Page] = field(default_factory=dict)


async def read_names(db: Database, mapping: GraphMapping) -> Names:
    """Return all labels and the relationship types that a mapping chooses.

    Raises DatabaseError.
    """
    [row] = await db.read(queries.get("search/read_names"))
    chosen = mapping.relationship_types
    types = {name: Page.of(name) for name in row["types"] if not chosen or name in chosen}
    return Names({name: Page.of(name) for name in row["labels"]}, types)


def match_names(
    names: Names, searches: Sequence[SearchTerms], *, derived: bool = False
) -> list[NamedSearch]:
    """Return the searches that names could satisfy, alone or with a text.

    With ``derived``, short words derived from those of a name count as well: "actors" for
    ``ACTED_IN``. They lead to nodes, but prove nothing: no text need hold them.
    """
    found = (_match(search, names, derived=derived) for search in searches)
    return [one for one in found if one is not None]


@lru_cache(maxsize=4096)
def derivation(word: str) -> str:
    """Return what short words that are derived from each other have in common.

    "act", "acts", "acted", "actor", and "action" share three letters, which are too few to be a
    stem in texts, where "cited" and "city" or "rated" and "ration" would meet. Other words return
    their root.
    """
    if word.isascii() and word.isalpha():
        for suffix in _ENDINGS:
            rest = word.removesuffix(suffix)
            if rest != word and len(rest) > SHORT and rest[-1] == rest[-2]:
                rest = rest[:-1]  # "runner"
            if rest != word and len(rest) == SHORT and not _VOWELS.isdisjoint(rest):
                return rest
    return root(word)


def _match(search: SearchTerms, names: Names, *, derived: bool) -> NamedSearch | None:
    terms, labels, types = search.usable, names.labels, names.types

    def holds(page: Page, term: str) -> bool:
        return page.holds(term) or (derived and _derives(page, term))

    pages = [*labels.values(), *types.values()]
    named = [term for term in terms if any(holds(page, term) for page in pages)]
    others = tuple(term for term in terms if term not in named)
    needed = max(search.needed - len(named), 0)
    if not named or needed > len(others):
        return None
    return NamedSearch(
        search=search,
        labels=tuple(name for name, page in labels.items() if any(holds(page, t) for t in named)),
        types=tuple(name for name, page in types.items() if any(holds(page, t) for t in named)),
        rest=SearchTerms(others, needed, search.segmented) if needed else None,
    )


def _derives(page: Page, term: str) -> bool:
    """Return whether a name has a word that is derived as a term of a single word is."""
    asked = words(term)
    if len(asked) != 1:
        return False
    own = derivation(asked[0])
    return any(derivation(word) == own for word in words(page.text))


async def find_named(db: Database, order: LookupOrder, named: NamedSearch) -> list[str]:
    """Return the element ids of some nodes with the names, those to be read first in front.

    Raises DatabaseError.
    """
    rows = await db.read(
        queries.get("search/find_named_nodes"),
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
        queries.get("search/read_node_names"),
        nodes=list(nodes),
        types=list(mapping.relationship_types),
    )
    return {row["element_id"]: row["names"] for row in rows}
