"""The modes of a search: the paths that each mode walks, and how it combines their scores.

The modes ``naive``, ``local``, ``global``, ``hybrid``, and ``mix`` follow dual-level retrieval as
published. The other modes follow the systems that they are named after. A ``SearchView`` offers the
paths of one question, and a ``SearchTrace`` collects their results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import UNREADABLE
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.graph.scores import add_weighted, best_first, spread
from pgs_neo4j.model import (
    FoundFact,
    FoundFinding,
    FoundUnit,
    GraphMapping,
    PathReport,
    SearchMode,
    StatementRows,
    StatementSource,
)
from pgs_neo4j.pgs.querying.row_questions import find_asked_rows
from pgs_neo4j.pgs.querying.schema.known import KnownSchema
from pgs_neo4j.pgs.querying.shapes.read_by_shape import ShapeRead, read_by_shape
from pgs_neo4j.pgs.relevance import is_broad
from pgs_neo4j.search.known_indexes import covering_fact_indexes
from pgs_neo4j.search.paths.facts import find_facts, find_facts_by_vector
from pgs_neo4j.search.paths.neighbors import (
    ENTRIES,
    find_analogies,
    find_neighbors,
    find_passages,
    find_through_hubs,
)
from pgs_neo4j.search.paths.own_index import OwnIndex
from pgs_neo4j.search.paths.text import find_by_text, find_by_title, find_findings
from pgs_neo4j.search.paths.units import find_units
from pgs_neo4j.search.paths.vector import find_by_vector
from pgs_neo4j.search.paths.walk import Hits, walk
from pgs_neo4j.text.keywords import Keywords

PATH_HITS = 100
"""Maximum number of nodes that each path returns."""
MOST_FACTS = 20
"""Maximum relationships that a search returns (multi-path retrieval, published default)."""
MOST_UNITS = 5
MOST_FINDINGS = 10

WEIGHTS: Mapping[str, float] = {"text": 0.7, "vector": 0.3}
"""Weights of the paths, chosen on CACM. On other data, vector weights of 0.3 to 0.5 do as well."""
TITLE_SHARE = 0.3
"""Weight of titles, compared with the weight of texts."""
FACT_SHARE = 0.3
"""Weight of the ends of relationships; texts have the rest."""
FAR_SHARE = 0.9
"""Score of a node beyond a hub, as a share of its cosine: each step makes a match less certain."""
ANALOGY_SHARE = 0.5
"""Score of a node's analogy, as a share of the likeness of both; it need not share a word with the
question.
"""
TRIPLET_HOPS = 2
EXACT = 1.0
"""Score of a title that equals a keyword."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchView:
    """A question about a view of a database, and the paths to search for it.

    ``graph`` is the name of a stored graph, None if there is only a mapping. ``vector`` is
    ``(d,)``, None without embeddings. ``weights`` are the weights of the mode ``mix``.
    ``sessions_of`` is the prefix of the sessions whose runs the search may use. ``statements`` says
    who may write a Cypher statement.
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
    schema: KnownSchema = field(default_factory=KnownSchema)
    statements: StatementSource = "words"

    @property
    def keeps_passages(self) -> bool:
        """Whether the graph has passages as nodes, with relationships to what they mention."""
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
        """Search texts for some words, by default for the words of the question."""
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
        return find_through_hubs(self.db, self.mapping, scores, self.vector, PATH_HITS)

    def analogies(self, scores: Mapping[str, float]) -> Awaitable[Hits]:
        """Go from the best nodes to their analogies."""
        return find_analogies(self.db, self.graph, self.mapping, scores, PATH_HITS)

    def facts(
        self, scores: Mapping[str, float], hops: int = 1, *, embedded: bool = True
    ) -> Awaitable[Hits]:
        """Find the nearest facts by an index, or walk from the best nodes along relationships.

        The index is used for a single hop if one covers the view and ``embedded`` is set.
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
    """The results of a search so far.

    ``scores`` are by path and element id, and ``ways`` by element id. ``reason`` says why a mode
    was chosen. ``mode`` is set if the question was sent to the mode ``cypher``.
    """

    scores: dict[str, Mapping[str, float]] = field(default_factory=dict)
    reports: list[PathReport] = field(default_factory=list)
    ways: dict[str, str] = field(default_factory=dict)
    facts: tuple[FoundFact, ...] = ()
    units: tuple[FoundUnit, ...] = ()
    findings: tuple[FoundFinding, ...] = ()
    reason: str = ""
    rows: StatementRows | None = None
    mode: SearchMode | None = None

    async def walk(self, paths: Mapping[str, Awaitable[Hits]]) -> None:
        """Walk some paths concurrently, and add their results."""
        for name, walked in (await walk(paths)).items():
            hits = walked.hits
            self.scores[name] = hits.scores
            self.reports.append(walked.report)
            self.ways |= hits.ways
            self.facts += tuple(one for one in hits.things if isinstance(one, FoundFact))
            self.units += tuple(one for one in hits.things if isinstance(one, FoundUnit))
            self.findings += tuple(one for one in hits.things if isinstance(one, FoundFinding))

    def add(self, mode: str, part: SearchTrace) -> None:
        """Add the results of another mode, with its name before those of its paths."""
        self.scores |= {f"{mode} {path}": scores for path, scores in part.scores.items()}
        self.reports += [replace(one, name=f"{mode} {one.name}") for one in part.reports]
        self.ways |= part.ways
        best = {fact.id: fact for fact in sorted([*part.facts, *self.facts], key=_by_score)}
        self.facts = tuple(sorted(best.values(), key=_by_score, reverse=True)[:MOST_FACTS])
        self.units += part.units
        self.findings += part.findings


