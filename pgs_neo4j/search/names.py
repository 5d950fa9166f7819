"""Searches the names of labels and relationship types, which count as words of their nodes.

Prompts show these names, so a graph of people who ``REVIEWED`` films answers "who are the
reviewers?" even if no text contains the word. A lookup verifies such words, and a question scores
nodes by them. A word counts by its rarity, as in a text: a name that every node has says nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.search.nodes import Place
from pgs_neo4j.text.matching import Page, SearchTerms, root
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.words import words

MOST = 100  # nodes to verify for a search
NAMES = "names of labels and relationship types"
SHORT = 3
"""Letters that two short words must share to count as related. With fewer, "user" would match
"us"."""
# "ies", "ied", and "ly" are left out because "movies", "cities", and "early" would lose too much.
_ENDINGS = (
    *("ations", "ation", "ings", "ions", "ing", "ion", "ors", "ers", "ed", "es", "or", "er", "s"),
)
_VOWELS = frozenset("aeiouy")
NAME_SHARE = 0.3
"""Weight of a word in a name; a word in a text has weight 1. Words in a title, which is also a
short field, have the same weight (:data:`pgs_neo4j.text.terms.rescoring.TITLE_SHARE`).
"""
MOST_MEMBERS = 100_000
"""Maximum number of nodes of a graph in which names are searched in addition to texts; this takes a
fraction of a second. In a larger graph, names count only if no text matches.
"""
BESIDE_S, ALONE_S = 1.0, 4.0
"""Maximum seconds to search names if texts match, and if no text matches. If the search takes
longer, names do not count, and the texts still do.
"""
EACH = 20
"""Maximum number of nodes per partition that can gain by the same names. Each node counts less than
the previous one.
"""
ONLY_NAMES = f"no text matches; nodes are found by the {NAMES}"
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class NamedSearch:
    """A search with terms that occur in names, and the labels and types with these names.

    ``rest`` is the search for the other terms in the node's text, None if the names suffice.
    """

    search: SearchTerms
    labels: tuple[str, ...]
    types: tuple[str, ...]
    rest: SearchTerms | None


@dataclass(frozen=True, slots=True)
class Names:
    """The labels and relationship types of a view, each with its name as a searchable page."""

    labels: Mapping[str, Page] = field(default_factory=dict)
    types: Mapping[str, Page] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedNodes(Generic[T]):
    """The score that each node gains by its names, and the question's words that names contain."""

    gains: Mapping[T, float] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    def add_to(self, scores: Mapping[T, float]) -> dict[T, float]:
        """Return ``scores`` plus the gains, best first; equal nodes keep the order of ``scores``.

        All gains are scaled down if the largest exceeds ``NAME_SHARE`` of the best score.
        """
        added = dict(scores)
        most = max(self.gains.values(), default=0.0)
        limit = NAME_SHARE * max(added.values(), default=0.0)
        share = limit / most if added and most > limit else 1.0
        for node, gain in self.gains.items():
            added[node] = added.get(node, 0.0) + share * gain
        return dict(sorted(added.items(), key=lambda pair: -pair[1]))


@dataclass(frozen=True, slots=True)
class AskedNames:
    """The words of a question that are in names, with the labels and types containing each word."""

    labels: Mapping[str, frozenset[str]]
    types: Mapping[str, frozenset[str]]

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The labels and types to search for, as parameters of a statement."""
        return {
            "labels": sorted(frozenset[str]().union(*self.labels.values())),
            "types": sorted(frozenset[str]().union(*self.types.values())),
        }

    def words_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the question's words that at least one of ``names`` contains."""
        held = frozenset(names)
        return frozenset(
            word for word in self.labels if held & self.labels[word] or held & self.types[word]
        )


async def read_names(db: Database, mapping: GraphMapping) -> Names:
    """Return all labels, and the relationship types that the mapping selects.

    Within a scope, returns only names that its nodes have. Raises DatabaseError.
    """
    if db.scope:
        read = db.read(queries.get("search/read_scoped_names"), chosen=list(mapping.labels))
    else:
        read = db.read(queries.get("search/read_names"))
    [row] = await read
    chosen = mapping.relationship_types
    types = {name: Page.of(name) for name in row["types"] if not chosen or name in chosen}
    return Names({name: Page.of(name) for name in row["labels"]}, types)


def match_names(
    names: Names, searches: Sequence[SearchTerms], *, derived: bool = False
) -> list[NamedSearch]:
    """Return the searches that names could satisfy, alone or with a text.

    ``derived`` also counts related short words, such as "actors" for ``ACTED_IN``. They lead to
    nodes but prove nothing, because no text needs to contain them.
    """
    found = (_match_search(search, names, derived=derived) for search in searches)
    return [one for one in found if one is not None]


def _match_search(search: SearchTerms, names: Names, *, derived: bool) -> NamedSearch | None:
    terms, labels, types = search.usable, names.labels, names.types

    def holds(page: Page, term: str) -> bool:
        return page.holds(term) or (derived and _has_related_word(page, term))

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


def _has_related_word(page: Page, term: str) -> bool:
    """Return whether ``term`` is a single word and a word of the name is related to it."""
    asked = words(term)
    if len(asked) != 1:
        return False
    own = derivation(asked[0])
    return any(derivation(word) == own for word in words(page.text))


