"""Terms that tell partitions apart, and labels made of them.

Keywords say what most nodes of a partition mention, and may be the same for many partitions. A term
is a word that the nodes of one partition mention more often than those of the others. It is
scored by the log-odds ratio with an informative Dirichlet prior, divided by its standard deviation
(Monroe, Colaresi, and Quinn, "Fightin' Words", 2008). So a word needs both a difference and enough
nodes to show it.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

TERMS = 10
"""Terms of a partition."""

LABEL_TERMS = 3
"""Terms of a label."""

SHARED_BY = 0.1
"""A word stands in at most this share of the labels, or in one of few."""

PRIOR = 0.01
"""Weight of the prior: the share of all counts that stands for what is usual."""


@dataclass(frozen=True, slots=True)
class Labeled:
    """The terms of a partition, best first, and those that its label consists of."""

    terms: tuple[str, ...]
    label: tuple[str, ...]


def label_partitions(
    counts: Mapping[int, Counter[str]], fixed: Mapping[int, tuple[str, ...]] | None = None
) -> dict[int, Labeled]:
    """Return terms and labels of partitions.

    ``counts`` says how many nodes of each partition hold its most frequent words. ``fixed`` are
    labels that stay. Ties are in alphabetical order.
    """
    total: Counter[str] = Counter()
    for words in counts.values():
        total.update(words)
    everything = total.total()
    scored = {part: _score(words, total, everything) for part, words in counts.items()}
    labels = _assign(scored, max(1, math.floor(SHARED_BY * len(counts))), fixed or {})
    return {
        part: Labeled(tuple(word for _, word in pairs[:TERMS]), labels[part])
        for part, pairs in scored.items()
    }


def _score(words: Counter[str], total: Counter[str], everything: int) -> list[tuple[float, str]]:
    """Return what a partition mentions more than the others, with scores, best first."""
    own = words.total()
    if own == everything:  # there is nothing to compare with
        return sorted(((float(count), word) for word, count in words.items()), key=_by_score)
    prior_total = PRIOR * everything
    pairs: list[tuple[float, str]] = []
    for word, count in words.items():
        prior = PRIOR * total[word]
        rest = total[word] - count
        difference = _log_odds(count + prior, own + prior_total) - _log_odds(
            rest + prior, everything - own + prior_total
        )
        deviation = math.sqrt(1 / (count + prior) + 1 / (rest + prior))
        if difference > 0:
            pairs.append((difference / deviation, word))
    return sorted(pairs, key=_by_score)


def _by_score(pair: tuple[float, str]) -> tuple[float, str]:
    """Return a sort key: the highest score first, ties by the alphabet."""
    return -round(pair[0], 9), pair[1]


def _log_odds(count: float, size: float) -> float:
    return math.log(count / max(size - count, 1e-9))


def _assign(
    scored: Mapping[int, list[tuple[float, str]]],
    most: int,
    fixed: Mapping[int, tuple[str, ...]],
) -> dict[int, tuple[str, ...]]:
    """Return the label of each partition; no new word stands in more than ``most`` of them.

    The partitions take turns, so that each gets its best word before any gets its second.
    """
    used = Counter(word for label in fixed.values() for word in label)
    labels: dict[int, list[str]] = {part: [] for part in scored if part not in fixed}
    for _ in range(LABEL_TERMS):
        turns = sorted((-pairs[0][0], part) for part, pairs in scored.items() if pairs)
        for _, part in turns:
            if part in fixed:
                continue
            free = (word for _, word in scored[part] if word not in labels[part])
            word = next((word for word in free if used[word] < most), None)
            if word is not None:
                labels[part].append(word)
                used[word] += 1
    return {**fixed, **{part: tuple(words) for part, words in labels.items()}}


def pack_counts(counts: Counter[str]) -> bytes:
    """Return the counts of a partition's words as they are stored."""
    return zlib.compress(json.dumps(counts, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def unpack_counts(data: bytes) -> Counter[str]:
    """Return stored counts."""
    return Counter(json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass")))
