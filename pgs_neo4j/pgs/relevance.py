"""Phase 1: decides which partitions a question needs, and why, by evidence or by centroids.

Nodes that match the question are its evidence. Without any, centroids decide.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import Partition, Route, Routing
from pgs_neo4j.search.evidence import Evidence, vote
from pgs_neo4j.search.names import ONLY_NAMES
from pgs_neo4j.search.question import is_broad

FALLBACK = 3  # partitions swept when none is relevant enough
# The share of the best partition's evidence from which another one is read. A smaller one reads
# more: on CACM, 66 % of the relevant documents with 2.3 of 18 partitions at 0.6, 72 % with 2.8 at
# 0.5. This one halves the tokens that centroids read on Stack Overflow.
ENOUGH = 0.625
# The same where documents vote: on pages of Python's manual, 2.2 partitions with 52 % of the text
# that a question needs.
ENOUGH_DOCUMENTS = 0.5
MOST_MATCHES = 20  # best-matching nodes of a partition that a sweep is told
MOST_UNKNOWN = 5  # words that a note names


def route(
    question: str,
    vector: NDArray[np.float32] | None,
    partitions: Sequence[Partition],
    config: PGSConfig,
    *,
    threshold: float | None = None,
    centered: bool = False,
    full_sweep: bool = False,
    everything_unread: bool = False,
    note: str = "",
) -> Routing:
    """Choose among ``partitions``, best first.

    ``vector`` is the question at unit length ``(d,)``, None when there is nothing to compare.
    ``threshold`` overrides the configured one. ``centered`` compares directions from the mean of
    all partitions. If all vectors are close together, as means of members and bags of words are,
    only these directions distinguish them. A full sweep takes every partition. A broad question, or
    one without a vector, takes the largest up to the cap. ``everything_unread`` (mode ``continue``)
    takes the nearest up to the cap, relevant or not. Otherwise, partitions at or above the
    threshold are taken, at least ``min_sweep_partitions``. If none is relevant, the best few are
    taken with a note.
    """
    largest = sorted(partitions, key=lambda partition: (-partition.size, partition.id))
    if full_sweep:
        reason = "full sweep: every partition is read"
        return _route_unscored(largest, len(largest), reason, broad=True, note=note)
    limit = sweep_limit(len(largest), config)
    if is_broad(question):
        reason = "broad question: the largest partitions are read"
        return _route_unscored(largest, limit, reason, broad=True, note=note)
    scored = _score_partitions(vector, partitions, centered) if vector is not None else []
    if not scored:
        reason = "not scored: the largest partitions are read"
        return _route_unscored(largest, limit, reason, broad=False, note=note)
    if everything_unread:
        return _route_unread(scored, largest, limit, note)
    wanted = config.partition_relevance_threshold if threshold is None else threshold
    return _route_relevant(scored, len(largest), wanted, config, note)


def _route_unread(
    scored: list[tuple[float, Partition]], largest: list[Partition], limit: int, note: str
) -> Routing:
    """Return the nearest first, then those without a score.

    So no partition stays unread forever.
    """
    nearest = scored[:limit]
    reasons = [f"unread so far, similarity {score:.2f}" for score, _ in nearest]
    comparable = {partition.id for _, partition in scored}
    others = [partition for partition in largest if partition.id not in comparable]
    rest = _route_unscored(
        others, limit - len(nearest), "unread so far, not scored", broad=False, note=""
    )
    return Routing(
        routes=(*_make_routes(nearest, reasons), *rest.routes),
        considered=len(largest),
        best_similarity=scored[0][0],
        note=note,
    )


def _route_relevant(
    scored: list[tuple[float, Partition]],
    considered: int,
    threshold: float,
    config: PGSConfig,
    note: str,
) -> Routing:
    relevant = [pair for pair in scored if pair[0] >= threshold]
    least = config.min_sweep_partitions
    best_relevant = relevant[: max(sweep_limit(len(relevant), config), least)]
    reasons = [f"similarity {score:.2f} reaches {threshold:.2f}" for score, _ in best_relevant]
    exhausted = len(relevant) == len(best_relevant)
    added = scored[len(best_relevant) : least] if exhausted else []
    reasons += [f"similarity {score:.2f}, to reach the minimum of {least}" for score, _ in added]
    best = scored[0][0]
    routing = Routing(
        routes=_make_routes(best_relevant + added, reasons),
        considered=considered,
        best_similarity=best,
        note=note,
    )
    if relevant:
        return routing
    fallback = scored[: max(least, min(FALLBACK, sweep_cap(config)))]
    plain = (
        f"no partition reaches the relevance threshold {threshold:.2f} (best similarity "
        f"{best:.2f}), so the {len(fallback)} nearest are read"
    )
    reasons = [f"similarity {score:.2f}, among the nearest" for score, _ in fallback]
    return replace(
        routing,
        routes=_make_routes(fallback, reasons),
        fallback=True,
        note="; ".join(part for part in (note, plain) if part),
    )


def _score_partitions(
    vector: NDArray[np.float32], partitions: Sequence[Partition], centered: bool
) -> list[tuple[float, Partition]]:
    """Return partitions with a centroid and their cosines, best first."""
    comparable = [
        partition
        for partition in partitions
        if partition.centroid is not None and len(partition.centroid) == len(vector)
    ]
    if not comparable:
        return []
    centroids = np.stack([np.asarray(partition.centroid) for partition in comparable])
    if centered and len(comparable) > 1:
        middle = np.average(centroids, axis=0, weights=[part.size for part in comparable])
        centroids, vector = centroids - middle, unit(vector - middle)
    lengths = np.linalg.norm(centroids, axis=1)
    cosine = (centroids @ vector) / np.where(lengths > 0, lengths, 1.0)
    pairs = list(zip(cosine.astype(float).tolist(), comparable, strict=True))
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1].id))


def sweep_cap(config: PGSConfig) -> int:
    """Return the most partitions to sweep, unless a fraction decides."""
    return max(config.max_sweep_partitions, config.min_sweep_partitions)


def sweep_limit(count: int, config: PGSConfig) -> int:
    """Return how many of ``count`` partitions to sweep.

    The fraction decides, or else the cap.
    """
    if config.sweep_fraction is not None:
        return math.ceil(config.sweep_fraction * count)
    return min(count, sweep_cap(config))


def _route_unscored(
    largest: list[Partition], limit: int, reason: str, *, broad: bool, note: str
) -> Routing:
    routes = tuple(
        Route(partition=partition.id, similarity=None, reason=reason)
        for partition in largest[:limit]
    )
    return Routing(routes=routes, considered=len(largest), broad=broad, note=note)


def _make_routes(
    pairs: Sequence[tuple[float, Partition]], reasons: Sequence[str]
) -> tuple[Route, ...]:
    return tuple(
        Route(partition=partition.id, similarity=score, reason=reason)
        for (score, partition), reason in zip(pairs, reasons, strict=True)
    )


def choose_by_evidence(
    evidence: Evidence, config: PGSConfig, *, everything_unread: bool = False
) -> list[int]:
    """Return the ids of the partitions that hold most of the evidence, the most first.

    A partition is taken if it holds at least ``ENOUGH`` of the evidence of the first one, up to the
    cap. Where documents vote, it needs ``ENOUGH_DOCUMENTS`` of the votes of the first one. With
    ``everything_unread``, every one with evidence is taken, up to the cap.
    """
    votes, enough = vote(evidence), ENOUGH
    if evidence.document_votes:
        # Partitions with no document among the evidence come last.
        others = {part: 0.0 for part in votes if part not in evidence.document_votes}
        votes = {**evidence.document_votes, **others}
        enough = ENOUGH_DOCUMENTS
    best = next(iter(votes.values()), 0.0)
    relevant = sum(votes_of >= enough * best for votes_of in votes.values())
    least = _least_count(config, everything_unread)
    limit = max(sweep_limit(relevant, config), least)
    return list(votes)[: max(min(relevant, limit), min(len(votes), least))]


def route_by_evidence(
    evidence: Evidence,
    partitions: Sequence[Partition],
    config: PGSConfig,
    *,
    nearest: Sequence[Route] = (),
    titles: Mapping[int, str] | None = None,
    everything_unread: bool = False,
) -> Routing:
    """Choose the partitions that hold most of the evidence, with reasons.

    They are those of :func:`choose_by_evidence`. ``nearest`` fill up to ``min_sweep_partitions``;
    with ``everything_unread``, up to the cap. ``titles`` name the best node of each partition.
    """
    holders = Counter(node.partition for node in evidence.nodes)
    chosen = choose_by_evidence(evidence, config, everything_unread=everything_unread)
    routes = [
        Route(
            partition=number,
            similarity=None,
            reason=_describe_evidence(holders[number], (titles or {}).get(number, "")),
            evidence=holders[number],
            matches=_best_ranks(evidence, number),
        )
        for number in chosen
    ]
    least = _least_count(config, everything_unread)
    others = [route for route in nearest if route.partition not in {*holders, *chosen}]
    routes += others[: max(least - len(routes), 0)]
    only_names = ONLY_NAMES if evidence.only_names else ""
    note = "; ".join(filter(None, (only_names, unknown_words(evidence), evidence.advice)))
    return Routing(routes=tuple(routes), considered=len(partitions), note=note)


def unknown_words(evidence: Evidence) -> str:
    """Return which words of the question no text or name holds; empty if there are none."""
    if not evidence.unknown:
        return ""
    shown = [f"“{word}”" for word in evidence.unknown[:MOST_UNKNOWN]]
    more = len(evidence.unknown) - len(shown)
    return f"no text holds {', '.join(shown)}" + (f" and {more} more words" if more else "")


def matches_question(evidence: Evidence, threshold: float) -> bool:
    """Return whether any text, or a name of a label or relationship type, matches the question.

    It holds a word of the question, or its embedding reaches ``threshold``.
    """
    if evidence.word_count > len(evidence.unknown) or not evidence.word_count:
        return True
    return evidence.best_cosine is not None and evidence.best_cosine >= threshold


def _least_count(config: PGSConfig, everything_unread: bool) -> int:
    return sweep_cap(config) if everything_unread else config.min_sweep_partitions


def _best_ranks(evidence: Evidence, partition: int) -> tuple[int, ...]:
    ranks = [node.rank for node in evidence.nodes if node.partition == partition]
    return tuple(ranks[:MOST_MATCHES])


def _describe_evidence(count: int, title: str) -> str:
    """Return why a partition is read, by its best node and the number of its nodes.

    One without a node has documents that refer to what matches, or that it refers to.
    """
    if not count:
        return "documents that go with the best-matching nodes"
    if count == 1:
        return f"“{title}” matches the question" if title else "1 node matches the question"
    if not title:
        return f"{count} of the best-matching nodes"
    return f"“{title}” and {count - 1} more of the best-matching nodes"