@lru_cache(maxsize=4096)
def derivation(word: str) -> str:
    """Return a form that a short word shares with its relatives; other words return their root.

    "act", "acts", "acted", "actor", and "action" all return "act". Stems of texts may not be so
    short, because "cited" would match "city", and "rated" would match "ration".
    """
    if word.isascii() and word.isalpha():
        for suffix in _ENDINGS:
            rest = word.removesuffix(suffix)
            if rest != word and len(rest) > SHORT and rest[-1] == rest[-2]:
                rest = rest[:-1]  # Suffixes double a consonant, as in "runner".
            if rest != word and len(rest) == SHORT and not _VOWELS.isdisjoint(rest):
                return rest
    return root(word)


async def find_named(db: Database, order: LookupOrder, named: NamedSearch) -> list[str]:
    """Return the element ids of at most ``MOST`` nodes with the names, in search order.

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


async def match_words(
    db: Database, mapping: GraphMapping, words: Sequence[str]
) -> AskedNames | None:
    """Return the words of a question that names contain, None without any. Raises DatabaseError."""
    searches = {SearchTerms((word,), 1): word for word in words}
    labels: dict[str, frozenset[str]] = defaultdict(frozenset)
    types: dict[str, frozenset[str]] = defaultdict(frozenset)
    names = await read_names(db, mapping) if searches else Names()
    for one in match_names(names, [*searches], derived=True):
        word = searches[one.search]
        labels[word], types[word] = frozenset(one.labels), frozenset(one.types)
    return AskedNames(labels, types) if labels else None


async def find_named_members(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition],
    asked: AskedNames | None,
    texts: Mapping[Place, str],
) -> NamedNodes[Place]:
    """Return the scores that members of partitions gain by their names, empty without ``asked``.

    ``texts`` maps members that match by text to their element ids. All of them can gain. So can
    the first ``EACH`` other members of each partition with the same names. Raises DatabaseError.
    """
    if asked is None or _is_too_large(partitions, texts):
        return NamedNodes()
    found = db.read(
        queries.get("search/find_named_members"),
        partitions=[part.uid for part in partitions],
        most=EACH,
        **asked.parameters,
    )
    rows, names = await _read_in_time(db, mapping, found, [*texts.values()])
    weights = _Weights.of(asked, ((row["names"], row["count"]) for row in rows))
    gains = {place: weights.gain(names.get(node, ())) for place, node in texts.items()}
    for row in rows:
        gain = weights.gain(row["names"])
        gains |= {Place(row["partition"], rank): gain for rank in row["ranks"]}
    return weights.named(gains)


async def find_named_nodes(
    db: Database,
    mapping: GraphMapping,
    partitions: Sequence[Partition] | None,
    words: Sequence[str],
    texts: Sequence[str],
    most: int,
) -> NamedNodes[str]:
    """Return the scores that nodes of a view gain by their names, by element id.

    ``texts`` are the nodes that match by text. All of them can gain, and at most ``most`` other
    nodes with the same names. ``partitions`` give the size of the view, None if it may be large.
    Raises DatabaseError.
    """
    asked = await match_words(db, mapping, words)
    if asked is None or _is_too_large(partitions, texts):
        return NamedNodes()
    found = db.read(
        queries.get("search/find_named_in_view"),
        chosen=list(mapping.labels),
        most=most,
        **asked.parameters,
    )
    rows, names = await _read_in_time(db, mapping, found, texts)
    weights = _Weights.of(asked, ((row["names"], row["count"]) for row in rows))
    gains = {node: weights.gain(names.get(node, ())) for node in texts}
    for row in rows:
        gains |= dict.fromkeys(row["nodes"], weights.gain(row["names"]))
    return weights.named(gains)


async def _read_in_time(
    db: Database, mapping: GraphMapping, found: Awaitable[list[Row]], texts: Sequence[str]
) -> tuple[list[Row], Mapping[str, list[str]]]:
    """Return the ``found`` rows and the names of ``texts``, both empty if that takes too long."""
    try:
        async with asyncio.timeout(BESIDE_S if texts else ALONE_S):
            rows, names = await together(found, read_node_names(db, mapping, texts))
            return rows, names
    except TimeoutError:
        return [], {}


def _is_too_large(partitions: Sequence[Partition] | None, texts: Collection[object]) -> bool:
    large = partitions is None or sum(part.size for part in partitions) > MOST_MEMBERS
    return large and len(texts) > 0


@dataclass(frozen=True, slots=True)
class _Weights:
    """The score that each word adds to a node. A word that every node has adds nothing."""

    asked: AskedNames
    gains: Mapping[str, float]

    @classmethod
    def of(cls, asked: AskedNames, groups: Iterable[tuple[Iterable[str], int]]) -> _Weights:
        """Weigh words by their rarity; each group has the names of its nodes and their number."""
        holders: Counter[str] = Counter()
        size = 0
        for names, count in groups:
            size += count
            holders.update(dict.fromkeys(asked.words_of(names), count))
        return cls(
            asked,
            {
                word: NAME_SHARE * rarity(size, count)
                for word, count in holders.items()
                if count < size
            },
        )

    def gain(self, names: Iterable[str]) -> float:
        """Return the score that a node with the given names gains."""
        return sum(self.gains.get(word, 0.0) for word in self.asked.words_of(names))

    def named(self, gains: Mapping[T, float]) -> NamedNodes[T]:
        """Return the nodes whose gain is not 0, and the words that add a gain."""
        return NamedNodes(
            {node: gain for node, gain in gains.items() if gain}, frozenset(self.gains)
        )