def _by_score(fact: FoundFact) -> tuple[float, str]:
    return fact.score, fact.id


def take_best(scores: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the first ``count`` of some scores, which are sorted, best first."""
    return dict(islice(scores.items(), count))


Mode = Callable[[SearchView, SearchTrace], Awaitable[dict[str, float]]]


async def search_naive(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Compare only embeddings, or only words if there are no embeddings."""
    paths = {"vector": view.by_vector()}
    if view.vector is None:
        paths["text"] = view.by_text()
    await trace.walk(paths)
    return _fuse_paths(trace)


async def search_local(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find the nodes that the question names, their relationships, and their neighbors."""
    await trace.walk({"text": view.by_text(view.names), "titles": view.by_title()})
    named = _weigh_paths(trace, "text", "titles", TITLE_SHARE)
    return await _walk_from_best(view, trace, named)


async def search_global(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find the partitions, findings, and relationships that match the question's themes.

    Embeddings are not compared.
    """
    await trace.walk(
        {
            "units": view.units(view.themes),
            "findings": view.findings(view.themes),
            "text": view.by_text(view.themes),
        }
    )
    await trace.walk({"facts": view.facts(trace.scores["text"], embedded=False)})
    return _weigh_paths(trace, "text", "facts", FACT_SHARE)


async def search_hybrid(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Combine local and global into one search, by all words of the question and by embeddings."""
    await trace.walk(
        {
            "vector": view.by_vector(),
            "text": view.by_text(),
            "units": view.units(view.question),
            "findings": view.findings(view.question),
        }
    )
    return await _walk_from_best(view, trace, _fuse_paths(trace))


async def search_mix(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Run the modes local, global, and naive; add their scores, weighted by ``view.weights``."""
    parts = [SearchTrace(), SearchTrace(), SearchTrace()]
    modes = (search_local, search_global, search_naive)
    found = [await mode(view, part) for mode, part in zip(modes, parts, strict=True)]
    for name, part in zip(("local", "global", "naive"), parts, strict=True):
        trace.add(name, part)
    return add_weighted(zip(found, view.weights, strict=True))


async def search_multipath(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find nodes by words, embeddings, and titles, and walk two hops from the best nodes."""
    await trace.walk(
        {"vector": view.by_vector(), "text": view.by_text(), "titles": view.by_title()}
    )
    entities = add_weighted([(_fuse_paths(trace), 1.0), (trace.scores["titles"], TITLE_SHARE)])
    reached = await _walk_from_best(view, trace, entities, TRIPLET_HOPS)
    return spread(reached, trace.scores["facts"])


async def search_triplets(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Begin at the best nodes, and score every relationship within two hops."""
    await trace.walk({"vector": view.by_vector(), "text": view.by_text()})
    entries = _fuse_paths(trace)
    await trace.walk({"facts": view.facts(entries, TRIPLET_HOPS)})
    return dict(trace.scores["facts"]) or take_best(entries, ENTRIES)


async def search_summary(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Search as in the mode triplets, and find the partitions that match the question's words."""
    scores = await search_triplets(view, trace)
    await trace.walk({"units": view.units(view.question)})
    return scores


async def search_nothing(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find nothing: the model answers from its own knowledge."""
    del view, trace
    return {}


async def search_rows(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Read the rows of a statement that is made from the words of the question, if one fits."""
    index = await view.schema.get(view.db)
    try:
        read = await read_by_shape(view.db, index.schema, view.mapping, view.question)
    except UNREADABLE as error:
        read = ShapeRead(reason=str(error))
    trace.rows, trace.reason = read.rows, read.reason
    return {}


async def search_structural(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Begin at the nearest nodes, and walk one hop, through hubs, and to analogies.

    A hub is a node without text. Nodes beyond a hub get a score by their cosine to the question,
    and analogies get a score by the cosine of the skeletons.
    """
    await trace.walk({"vector": view.by_vector(), "text": view.by_text()})
    entries = take_best(_fuse_paths(trace), ENTRIES)
    await trace.walk(
        {
            "hops": view.hops(entries),
            "through": view.through(entries),
            "analogies": view.analogies(entries),
        }
    )
    scores = spread(entries, trace.scores["hops"])
    for node, likeness in trace.scores["analogies"].items():
        scores[node] = max(scores.get(node, 0.0), ANALOGY_SHARE * likeness)
    for node, cosine in trace.scores["through"].items():
        scores[node] = max(scores.get(node, 0.0), FAR_SHARE * cosine)
    return best_first(scores)


async def search_auto(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Choose the mode by the question, set the reason, and search in that mode.

    A question that rows answer is sent to the mode ``cypher`` if a model may write the statement,
    or if one can be made from the question's words.
    """
    if asked := find_asked_rows(view.question) if view.statements != "none" else "":
        await search_rows(view, trace)
        if trace.rows is not None or view.statements == "model":
            trace.mode, trace.reason = "cypher", f"cypher: the question asks for {asked}"
            return {}
    titles = SearchTrace()
    await titles.walk({"titles": view.by_title()})
    named = max(titles.scores["titles"].values(), default=0.0) >= EXACT
    mode, reason = _choose_mode(broad=is_broad(view.question), named=named)
    trace.reason = f"{mode}: {reason}"
    return await MODES[mode](view, trace)


def _choose_mode(*, broad: bool, named: bool) -> tuple[SearchMode, str]:
    if broad and named:
        return "hybrid", "the question is broad, and names a title"
    if broad:
        return "global", "the question is broad"
    if named:
        return "local", "the question names a title"
    return "naive", "the question is neither broad nor names a title"


MODES: Mapping[SearchMode, Mode] = {
    "naive": search_naive,
    "local": search_local,
    "global": search_global,
    "hybrid": search_hybrid,
    "mix": search_mix,
    "multipath": search_multipath,
    "triplets": search_triplets,
    "structural": search_structural,
    "auto": search_auto,
    "summary": search_summary,
    "bypass": search_nothing,
    "cypher": search_rows,
}
ANSWER_MODES: tuple[SearchMode, ...] = ("summary", "bypass")
"""Modes in which a model writes the result, so they are only useful with an answer."""


async def _walk_from_best(
    view: SearchView, trace: SearchTrace, scores: dict[str, float], hops: int = 1
) -> dict[str, float]:
    """Walk from the best nodes, and raise the scores of the neighbors and passages reached."""
    paths = {"hops": view.hops(scores), "facts": view.facts(scores, hops)}
    if view.keeps_passages:
        paths["passages"] = view.passages(scores)
    await trace.walk(paths)
    return spread(spread(scores, trace.scores["hops"]), trace.scores.get("passages", {}))


def _fuse_paths(trace: SearchTrace) -> dict[str, float]:
    return add_weighted([(trace.scores.get(name, {}), weight) for name, weight in WEIGHTS.items()])


def _weigh_paths(trace: SearchTrace, main: str, beside: str, share: float) -> dict[str, float]:
    return add_weighted([(trace.scores[main], 1 - share), (trace.scores[beside], share)])
