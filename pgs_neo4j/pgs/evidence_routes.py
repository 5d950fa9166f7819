"""Phase 1, by evidence: chooses the partitions of the nodes that match a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import Partition, Route, Routing
from pgs_neo4j.pgs.relevance import sweep_cap, sweep_limit
from pgs_neo4j.search.evidence import Evidence, vote
from pgs_neo4j.search.named_nodes import ONLY_NAMES

# The share of the best partition's evidence from which another one is read. A smaller one reads
# more: on CACM, 66 % of the relevant documents with 2.3 of 18 partitions at 0.6, 72 % with 2.8 at
# 0.5. This one halves the tokens that centroids read on Stack Overflow.
ENOUGH = 0.625
# The same where documents vote: on pages of Python's manual, 2.2 partitions with 52 % of the text
# that a question needs.
ENOUGH_DOCUMENTS = 0.5
MOST_MATCHES = 20  # best-matching nodes of a partition that a sweep is told
MOST_UNKNOWN = 5  # words that a note names


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
    least = _least(config, everything_unread)
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
            reason=_evidence_reason(holders[number], (titles or {}).get(number, "")),
            evidence=holders[number],
            matches=_matches(evidence, number),
        )
        for number in chosen
    ]
    least = _least(config, everything_unread)
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


def speaks(evidence: Evidence, threshold: float) -> bool:
    """Return whether any text, or a name of a label or relationship type, matches the question.

    It holds a word of the question, or its embedding reaches ``threshold``.
    """
    if evidence.word_count > len(evidence.unknown) or not evidence.word_count:
        return True
    return evidence.best_cosine is not None and evidence.best_cosine >= threshold


def _least(config: PGSConfig, everything_unread: bool) -> int:
    return sweep_cap(config) if everything_unread else config.min_sweep_partitions


def _matches(evidence: Evidence, partition: int) -> tuple[int, ...]:
    ranks = [node.rank for node in evidence.nodes if node.partition == partition]
    return tuple(ranks[:MOST_MATCHES])


def _evidence_reason(count: int, title: str) -> str:
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
