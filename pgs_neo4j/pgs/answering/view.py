"""What the paths of a search need, and what they have found so far."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import FoundFact, FoundFinding, FoundUnit, GraphMapping, PathReport
from pgs_neo4j.search.paths.analogies import find_analogies
from pgs_neo4j.search.paths.facts import find_facts, find_facts_by_vector
from pgs_neo4j.search.paths.findings import find_findings
from pgs_neo4j.search.paths.hits import Hits
from pgs_neo4j.search.paths.hops import find_neighbors
from pgs_neo4j.search.paths.indexes import covering_fact_indexes
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.passages import find_passages
from pgs_neo4j.search.paths.text import find_by_text
from pgs_neo4j.search.paths.through import find_through
from pgs_neo4j.search.paths.titles import find_by_title
from pgs_neo4j.search.paths.units import find_units
from pgs_neo4j.search.paths.vector import find_by_vector
from pgs_neo4j.search.paths.walk import walk
from pgs_neo4j.text.keywords import Keywords

PATH_HITS = 100
"""Nodes that each path returns."""
MOST_FACTS = 20
"""Relationships that a search returns (multi-path retrieval, published default)."""
MOST_UNITS = 5
MOST_FINDINGS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchView:
    """A question to a view of a database, and its paths.

    ``graph`` is the name of a stored graph, None for a mapping alone. ``vector`` is ``(d,)``, None
    without embeddings. ``weights`` are those of the mode ``mix``. ``sessions_of`` is how the names
    of sessions begin whose runs are shown.
    """

    db: Database
    graph: str | None
    indexes: Sequence[SearchIndex]
    own: OwnIndex | None
    mapping: GraphMapping
    question: str
    keywords: Keywords
    vector: NDArray[np.float32] | None
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    sessions_of: str = ""

    @property
    def keeps_passages(self) -> bool:
        """Whether the graph keeps its passages apart from what they mention."""
        return bool(self.mapping.chunk_labels and self.mapping.mention_types)

    @property
    def names(self) -> str:
        """The names that the question mentions, as words to search for."""
        return " ".join(self.keywords.low)

    @property
    def themes(self) -> str:
        """The themes of the question, as words to search for."""
        return " ".join(self.keywords.high)

    def by_vector(self) -> Awaitable[Hits]:
        """Compare the question with stored embeddings."""
        return find_by_vector(self.db, self.indexes, self.mapping, self.vector, PATH_HITS)

    def by_text(self, words: str | None = None) -> Awaitable[Hits]:
        """Search texts for some words, or for those of the question."""
        asked = self.question if words is None else words
        return find_by_text(self.db, self.indexes, self.own, self.mapping, asked, PATH_HITS)

    def by_title(self) -> Awaitable[Hits]:
        """Search titles for the names that the question mentions."""
        return find_by_title(self.db, self.indexes, self.mapping, self.keywords.low)

    def hops(self, scores: Mapping[str, float]) -> Awaitable[Hits]:
        """Walk from the best nodes to their neighbors."""
        return find_neighbors(self.db, self.mapping, scores, PATH_HITS)

    def through(self, scores: Mapping[str, float]) -> Awaitable[Hits]:
        """Walk from the best nodes through nodes without text."""
        return find_through(self.db, self.mapping, scores, self.vector, PATH_HITS)

    def analogies(self, scores: Mapping[str, float]) -> Awaitable[Hits]:
        """Go from the best nodes to their analogies."""
        return find_analogies(self.db, self.graph, self.mapping, scores, PATH_HITS)

    def facts(
        self, scores: Mapping[str, float], hops: int = 1, *, embedded: bool = True
    ) -> Awaitable[Hits]:
        """Find the nearest facts by an index, else walk from the best nodes along relationships.

        Walks of several hops take no index.
        """
        vector = self.vector if embedded else None
        if vector is not None and hops == 1:
            covering = covering_fact_indexes(self.indexes, self.mapping, len(vector))
            if covering:
                return find_facts_by_vector(self.db, covering, self.mapping, vector)
        return find_facts(self.db, self.mapping, scores, vector, hops=hops, k=MOST_FACTS)

    def passages(self, scores: Mapping[str, float]) -> Awaitable[Hits]:
        """Walk from the best nodes to the passages that mention them."""
        return find_passages(self.db, self.mapping, scores, self.vector)

    def units(self, words: str) -> Awaitable[Hits]:
        """Compare some words with partitions and the units above them."""
        return find_units(self.db, self.own, words, MOST_UNITS, sessions=self.sessions_of)

    def findings(self, words: str) -> Awaitable[Hits]:
        """Compare some words with the findings of earlier runs."""
        return find_findings(self.db, self.graph, words, MOST_FINDINGS, sessions=self.sessions_of)


@dataclass(slots=True)
class SearchTrace:
    """What a search has found so far: the scores of each path, its report, and ways to nodes.

    Scores and ways are by element id.
    """

    scores: dict[str, Mapping[str, float]] = field(default_factory=dict)
    reports: list[PathReport] = field(default_factory=list)
    ways: dict[str, str] = field(default_factory=dict)
    facts: tuple[FoundFact, ...] = ()
    units: tuple[FoundUnit, ...] = ()
    findings: tuple[FoundFinding, ...] = ()
    reason: str = ""

    async def walk(self, paths: Mapping[str, Awaitable[Hits]]) -> None:
        """Walk some paths at once, and note what they found."""
        for name, walked in (await walk(paths)).items():
            hits = walked.hits
            self.scores[name] = hits.scores
            self.reports.append(walked.report)
            self.ways |= hits.ways
            self.facts += tuple(one for one in hits.things if isinstance(one, FoundFact))
            self.units += tuple(one for one in hits.things if isinstance(one, FoundUnit))
            self.findings += tuple(one for one in hits.things if isinstance(one, FoundFinding))

    def add(self, mode: str, part: SearchTrace) -> None:
        """Add what another mode found, under its name."""
        self.scores |= {f"{mode} {path}": scores for path, scores in part.scores.items()}
        self.reports += [replace(one, name=f"{mode} {one.name}") for one in part.reports]
        self.ways |= part.ways
        best = {fact.id: fact for fact in sorted([*part.facts, *self.facts], key=_by_score)}
        self.facts = tuple(sorted(best.values(), key=_by_score, reverse=True)[:MOST_FACTS])
        self.units += part.units
        self.findings += part.findings


def _by_score(fact: FoundFact) -> tuple[float, str]:
    return fact.score, fact.id


def first(scores: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the best of some scores, which are in order."""
    return dict(islice(scores.items(), count))
