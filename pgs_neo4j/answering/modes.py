"""The modes of a search: which paths are walked, and how their scores become one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.scores.fusion import add_weighted, best_first, spread
from pgs_neo4j.model import GraphMapping, PathReport, SearchMode
from pgs_neo4j.retrieval.paths.hits import Hits
from pgs_neo4j.retrieval.paths.hops import find_neighbors
from pgs_neo4j.retrieval.paths.indexes import NodeIndexes
from pgs_neo4j.retrieval.paths.own_index import OwnIndex
from pgs_neo4j.retrieval.paths.text import find_by_text
from pgs_neo4j.retrieval.paths.through import ENTRIES, find_through
from pgs_neo4j.retrieval.paths.vector import find_by_vector
from pgs_neo4j.retrieval.paths.walk import walk

PATH_HITS = 100
"""Nodes that each path returns."""
WEIGHTS: Mapping[str, float] = {"text": 0.7, "vector": 0.3}
"""Weights of the paths. Chosen on CACM; 0.3 to 0.5 for vectors is flat elsewhere."""
FAR_SHARE = 0.9
"""Score of a node beyond a hub, of its cosine: the hub is one more doubt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchView:
    """A question to a view of a database, with what its paths need.

    ``vector`` is ``(d,)``, None without embeddings.
    """

    db: Database
    indexes: NodeIndexes
    own: OwnIndex | None
    mapping: GraphMapping
    question: str
    vector: NDArray[np.float32] | None


@dataclass(slots=True)
class SearchTrace:
    """What a search has found so far: the scores of each path, its report, and ways to nodes.

    Scores and ways are by element id.
    """

    scores: dict[str, Mapping[str, float]] = field(default_factory=dict)
    reports: list[PathReport] = field(default_factory=list)
    ways: dict[str, str] = field(default_factory=dict)

    async def walk(self, paths: Mapping[str, Awaitable[Hits]]) -> None:
        """Walk some paths at once, and note what they found."""
        for name, walked in (await walk(paths)).items():
            self.scores[name] = walked.hits.scores
            self.reports.append(walked.report)
            self.ways |= walked.hits.ways


Mode = Callable[[SearchView, SearchTrace], Awaitable[dict[str, float]]]


async def search_naive(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Compare embeddings alone; words where there are none."""
    paths = {"vector": _by_vector(view)}
    if view.vector is None:
        paths["text"] = _by_text(view)
    await trace.walk(paths)
    return _fused(trace)


async def search_hybrid(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Compare words and embeddings; the best nodes add to their neighbors."""
    await trace.walk({"vector": _by_vector(view), "text": _by_text(view)})
    scores = _fused(trace)
    await trace.walk({"hops": find_neighbors(view.db, view.mapping, scores, PATH_HITS)})
    return spread(scores, trace.scores["hops"])


async def search_structural(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Begin at the nearest nodes, and walk one hop, or through nodes without text.

    Nodes beyond such hubs count by their cosine to the question (Structural search, published).
    """
    await trace.walk({"vector": _by_vector(view), "text": _by_text(view)})
    entries = dict(islice(_fused(trace).items(), ENTRIES))
    through = find_through(view.db, view.mapping, entries, view.vector, PATH_HITS)
    near = find_neighbors(view.db, view.mapping, entries, PATH_HITS)
    await trace.walk({"hops": near, "through": through})
    scores = spread(entries, trace.scores["hops"])
    for node, cosine in trace.scores["through"].items():
        scores[node] = max(scores.get(node, 0.0), FAR_SHARE * cosine)
    return best_first(scores)


MODES: Mapping[SearchMode, Mode] = {
    "naive": search_naive,
    "hybrid": search_hybrid,
    "structural": search_structural,
}


def _by_vector(view: SearchView) -> Awaitable[Hits]:
    return find_by_vector(view.db, view.indexes, view.mapping, view.vector, PATH_HITS)


def _by_text(view: SearchView) -> Awaitable[Hits]:
    return find_by_text(view.db, view.indexes, view.own, view.mapping, view.question, PATH_HITS)


def _fused(trace: SearchTrace) -> dict[str, float]:
    return add_weighted([(trace.scores[name], WEIGHTS[name]) for name in trace.scores])
