"""Finds terms and labels that distinguish partitions, and tests the labels as questions.

A label should lead to its own partition when it is asked as a question. If it does not, but another
combination of terms does, that combination becomes the label. The questions are put to the text
index, which is complete by then.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import Partition
from pgs_neo4j.model.graph import LABEL_JOINT
from pgs_neo4j.search.evidence import MOST_NODES, count_votes
from pgs_neo4j.search.text_index import TextIndex, TextTable, read_table, read_terms
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.keywords import KeywordCounter
from pgs_neo4j.text.terms.labels import (
    Labels,
    Scored,
    list_terms,
    pack_counts,
    score_words,
    unpack_counts,
)
from pgs_neo4j.text.terms.postings import count_terms
from pgs_neo4j.text.terms.spans import TEXT_BITS, run_starts

WORD_ROWS = 1000  # partitions whose counts are written at once, about a kilobyte each
TERMS = 500  # terms whose postings are read at once, since neighboring terms share cells
WORDS = 1 << TEXT_BITS  # maximum number of words that are split at once
Postings = tuple[NDArray[np.int32], NDArray[np.float32], float]
"""Texts and scores of a term, both ``(k,)``, and its rarity."""


@dataclass(frozen=True, slots=True)
class Names:
    """Scored words and labels of partitions, by id."""

    scored: Mapping[int, Scored]
    labels: Mapping[int, tuple[str, ...]]


async def name_partitions(
    db: Database,
    generation_id: str,
    counter: KeywordCounter,
    partitions: Sequence[Partition],
    others: Sequence[Partition],
) -> Names:
    """Name ``partitions``, and store their word counts for later builds.

    Their text index must be complete. ``others`` keep their labels. Raises DatabaseError.
    """
    for partition_id in counter.unfinished:
        counter.finish(partition_id)
    counted = counter.counts()
    counts = {part.id: counted.get(part.id, Counter()) for part in partitions}
    await _store_counts(db, partitions, counts)
    rest = await _read(db, others)
    fixed = {part.id: tuple(part.label.split(LABEL_JOINT)) for part in others if part.label}
    scored = await asyncio.to_thread(_score_partitions, counter, counts, rest)
    labels = Labels(scored, {**dict.fromkeys(rest, ()), **fixed})
    await improve_labels(db, generation_id, labels)
    return Names(scored, labels.chosen)


def _score_partitions(
    counter: KeywordCounter,
    counts: Mapping[int, Counter[str]],
    rest: Mapping[int, Counter[str]],
) -> dict[int, Scored]:
    holders = counter.holders.of(sorted({word for words in counts.values() for word in words}))
    for words in rest.values():
        holders.update(words)
    return score_words({**rest, **counts}, holders)


async def _store_counts(
    db: Database, partitions: Sequence[Partition], counts: Mapping[int, Counter[str]]
) -> None:
    rows = [{"uid": part.uid, "words": pack_counts(counts[part.id])} for part in partitions]
    for start in range(0, len(rows), WORD_ROWS):
        batch = rows[start : start + WORD_ROWS]
        await db.write(queries.get("pgs/partitioning/describe/write_word_counts"), rows=batch)


async def _read(db: Database, others: Sequence[Partition]) -> dict[int, Counter[str]]:
    """Read the word counts of partitions that were described before."""
    stored: list[Row] = []
    if others:
        uids = [part.uid for part in others]
        stored = await db.read(queries.get("pgs/partitioning/describe/read_word_counts"), uids=uids)
    earlier = {row["uid"]: unpack_counts(row["words"]) for row in stored}
    # If the graph was just removed, its partitions have no counts any more.
    return {part.id: earlier.get(part.uid, Counter()) for part in others}


async def improve_labels(db: Database, generation_id: str, labels: Labels) -> None:
    """Replace labels of a generation that do not lead to their partitions. Raises DatabaseError."""
    table = await read_table(db, generation_id)
    if table.segments and labels.chosen:
        await LabelCheck(db, table).improve(labels)


@dataclass(slots=True)
class LabelCheck:
    """Tests labels as questions against the text index of a generation.

    ``postings`` caches the postings of each term, and ``terms`` the terms of each word.
    """

    db: Database
    table: TextTable
    postings: dict[int, Postings] = field(default_factory=dict)
    terms: dict[str, list[int]] = field(default_factory=dict)

    async def improve(self, labels: Labels) -> None:
        """Replace each label that does not lead to its partition, if another one does."""
        await self._read(word for label in labels.chosen.values() for word in label)
        failed = await asyncio.to_thread(self._find_failed, labels)
        # Each replacement changes which labels are free, so the terms of all candidates are read.
        await self._read(word for part in failed for word in list_terms(labels.scored[part]))
        await asyncio.to_thread(self._replace, labels, failed)

    def _find_failed(self, labels: Labels) -> list[int]:
        return [p for p, label in labels.chosen.items() if label and not self.leads_to(label, p)]

    def _replace(self, labels: Labels, failed: Iterable[int]) -> None:
        for part in failed:
            fitting = (label for label in labels.others(part) if self.leads_to(label, part))
            label = next(fitting, None)
            if label is not None:
                labels.replace(part, label)

    def leads_to(self, label: Sequence[str], partition_id: int) -> bool:
        """Return whether most evidence for the words of a label is in a partition."""
        terms = dict.fromkeys(term for word in label for term in self.terms[word])
        read = [self.postings[term] for term in terms if term in self.postings]
        if not read:
            return False
        texts = np.concatenate([texts for texts, _, _ in read])
        scores = np.concatenate([scores for _, scores, _ in read])
        rarities = np.repeat([weight for *_, weight in read], [len(texts) for texts, *_ in read])
        order = np.argsort(texts, kind="stable")
        first = run_starts(texts[order])
        texts, scores = texts[order[first]], np.add.reduceat(scores[order], first)
        # As in ``score_nodes``, a text that contains more of the words is preferred.
        scores *= np.sqrt(np.add.reduceat(rarities[order], first))
        if len(texts) > MOST_NODES:
            least = np.partition(scores, -MOST_NODES)[-MOST_NODES]
            texts, scores = texts[scores >= least], scores[scores >= least]
        best = np.lexsort((texts, -scores))[:MOST_NODES]
        votes = count_votes(self.table.partition_ids[texts[best]].tolist(), scores[best].tolist())
        return next(iter(votes)) == partition_id

    async def _read(self, words: Iterable[str]) -> None:
        """Read the missing postings of words, in portions."""
        terms = sorted(self._split(words) - self.postings.keys())
        for start in range(0, len(terms), TERMS):
            index = await read_terms(self.db, self.table, terms[start : start + TERMS])
            self.postings |= await asyncio.to_thread(_weigh, index)

    def _split(self, words: Iterable[str]) -> set[int]:
        """Return the terms of words, and remember the terms of each word."""
        wanted = sorted(set(words))
        fresh = [word for word in wanted if word not in self.terms]
        self.terms |= {word: [] for word in fresh}
        for start in range(0, len(fresh), WORDS):
            counted = count_terms(fresh[start : start + WORDS])
            for term, place in zip(counted.terms.tolist(), counted.texts.tolist(), strict=True):
                self.terms[fresh[start + place]].append(term)
        return {term for word in wanted for term in self.terms[word]}


def _weigh(index: TextIndex) -> dict[int, Postings]:
    """Return postings by term, with scores multiplied by the rarity of the term."""
    weights = {term: rarity(index.size, len(found)) for term, found in index.postings.items()}
    return {
        term: (
            postings.texts.astype(np.int32),
            (weights[term] * postings.impacts).astype(np.float32),
            weights[term],
        )
        for term, postings in index.postings.items()
    }
