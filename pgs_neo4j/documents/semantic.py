"""Ends chunks where adjacent sentences differ most, by the vectors of an embedder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.batches import batches
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.llm.calls.embedding import EmbeddingModel
from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.documents import DocumentText, Sentence
from pgs_neo4j.text.chunk_groups import (
    MOST,
    SIDE,
    RankArray,
    divide,
    hash_ranks,
    similarity_ranks,
    size_bytes,
    sized,
)
from pgs_neo4j.text.chunking import ChunkRules, bounded_sentences
from pgs_neo4j.text.tokens import estimate

BATCH_TEXTS, BATCH_TOKENS = 200, 8_000
"""Maximum sentences of a call, and maximum tokens of all these sentences."""
CALLS_AT_ONCE = 16
"""Number of calls whose vectors are in memory together. The queue decides how many of them run at
the same time."""

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


@dataclass(frozen=True, slots=True)
class SemanticChunker:
    """Ends each chunk where the sentences before and after its end are least similar.

    An end depends only on a few sentences around it, so an edit moves few ends. ``space`` is the
    name of the vector space. ``model`` identifies the embedder in the price list. A document that
    fits in one chunk needs no vectors.
    """

    rules: ChunkRules
    space: str
    embed: Embed
    model: EmbeddingModel

    @property
    def signature(self) -> str:
        """A hash of the chunk sizes and the vector space."""
        return digest(["semantic", self.rules.signature, self.space])

    async def divide(self, document: DocumentText) -> Sequence[int]:
        """Return the positions at which chunks end. Raises ModelError and StoppedError."""
        sentences = [*bounded_sentences(document.text)]
        if not is_divided(document.text, self.rules):
            return _choose_ends(document.text, sentences, self.rules, np.zeros(len(sentences)))
        ranks = await self._rank_ends(document.text, sentences)
        return _choose_ends(document.text, sentences, self.rules, ranks)

    async def _rank_ends(self, text: str, sentences: Sequence[Sentence]) -> RankArray:
        """Return the similarity rank of the two sides of each sentence end, ``(n,)``.

        Only the vectors for a part of the document are in memory at a time.
        """
        ranks = np.zeros(len(sentences))
        held: list[Vectors] = []  # Vectors before ``read`` that later ends need.
        ranked = read = 0
        calls = [*sentence_batches(text, sentences)]
        for place in range(0, len(calls), CALLS_AT_ONCE):
            some = calls[place : place + CALLS_AT_ONCE]
            window = np.vstack([*held, *await together(*map(self.embed, some))])
            read += sum(map(len, some))
            first = read - len(window)
            last = read if read == len(sentences) else read - SIDE
            found = similarity_ranks(window, sentences[first:read])
            ranks[ranked:last] = found[ranked - first : last - first]
            ranked, held = last, [window[-2 * SIDE :]]
        return ranks


@dataclass(slots=True)
class DivisionEstimate:
    """Divides documents for a plan by hashes, without a call, into chunks of the same sizes.

    It counts the embedding calls of a real division, and their tokens.
    """

    chunker: SemanticChunker
    calls: PlannedCalls = field(default_factory=PlannedCalls)

    @property
    def signature(self) -> str:
        """The signature of the real chunker, so that a plan reports the same changed documents."""
        return self.chunker.signature

    async def divide(self, document: DocumentText) -> Sequence[int]:
        """Return likely positions at which chunks end, and count the calls for them."""
        text, rules = document.text, self.chunker.rules
        sentences = [*bounded_sentences(text)]
        if is_divided(text, rules):
            for batch in sentence_batches(text, sentences):
                tokens = sum(map(estimate, batch))
                self.calls += PlannedCalls(calls=1, input_tokens=tokens)
        return _choose_ends(text, sentences, rules, hash_ranks(text, sentences))


def is_divided(text: str, rules: ChunkRules) -> bool:
    """Return whether a text is too large for one chunk."""
    total = size_bytes(text)
    return total > MOST * rules.room_for(total)


def sentence_batches(text: str, sentences: Sequence[Sentence]) -> Iterator[list[str]]:
    """Yield the sentences of each embedding call."""
    texts = (text[one.start : one.end].strip() for one in sentences)
    return batches(texts, BATCH_TEXTS, BATCH_TOKENS, estimate)


def _choose_ends(
    text: str, sentences: Sequence[Sentence], rules: ChunkRules, ranks: RankArray
) -> list[int]:
    sizes = np.fromiter((one.size for one in sized(text, sentences)), np.int64, len(sentences))
    room = rules.room_for(size_bytes(text))
    return [sentences[last - 1].end for _, last in divide(sizes, room, ranks)]
