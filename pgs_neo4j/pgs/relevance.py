"""Phase 1: chooses the partitions that a question needs, by evidence or by centroids.

The evidence of a question is the nodes that match it. Without evidence, centroids decide.
"""

from __future__ import annotations

import math
import re
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

FALLBACK = 3  # partitions swept when none is relevant enough
# A partition is read if it has at least this share of the best partition's evidence. With a smaller
# share, more is read. On CACM, 0.6 finds 66 % of the relevant documents in 2.3 of 18 partitions,
# and 0.5 finds 72 % in 2.8. The chosen share needs half as many tokens as centroids on Stack
# Overflow.
ENOUGH = 0.625
# The same share if documents vote. On pages of Python's manual, it reads 2.2 partitions, with 52 %
# of the text that a question needs.
ENOUGH_DOCUMENTS = 0.5
MOST_MATCHES = 20  # best-matching nodes of a partition that a prompt lists
MOST_UNKNOWN = 5  # unknown words that a note lists
# Such questions ask for everything, so similarity to single centroids would mislead.
BROAD = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(full|complete|entire|whole)\s+(sweep|scan|coverage|graph|picture|read(ing)?)\b",
        r"\b(comprehensive|exhaustive|complete|overall|broad|high[- ]level)\s+"
        r"(overview|summary|survey|review|analysis|map|account|picture)\b",
        r"(?:^|[.!?])\W*what\b.*"
        r"\b(gaps?|missing|absent|lacking|unexplored|blind spots?|not covered)\b",
        r"\b(across|over|throughout|in)\s+(all|every|the\s+(whole|entire))\b",
        r"\b(everything|all)\s+(about|that|there\s+is|we\s+know|you\s+know|in\s+(here|this))\b",
        r"\b(main|key|major|central|recurring|common|overarching)\s+"
        r"(themes?|topics?|threads?|patterns?|findings|insights|ideas|connections)\b",
    )
)


def is_broad(question: str) -> bool:
    """Return whether a question is comprehensive or open-ended, by one of the patterns."""
    return any(pattern.search(question) for pattern in BROAD)


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
    """Choose among ``partitions`` by their centroids, best first.

    ``vector`` is the question's embedding at unit length ``(d,)``, None without embeddings.
    ``threshold`` overrides the configured relevance threshold. ``centered`` subtracts the mean of
    all centroids before vectors are compared: means of many nodes and bags of words all lie close
    together, and only their differences from the mean distinguish them.

    - ``full_sweep`` selects every partition.
    - A broad question or a question without a vector selects the largest partitions up to the cap.
    - ``everything_unread`` (mode ``continue``) selects the nearest up to the cap, relevant or not.
    - Otherwise, partitions at or above the threshold are selected, and at least
      ``min_sweep_partitions``. If no partition reaches the threshold, the best few are selected
      with a note.
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
    """Route to the nearest partitions, then to partitions without a score, so that all get read."""
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
    """Return the partitions that have a comparable centroid, with their cosines, best first."""
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
    """Return the maximum number of partitions to sweep if no fraction is configured."""
    return max(config.max_sweep_partitions, config.min_sweep_partitions)


def sweep_limit(count: int, config: PGSConfig) -> int:
    """Return how many of ``count`` partitions to sweep: the configured fraction, else the cap."""
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
    """Return the ids of the partitions with the most evidence, best first.

    A partition is chosen if it has at least ``ENOUGH`` of the evidence of the best partition, up to
    the cap. If documents vote, it needs ``ENOUGH_DOCUMENTS`` of the best partition's votes. With
    ``everything_unread``, every partition with evidence is chosen, up to the cap.
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
    """Return a routing to the partitions with the most evidence, with reasons.

    :func:`choose_by_evidence` chooses the partitions. If it chooses fewer than
    ``min_sweep_partitions``, or with ``everything_unread`` fewer than the cap, routes of
    ``nearest`` are added. ``titles`` has the title of the best node of each partition, by partition
    id.
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
    """Return a note on the words of the question that occur nowhere; empty if all occur."""
    if not evidence.unknown:
        return ""
    shown = [f"“{word}”" for word in evidence.unknown[:MOST_UNKNOWN]]
    more = len(evidence.unknown) - len(shown)
    return f"no text holds {', '.join(shown)}" + (f" and {more} more words" if more else "")


def matches_question(evidence: Evidence, threshold: float) -> bool:
    """Return whether any text, label, or relationship type matches the question.

    It matches if it contains a content word of the question, or if the cosine of its embedding
    reaches ``threshold``. A question without content words always matches.
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
    """Return why to read a partition: it has ``count`` matching nodes, the best with ``title``.

    A partition without a matching node is chosen for its documents, which refer to matching nodes,
    or to which matching nodes refer.
    """
    if not count:
        return "documents that go with the best-matching nodes"
    if count == 1:
        return f"“{title}” matches the question" if title else "1 node matches the question"
    if not title:
        return f"{count} of the best-matching nodes"
    return f"“{title}” and {count - 1} more of the best-matching nodes"
