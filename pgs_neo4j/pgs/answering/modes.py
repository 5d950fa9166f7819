"""The modes of a search: which paths are walked, and how their scores become one.

The modes ``naive``, ``local``, ``global``, ``hybrid``, and ``mix`` follow dual-level retrieval as
published. The others follow the systems that they are named after.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from pgs_neo4j.graph.scores.fusion import add_weighted, best_first, spread
from pgs_neo4j.model import SearchMode
from pgs_neo4j.pgs.answering.view import SearchTrace, SearchView, first
from pgs_neo4j.search.paths.through import ENTRIES
from pgs_neo4j.search.question import is_broad

WEIGHTS: Mapping[str, float] = {"text": 0.7, "vector": 0.3}
"""Weights of the paths. Chosen on CACM; 0.3 to 0.5 for vectors is flat elsewhere."""
TITLE_SHARE = 0.3
"""Weight of titles beside words that are names."""
FACT_SHARE = 0.3
"""Weight of the ends of relationships beside words that are themes."""
FAR_SHARE = 0.9
"""Score of a node beyond a hub, of its cosine: the hub is one more doubt."""
ANALOGY_SHARE = 0.5
"""Score of an analogy of a node, of the node's: it shares no word with the question."""
TRIPLET_HOPS = 2
EXACT = 1.0
"""Score of a title that is a keyword."""

Mode = Callable[[SearchView, SearchTrace], Awaitable[dict[str, float]]]


async def search_naive(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Compare embeddings alone; words where there are none."""
    paths = {"vector": view.by_vector()}
    if view.vector is None:
        paths["text"] = view.by_text()
    await trace.walk(paths)
    return _fused(trace)


async def search_local(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find the nodes that the question names, their relationships, and their neighbors."""
    await trace.walk({"text": view.by_text(view.names), "titles": view.by_title()})
    named = _join(trace, "text", "titles", TITLE_SHARE)
    return await _walk_on(view, trace, named)


async def search_global(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find the partitions, findings, and relationships of the question's themes.

    No embedding of a node is compared.
    """
    await trace.walk(
        {
            "units": view.units(view.themes),
            "findings": view.findings(view.themes),
            "text": view.by_text(view.themes),
        }
    )
    await trace.walk({"facts": view.facts(trace.scores["text"], embedded=False)})
    return _join(trace, "text", "facts", FACT_SHARE)


async def search_hybrid(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Do what local and global do, for all words of the question and with embeddings, once."""
    await trace.walk(
        {
            "vector": view.by_vector(),
            "text": view.by_text(),
            "units": view.units(view.question),
            "findings": view.findings(view.question),
        }
    )
    return await _walk_on(view, trace, _fused(trace))


async def search_mix(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Add what local, global, and naive find, by the weights of the call."""
    parts = [SearchTrace(), SearchTrace(), SearchTrace()]
    modes = (search_local, search_global, search_naive)
    found = [await mode(view, part) for mode, part in zip(modes, parts, strict=True)]
    for name, part in zip(("local", "global", "naive"), parts, strict=True):
        trace.add(name, part)
    return add_weighted(zip(found, view.weights, strict=True))


async def search_multipath(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find nodes by words, embeddings, and titles, and walk two hops from the best ones."""
    await trace.walk(
        {"vector": view.by_vector(), "text": view.by_text(), "titles": view.by_title()}
    )
    entities = add_weighted([(_fused(trace), 1.0), (trace.scores["titles"], TITLE_SHARE)])
    reached = await _walk_on(view, trace, entities, TRIPLET_HOPS)
    return spread(reached, trace.scores["facts"])


async def search_triplets(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Begin at the best nodes, and score every relationship within two hops."""
    await trace.walk({"vector": view.by_vector(), "text": view.by_text()})
    entries = _fused(trace)
    await trace.walk({"facts": view.facts(entries, TRIPLET_HOPS)})
    return dict(trace.scores["facts"]) or first(entries, ENTRIES)


async def search_summary(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find what the triplets mode finds, and the partitions of the question's words."""
    scores = await search_triplets(view, trace)
    await trace.walk({"units": view.units(view.question)})
    return scores


async def search_nothing(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Find nothing: the model answers from what it knows."""
    del view, trace
    return {}


async def search_structural(view: SearchView, trace: SearchTrace) -> dict[str, float]:
    """Begin at the nearest nodes, and walk one hop, or through nodes without text.

    Nodes beyond such hubs count by their cosine to the question, and analogies of the nearest nodes
    by the cosine of the skeletons.
    """
    await trace.walk({"vector": view.by_vector(), "text": view.by_text()})
    entries = first(_fused(trace), ENTRIES)
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
    """Choose the mode by the question, and say why."""
    titles = SearchTrace()
    await titles.walk({"titles": view.by_title()})
    named = max(titles.scores["titles"].values(), default=0.0) >= EXACT
    mode, reason = _choose(broad=is_broad(view.question), named=named)
    trace.reason = f"{mode}: {reason}"
    return await MODES[mode](view, trace)


def _choose(*, broad: bool, named: bool) -> tuple[SearchMode, str]:
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
}
ANSWERED: tuple[SearchMode, ...] = ("summary", "bypass")
"""Modes in which a model says something; without an answer they have no point."""


async def _walk_on(
    view: SearchView, trace: SearchTrace, scores: dict[str, float], hops: int = 1
) -> dict[str, float]:
    """Walk from the best nodes; neighbors and passages gain by what is walked to them."""
    paths = {"hops": view.hops(scores), "facts": view.facts(scores, hops)}
    if view.keeps_passages:
        paths["passages"] = view.passages(scores)
    await trace.walk(paths)
    return spread(spread(scores, trace.scores["hops"]), trace.scores.get("passages", {}))


def _fused(trace: SearchTrace) -> dict[str, float]:
    return add_weighted([(trace.scores.get(name, {}), weight) for name, weight in WEIGHTS.items()])


def _join(trace: SearchTrace, main: str, beside: str, share: float) -> dict[str, float]:
    return add_weighted([(trace.scores[main], 1 - share), (trace.scores[beside], share)])
