"""Writes texts whose words are as frequent as those of a language.

A word's frequency falls with its rank (Zipf). Each community has words of its own besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.graphs import IntArray

WORDS = 200_000
OFFSET, EXPONENT = 2.7, 1.07  # of Zipf's law as Mandelbrot gave it, for English
COMMON, OWN = 20, 10  # words of a text
TOPIC = 400  # words of a community
CHUNK = 50_000
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


@dataclass(frozen=True, slots=True, eq=False)
class ZipfTexts:
    """Texts of the nodes of a graph, by their communities ``(n,)``."""

    communities: IntArray
    seed: int

    def chunks(self) -> Iterator[list[str]]:
        """Yield the texts in order, some at a time."""
        words = np.array(_words(), dtype=object)
        for chosen in self._chosen():
            yield [" ".join(row) for row in words[chosen].tolist()]

    def questions(self, count: int) -> list[tuple[int, str]]:
        """Return nodes and questions made of some words of their texts."""
        random = np.random.default_rng(self.seed + 1)
        nodes = np.sort(random.choice(len(self.communities), count, replace=False))
        words = _words()
        asked = []
        for first, chosen in zip(
            range(0, len(self.communities), CHUNK), self._chosen(), strict=True
        ):
            for node in nodes[(nodes >= first) & (nodes < first + CHUNK)].tolist():
                row = chosen[node - first]
                telling = [words[at] for at in (*row[:3], *row[COMMON : COMMON + 5])]
                asked.append((node, f"What is known about {' '.join(telling)}?"))
        return asked

    def _chosen(self) -> Iterator[NDArray[np.int64]]:
        """Yield the ranks of the words of each text ``(k, 30)``, common ones first."""
        random = np.random.default_rng(self.seed)
        usual, topic = _cumulated(WORDS), _cumulated(TOPIC)
        topics = random.integers(WORDS // 100, WORDS, (int(self.communities.max()) + 1, TOPIC))
        for start in range(0, len(self.communities), CHUNK):
            own = self.communities[start : start + CHUNK]
            common = np.searchsorted(usual, random.random((len(own), COMMON)))
            places = np.searchsorted(topic, random.random((len(own), OWN)))
            yield np.concatenate((common, topics[own[:, None], places]), axis=1)


def _cumulated(count: int) -> NDArray[np.float64]:
    weights = (np.arange(count) + OFFSET) ** -EXPONENT
    cumulated: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    cumulated[-1] = 1.0
    return cumulated


def _words() -> list[str]:
    """Return as many distinct words, of three syllables or more."""
    size = len(SYLLABLES)
    return [
        SYLLABLES[at % size] + SYLLABLES[at // size % size] + SYLLABLES[at // size**2 % size] + "x"
        for at in range(WORDS)
    ]
