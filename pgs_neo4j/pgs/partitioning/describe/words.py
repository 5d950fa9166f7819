"""Takes keywords and vectors of partitions from the words of their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.llm.embedders.bags import TextHasher
from pgs_neo4j.text.terms.characters import BoolArray
from pgs_neo4j.text.terms.keywords import KeywordCounter
from pgs_neo4j.text.terms.plain import marked_texts, plain_text
from pgs_neo4j.text.terms.postings import TextBatch
from pgs_neo4j.text.terms.spans import IntArray, split_words
from pgs_neo4j.text.terms.vocabulary import Vocabulary


class VectorSum(Protocol):
    """Adds up vectors."""

    count: int

    def add_total(self, total: NDArray[np.float64]) -> None:
        """Add a sum of vectors ``(d,)``."""


@dataclass(slots=True)
class WordReader:
    """Counts keywords, and with a ``hasher`` adds up vectors by partition in ``sums``.

    Partitions come one after the other.
    """

    keywords: KeywordCounter
    sums: Mapping[int, VectorSum]
    hasher: TextHasher | None = None
    _marked: Vocabulary = field(default_factory=Vocabulary)

    def use(self, batch: TextBatch, partition_ids: IntArray, bodies: IntArray) -> None:
        """Count the words of a batch, and add up its vectors.

        ``partition_ids`` ``(k,)`` are the partitions of the pieces, and ``bodies`` ``(k,)`` the
        places where the nodes' texts begin. The titles before them do not count for vectors.
        Neither do texts that are cut.
        """
        self._count_keywords(batch, partition_ids)
        for partition_id in self.keywords.unfinished - {int(partition_ids[-1])}:
            self.keywords.finish(partition_id)
        if self.hasher is not None:
            self._add_vectors(self.hasher, batch, partition_ids, bodies)

    def _count_keywords(self, batch: TextBatch, partition_ids: IntArray) -> None:
        """Count keywords of pieces of texts; only those with markup are split again."""
        again = _with_signs(batch)  # their words were divided for the index
        marked: dict[int, str] = {}
        for place in {*marked_texts(batch.split).tolist(), *np.flatnonzero(again).tolist()}:
            plain = plain_text(batch.pieces[place])
            if again[place] or plain is not batch.pieces[place]:
                again[place] = True
                marked[place] = plain
        runs = batch.runs.at(~again[batch.runs.texts]) if marked else batch.runs
        self.keywords.count(runs, partition_ids)
        if marked:
            if self._marked.full:
                self._marked = Vocabulary()
            runs = self._marked.number(split_words(list(marked.values())).runs)
            self.keywords.count(runs, partition_ids[list(marked)])

    def _add_vectors(
        self, hasher: TextHasher, batch: TextBatch, partition_ids: IntArray, bodies: IntArray
    ) -> None:
        wanted = batch.whole & (batch.lengths > bodies)
        owners, counts = np.unique(partition_ids[wanted], return_counts=True)
        for owner, count in zip(owners.tolist(), counts.tolist(), strict=True):
            self.sums[owner].count += count
        apart = wanted & _with_signs(batch)
        if apart.any():
            places = np.flatnonzero(apart).tolist()
            rows = hasher.rows([batch.pieces[place][bodies[place] :] for place in places])
            for owner, row in zip(partition_ids[places].tolist(), rows, strict=True):
                self.sums[owner].add_total(row.astype(np.float64))
            wanted &= ~apart
        words = batch.words
        if not wanted.all() or bodies.any():
            starts = (batch.split.text_starts + bodies)[words.texts]
            words = words.at(wanted[words.texts] & (batch.split.words.starts >= starts))
        for owner, total in hasher.sums(words, partition_ids):
            self.sums[owner].add_total(total)


def _with_signs(batch: TextBatch) -> BoolArray:
    """Return which pieces ``(k,)`` have words in a script without spaces."""
    mask = np.zeros(len(batch.pieces), np.bool_)
    mask[batch.split.signs.texts] = True
    return mask
