"""Describes partitions: keywords, names, a summary, typical sentences, and a centroid.

No language model reads the texts. An embedder does if one is configured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.gds import compute_centroids
from pgs_neo4j.database.tasks import together
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder, TextHasher
from pgs_neo4j.model import Partition
from pgs_neo4j.model.graph import LABEL_JOINT
from pgs_neo4j.pgs.partitioning.describe.indexing import (
    MemberText,
    SegmentWriter,
    read_texts,
    text_index,
)
from pgs_neo4j.pgs.partitioning.describe.naming import Names, name_partitions
from pgs_neo4j.pgs.partitioning.describe.typical import (
    Boilerplate,
    Openings,
    choose_sentences,
    opening_room,
)
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.view import View
from pgs_neo4j.search.space import Space
from pgs_neo4j.text.node_text import shortened
from pgs_neo4j.text.terms.keywords import KeywordCounter
from pgs_neo4j.text.terms.labels import Scored, list_terms
from pgs_neo4j.text.terms.plain import marked_texts, plain_text
from pgs_neo4j.text.terms.postings import TextBatch, is_cut
from pgs_neo4j.text.terms.spans import BoolArray, IntArray, split_words
from pgs_neo4j.text.terms.vocabulary import Vocabulary

SUMMARY_KEYWORDS = 5
SUMMARY_TEXT = 120  # characters of the heaviest node's text, as in the published method
DIGEST_TEXT = 4000  # characters of the heaviest nodes' texts that represent a partition
EMBED_BATCH = 1024


@dataclass(slots=True)
class PartitionTexts:
    """Data derived from a partition's texts.

    ``openings`` are beginnings of texts. ``total`` ``(d,)`` is the sum of ``count`` vectors, or
    None without vectors.
    """

    openings: Openings = field(default_factory=lambda: Openings(0))
    heaviest: str = ""
    digest: str = ""
    total: NDArray[np.float64] | None = None
    count: int = 0

    def add_text(self, text: str) -> None:
        """Add a text to the summary, the openings, and the digest."""
        self.openings.add(text)
        self.heaviest = self.heaviest or text
        if len(self.digest) < DIGEST_TEXT:
            self.digest += shortened(text, DIGEST_TEXT // 4) + "\n"

    def add_vectors(self, vectors: NDArray[np.float64]) -> None:
        """Add vectors ``(k, d)`` to the total."""
        self.add_total(vectors.sum(axis=0))
        self.count += len(vectors)

    def add_total(self, total: NDArray[np.float64]) -> None:
        """Add a sum of vectors ``(d,)`` that are counted elsewhere."""
        self.total = total if self.total is None else self.total + total

    @property
    def mean(self) -> NDArray[np.float64] | None:
        """The mean vector ``(d,)``; None without vectors."""
        return None if self.total is None else self.total / self.count


async def describe(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partitions: Sequence[Partition],
    others: Sequence[Partition] = (),
    common: Collection[str] = (),
) -> tuple[list[Partition], frozenset[str]]:
    """Add keywords, names, summary, typical sentences, and centroid to partitions.

    Returns the partitions, and the words that are too common to be keywords. Texts are read in
    portions, partition by partition, heaviest node first. ``partitions`` may be only a part of a
    generation. ``others`` are the other partitions, which already have descriptions. ``common`` are
    the words that were too common to be keywords of ``others``.
    """
    if not partitions:
        return [], frozenset(common)
    counter = KeywordCounter()
    room = opening_room(len(partitions))
    seen = {part.id: PartitionTexts(Openings(room)) for part in partitions}
    if order.mapping.has_text or order.mapping.has_title:
        words = WordReader(counter, seen, word_hasher(tools.space))
        index = text_index(order, tools, view, partitions, words.use)
        reader = TextReader(tools.space, seen, index)
        await read_texts(order, tools, view, members, list(seen), reader.take)
        await reader.end()
    left_out = counter.common([part.keywords for part in others]) | frozenset(common)
    keywords = counter.keywords(left_out)
    vectors = await _compute_centroids(
        order, tools, seen, keywords, view.embedding_dimensions, partial=bool(others)
    )
    names = await name_partitions(tools.db, order.generation_id, counter, partitions, others)
    named = await _add_names(partitions, names, seen)
    described = [
        replace(
            partition,
            keywords=keywords.get(partition.id, ()),
            summary=summarize(keywords.get(partition.id, ()), seen[partition.id].heaviest),
            centroid=vectors.get(partition.id),
        )
        for partition in named
    ]
    return described, left_out


async def _add_names(
    partitions: Sequence[Partition], names: Names, seen: Mapping[int, PartitionTexts]
) -> list[Partition]:
    """Add terms, labels, and typical sentences to partitions."""
    abstracts = await asyncio.to_thread(_write_abstracts, seen, names.scored)
    return [
        replace(
            partition,
            abstract=abstracts[partition.id],
            label=LABEL_JOINT.join(names.labels[partition.id]),
            terms=list_terms(names.scored[partition.id]),
        )
        for partition in partitions
    ]


def _write_abstracts(
    seen: Mapping[int, PartitionTexts], scored: Mapping[int, Scored]
) -> dict[int, str]:
    """Return the most typical sentences of each partition."""
    boilerplate = Boilerplate(texts.openings for texts in seen.values())
    return {
        part: " ".join(
            choose_sentences(
                texts.openings, {word: score for score, word in scored[part]}, boilerplate
            )
        )
        for part, texts in seen.items()
    }


@dataclass(slots=True)
class TextReader:
    """Reads the texts of members, partition by partition, to index and describe them."""

    space: Space
    seen: dict[int, PartitionTexts]
    index: SegmentWriter
    batch: list[MemberText] = field(default_factory=list)

    async def take(self, members: list[MemberText]) -> None:
        """Index and describe members. A member without a text only gets a number in the index."""
        # Indexing and describing both use worker threads for their arrays, so they run at the same
        # time.
        await together(self._index(members), self._describe(members))

    async def _index(self, members: list[MemberText]) -> None:
        for partition_id, group in groupby(members, key=attrgetter("partition_id")):
            await self.index.add(partition_id, group)

    async def _describe(self, members: list[MemberText]) -> None:
        with_text = [member for member in members if member.text]
        for member in with_text:
            self.seen[member.partition_id].add_text(member.text)
        for member in self._choose_embedded(with_text):
            self.batch.append(member)
            if len(self.batch) == EMBED_BATCH:
                await self._embed()

    def _choose_embedded(self, members: list[MemberText]) -> list[MemberText]:
        """Return the members whose texts the embedder must read.

        The hashing embedder needs only words, which ``WordReader`` counts. So this embedder reads
        only texts that are cut for the index.
        """
        if self.space.kind != "texts":
            return []
        if isinstance(self.space.embedder, HashingEmbedder):
            return [member for member in members if is_cut(member.whole)]
        return members

    async def end(self) -> None:
        """Embed and index the remaining texts. Raises LeaseLostError."""
        await self._embed()
        await self.index.flush()

    async def _embed(self) -> None:
        if not self.batch:
            return
        assert self.space.embedder is not None
        batch, self.batch = self.batch, []
        vectors = await self.space.embed(self.space.embedder, [member.text for member in batch])
        owners = np.array([member.partition_id for member in batch])
        for partition_id in np.unique(owners).tolist():
            own = np.asarray(vectors[owners == partition_id], dtype=np.float64)
            self.seen[partition_id].add_vectors(own)


def word_hasher(space: Space) -> TextHasher | None:
    """Return a hasher that makes vectors from words; None if the embedder must read the texts."""
    if space.kind != "texts" or not isinstance(space.embedder, HashingEmbedder):
        return None
    return TextHasher(space.embedder.size)


@dataclass(slots=True)
class WordReader:
    """Counts keywords. With a ``hasher``, it also adds up vectors by partition in ``sums``.

    The texts must arrive partition by partition.
    """

    keywords: KeywordCounter
    sums: Mapping[int, PartitionTexts]
    hasher: TextHasher | None = None
    _marked: Vocabulary = field(default_factory=Vocabulary)

    def use(self, batch: TextBatch, partition_ids: IntArray, bodies: IntArray) -> None:
        """Count the words of a batch, and add up its vectors.

        ``partition_ids`` ``(k,)`` are the partitions of the pieces, and ``bodies`` ``(k,)`` the
        positions where the nodes' texts begin. The titles before them do not count for vectors, and
        neither do texts that are cut.
        """
        self._count_keywords(batch, partition_ids)
        for partition_id in self.keywords.unfinished - {int(partition_ids[-1])}:
            self.keywords.finish(partition_id)
        if self.hasher is not None:
            self._add_vectors(self.hasher, batch, partition_ids, bodies)

    def _count_keywords(self, batch: TextBatch, partition_ids: IntArray) -> None:
        """Count the keywords of pieces. Splits only pieces with markup or unspaced words again."""
        # The index divides words in a script without spaces, so these pieces are split again.
        again = _find_unspaced(batch)
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
        apart = wanted & _find_unspaced(batch)
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


def _find_unspaced(batch: TextBatch) -> BoolArray:
    """Return a mask ``(k,)`` of the pieces with words in a script without spaces."""
    mask = np.zeros(len(batch.pieces), np.bool_)
    mask[batch.split.signs.texts] = True
    return mask


async def _compute_centroids(
    order: BuildOrder,
    tools: BuildTools,
    seen: dict[int, PartitionTexts],
    keywords: dict[int, tuple[str, ...]],
    dimensions: int | None,
    *,
    partial: bool,
) -> dict[int, NDArray[np.float32]]:
    """Return the centroids ``(d,)`` by partition id, in the graph's vector space.

    ``partial`` says that ``seen`` has only some partitions of the generation.
    """
    space, mapping = tools.space, order.mapping
    if space.kind == "stored" and mapping.embedding and dimensions:
        return await compute_centroids(
            tools.gds,
            order.generation_id,
            mapping.embedding,
            dimensions,
            weight=(mapping.weight or "") if order.config.centroid == "weighted" else None,
            partition_ids=list(seen) if partial else (),
            concurrency=1,
        )
    if space.kind == "texts":
        means = {part: texts.mean for part, texts in seen.items() if texts.mean is not None}
        return {part: mean.astype(np.float32) for part, mean in means.items() if mean.any()}
    if space.kind == "digests" and space.embedder is not None:
        parts = [part for part, texts in seen.items() if texts.digest]
        texts = [f"{', '.join(keywords.get(p, ()))}\n{seen[p].digest}" for p in parts]
        rows = await space.embed(space.embedder, texts) if texts else np.empty((0, 0))
        vectors = zip(parts, np.asarray(rows, dtype=np.float32), strict=True)
        return {part: vector for part, vector in vectors if vector.any()}
    return {}


def summarize(keywords: Sequence[str], heaviest: str) -> str:
    """Return the first keywords and the beginning of the heaviest text."""
    topics = ", ".join(keywords[:SUMMARY_KEYWORDS])
    opening = shortened(heaviest, SUMMARY_TEXT)
    return ". ".join(part for part in (topics, opening) if part)
