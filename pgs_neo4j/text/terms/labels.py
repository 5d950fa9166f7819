"""Finds terms that distinguish partitions, and makes labels of them.

Keywords are words that most nodes of a partition mention, and may be the same for many partitions.
A term is a word that the nodes of one partition mention more often than the nodes of others. It is
scored by the log-odds ratio with an informative Dirichlet prior, divided by its standard deviation
(Monroe, Colaresi, and Quinn, "Fightin' Words", 2008). So a word needs both a difference and enough
nodes to show it. The score is multiplied by the partition's share of all nodes that contain the
word. So a label also works as a question that leads to its partition.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.terms.cells import damaged, pack, unpack

TERMS = 10
"""Maximum number of terms of a partition."""

LABEL_TERMS = 3
"""Maximum number of terms of a label."""

SHARED_BY = 0.1
"""Maximum share of the labels that may contain the same word; one label is always allowed."""

PRIOR = 0.01
"""Weight of the prior, as a share of all counts."""

OTHER_LABELS = 40
"""Maximum number of alternatives to a label."""

Scored = list[tuple[float, str]]
"""Scores and words of a partition, best first; ties are in alphabetical order."""


def score_words(
    counts: Mapping[int, Counter[str]], holders: Mapping[str, int] | None = None
) -> dict[int, Scored]:
    """Return the words that each partition mentions more than the others, with scores.

    ``counts`` is how many nodes of each partition contain its most frequent words. ``holders`` is
    how many nodes of all partitions contain a word, as far as known.
    """
    total: Counter[str] = Counter()
    for words in counts.values():
        total.update(words)
    # Without another partition to compare with, words rank by their counts.
    if sum(bool(words) for words in counts.values()) <= 1:
        return {
            part: sorted(((float(count), word) for word, count in words.items()), key=_score_key)
            for part, words in counts.items()
        }
    others = holders or {}
    total = Counter({word: max(count, others.get(word, 0)) for word, count in total.items()})
    everything = total.total()
    return {part: _score_partition(words, total, everything) for part, words in counts.items()}


def _score_partition(words: Counter[str], total: Counter[str], everything: int) -> Scored:
    """Return the words of a partition with positive scores, best first.

    ``total`` counts the nodes of all partitions by word, and ``everything`` is its sum.
    """
    own, prior_total = words.total(), PRIOR * everything
    names = list(words)
    count = np.array([words[name] for name in names], np.float64)
    holders = np.array([total[name] for name in names], np.float64)
    prior, rest = PRIOR * holders, holders - count
    difference = _compute_log_odds(count + prior, own + prior_total) - _compute_log_odds(
        rest + prior, everything - own + prior_total
    )
    deviation = np.sqrt(1 / (count + prior) + 1 / (rest + prior))
    scores = np.round(difference / deviation * count / holders, 9)
    chosen = np.flatnonzero(scores > 0).tolist()
    return sorted(((float(scores[at]), names[at]) for at in chosen), key=_score_key)


def _score_key(pair: tuple[float, str]) -> tuple[float, str]:
    """Return a sort key: the highest score first, ties by the alphabet."""
    return -pair[0], pair[1]


def _compute_log_odds(counts: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """Return the log-odds ``(k,)`` of counts ``(k,)`` out of a total."""
    odds: NDArray[np.float64] = np.log(counts / np.maximum(size - counts, 1e-9))
    return odds


@dataclass(slots=True)
class Labels:
    """Labels of partitions; no word of a new label is in more than ``SHARED_BY`` of the labels.

    ``fixed`` are labels that stay. ``chosen`` has the new labels by partition id.
    """

    scored: Mapping[int, Scored]
    fixed: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    chosen: dict[int, tuple[str, ...]] = field(init=False)
    _used: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        """Assign the labels."""
        self._used = Counter(word for label in self.fixed.values() for word in label)
        self.chosen = self._assign()

    @property
    def most(self) -> int:
        """How many labels may share a word."""
        return max(1, math.floor(SHARED_BY * len(self.scored)))

    def _assign(self) -> dict[int, tuple[str, ...]]:
        """Return the labels; partitions take turns, so each gets a first word before any second."""
        labels: dict[int, list[str]] = {p: [] for p in self.scored if p not in self.fixed}
        turns = sorted((-self.scored[p][0][0], p) for p in labels if self.scored[p])
        for _ in range(LABEL_TERMS):
            for _, part in turns:
                free = (word for _, word in self.scored[part] if word not in labels[part])
                word = next((word for word in free if self._used[word] < self.most), None)
                if word is not None:
                    labels[part].append(word)
                    self._used[word] += 1
        return {part: tuple(words) for part, words in labels.items()}

    def others(self, part: int) -> list[tuple[str, ...]]:
        """Return at most ``OTHER_LABELS`` other labels of a partition's terms, best first."""
        own = self.chosen[part]
        weight = {
            word: score
            for score, word in self.scored[part][:TERMS]
            if word in own or self._used[word] < self.most
        }
        labels = combinations(weight, min(LABEL_TERMS, len(weight)))
        ranked = sorted(labels, key=lambda label: -round(sum(weight[w] for w in label), 9))
        return [label for label in ranked if set(label) != set(own)][:OTHER_LABELS]

    def replace(self, part: int, label: tuple[str, ...]) -> None:
        """Replace the label of a partition."""
        self._used.subtract(self.chosen[part])
        self._used.update(label)
        self.chosen[part] = label


def list_terms(scored: Sequence[tuple[float, str]]) -> tuple[str, ...]:
    """Return the terms of a partition, best first."""
    return tuple(word for _, word in scored[:TERMS])


def pack_counts(counts: Counter[str]) -> bytes:
    """Return the counts of a partition's words as bytes to store."""
    text = json.dumps(counts, ensure_ascii=False)
    return pack(text.encode("utf-8", "surrogatepass"))


def unpack_counts(data: bytes) -> Counter[str]:
    """Return stored counts. Raises StoredDataError if they are damaged."""
    try:
        stored = json.loads(unpack(data).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        raise damaged() from None
    if not isinstance(stored, dict) or not all(type(count) is int for count in stored.values()):
        raise damaged()
    return Counter(stored)
