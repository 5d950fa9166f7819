"""Searches the names of labels and relationship types, which are words of their nodes.

Prompts show these names, so a graph of people who ``REVIEWED`` films answers "who are the
reviewers?" even if no text holds the word. A lookup verifies such words, and a question scores
nodes by them. A word counts by its rarity, as in a text: one that names every node says nothing.
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
"""Letters that short words derived from each other have in common. With fewer, "user" and "us"
would meet."""
# Without "ies", "ied", and "ly", which leave three letters of "movies", "cities", and "early".
_ENDINGS = (
    *("ations", "ation", "ings", "ions", "ing", "ion", "ors", "ers", "ed", "es", "or", "er", "s"),
)
_VOWELS = frozenset("aeiouy")
NAME_SHARE = 0.3
"""Weight of a word in a name, beside 1 in a text. As that of a title, which is a short field too
(:data:`pgs_neo4j.text.terms.rescoring.TITLE_SHARE`)."""
MOST_MEMBERS = 100_000
"""Nodes of a graph whose relationships are looked at beside its texts: a fraction of a second. In a
larger graph, names count only where no text does."""
BESIDE_S, ALONE_S = 1.0, 4.0
"""Seconds for names beside texts, so that they cost no search its texts, and without any. Then
names do not count."""
EACH = 20
"""Nodes with the same names that a partition adds. Each counts less than the one before it."""
ONLY_NAMES = f"no text matches; nodes are found by the {NAMES}"
T = TypeVar("T", bound=Hashable)


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


@dataclass(frozen=True, slots=True)
class NamedNodes(Generic[T]):
    """What nodes gain by their names, by node, and the words of the question that names hold."""

    gains: Mapping[T, float] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    def add_to(self, scores: Mapping[T, float]) -> dict[T, float]:
        """Return scores by texts with the gains, best first; of equal ones, as in ``scores``.

        Whatever the scale of the scores, no gain is more than ``NAME_SHARE`` of the best one.
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
    """The words of a question that are in names, with the labels and types that hold each."""

    labels: Mapping[str, frozenset[str]]
    types: Mapping[str, frozenset[str]]

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The labels and types to look for."""
        return {
            "labels": sorted(frozenset[str]().union(*self.labels.values())),
            "types": sorted(frozenset[str]().union(*self.types.values())),
        }

    def words_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the words that some names hold."""
        held = frozenset(names)
        return frozenset(
            word for word in self.labels if held & self.labels[word] or held & self.types[word]
        )


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
    """Return whether a word of a name has the same derivation as a term of a single word."""
    asked = words(term)
    if len(asked) != 1:
        return False
    own = derivation(asked[0])
    return any(derivation(word) == own for word in words(page.text))


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


async def match_words(
    db: Database, mapping: GraphMapping, words: Sequence[str]
) -> AskedNames | None:
    """Return which words of a question are in names, None if none is. Raises DatabaseError."""
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
    """Return what members of partitions gain by their names; nothing if no name is ``asked``.

    ``texts`` are the element ids of members that match already; each of them gains, and of the
    others the first ones of each partition. Raises DatabaseError.
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
    """Return what nodes of a view gain by their names, by element id.

    ``texts`` are nodes that match already; each of them gains, and at most ``most`` others of those
    with the same names. ``partitions`` tell how large the view is, None if it may be large. Raises
    DatabaseError.
    """
    asked = await match_words(db, mapping, words)
    if asked is None or _is_too_large(partitions, texts):
        return NamedNodes()
    found = db.read(
        queries.get("search/find_named_in_view"),
        view=list(mapping.labels),
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
    """Return the found nodes, and the names of ``texts``; nothing if it takes too long."""
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
    """What each word adds to a node, 0 if every node has it."""

    asked: AskedNames
    gains: Mapping[str, float]

    @classmethod
    def of(cls, asked: AskedNames, groups: Iterable[tuple[Iterable[str], int]]) -> _Weights:
        """Weigh words by groups of nodes: their names, and how many nodes these are."""
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
        """Return what a node with some names gains."""
        return sum(self.gains.get(word, 0.0) for word in self.asked.words_of(names))

    def named(self, gains: Mapping[T, float]) -> NamedNodes[T]:
        """Return the nodes that gain anything."""
        return NamedNodes(
            {node: gain for node, gain in gains.items() if gain}, frozenset(self.gains)
        )
