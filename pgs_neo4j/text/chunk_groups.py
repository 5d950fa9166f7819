"""Groups the sentences of a document into chunks, by their sizes in bytes.

There are three ways. The first fills one chunk after another. The second divides the document at
the sentence ends with the lowest ranks. A rank depends only on the sentences around it, so an edit
moves few ends. The third uses the ends that the caller gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.hashes import encoded, hash64
from pgs_neo4j.model.documents import Sentence

LEAST, MOST = 0.5, 1.5
"""Bounds of a chunk, as shares of its size."""

SIDE = 3
"""Sentences on each side of a place whose vectors are compared."""

LAST = np.iinfo(np.int64).max
"""The rank of an end that is chosen only if there is no other."""

IntArray = NDArray[np.int64]
RankArray = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SizedSentence:
    """A sentence of a document, and its size in UTF-8 bytes."""

    sentence: Sentence
    size: int


def fill_groups(
    text: str, sentences: Iterable[SizedSentence], room: int, *, cut: bool
) -> Iterator[list[SizedSentence]]:
    """Yield groups of at most ``room`` bytes, each as full as possible.

    With ``cut``, a sentence that does not fit is divided where the group is full. Otherwise, a
    sentence larger than ``room`` is a group of its own.
    """
    group: list[SizedSentence] = []
    used = 0
    for whole in sentences:
        rest = whole
        while used + rest.size > room:
            parts = cut_sentence(text, rest, room - used, inside_words=not group) if cut else None
            if parts is not None:
                group.append(parts[0])
                rest = parts[1]
            elif not group:
                break
            yield group
            group, used = [], 0
        group.append(rest)
        used += rest.size
    if group:
        yield group


def end_groups(
    text: str, sentences: Iterable[Sentence], ends: Sequence[int]
) -> Iterator[list[SizedSentence]]:
    """Yield the sentences of each chunk; a sentence is divided if a chunk ends inside it.

    Raises ValueError unless ``ends`` increase and the last one is the end of the text.
    """
    bounded = [0, *ends]
    if bounded[-1] != len(text) or any(a >= b for a, b in pairwise(bounded)):
        raise ValueError(
            f"chunk ends must increase, and the last must be {len(text)}, the length of the text"
        )
    group: list[Sentence] = []
    remaining = iter(ends)
    end = next(remaining, 0)
    for whole in sentences:
        rest = whole
        while rest.end > end:
            if rest.start < end:
                group.append(replace(rest, end=end))
                rest = replace(rest, start=end, opens=False)
            yield [*sized(text, group)]
            group, end = [], next(remaining)
        group.append(rest)
    if group:
        yield [*sized(text, group)]


def divide(sizes: IntArray, room: int, ranks: RankArray) -> Iterator[tuple[int, int]]:
    """Yield the sentences ``[first, last)`` of each group; ``sizes`` ``(n,)`` are their bytes.

    The document is cut at the sentence end with the lowest of the ``ranks`` ``(n,)``. Its parts are
    cut in the same way, until they have at most ``MOST`` times ``room`` bytes. Cuts leave at least
    ``LEAST`` times ``room`` on both sides if sentences allow it. A cut depends only on the ends
    around it, so an edit changes its own group, and rarely a neighbor.
    """
    # Floats represent these sums exactly. With integers, each search for a fraction would convert
    # the whole array, and time would grow with the square of the text.
    sums = np.concatenate([np.zeros(1), np.cumsum(sizes, dtype=np.float64)])
    parts = [(0, len(sizes))]
    while parts:
        first, last = parts.pop()
        if last - first < 2 or sums[last] - sums[first] <= MOST * room:
            if last > first:
                yield first, last
            continue
        cut = _best_cut(sums, first, last, room, ranks)
        parts += [(cut, last), (first, cut)]


def _best_cut(sums: NDArray[np.float64], first: int, last: int, room: int, ranks: RankArray) -> int:
    """Return the sentence that begins the second half of a part; the middle of equal ranks wins."""
    low = int(np.searchsorted(sums, sums[first] + LEAST * room))
    high = int(np.searchsorted(sums, sums[last] - LEAST * room, side="right")) - 1
    low, high = max(low, first + 1), min(high, last - 1)
    if low > high:
        middle = int(np.searchsorted(sums, (sums[first] + sums[last]) / 2))
        return min(max(middle, first + 1), last - 1)
    window = ranks[low - 1 : high]
    lowest = np.flatnonzero(window == window.min())
    return low + int(lowest[len(lowest) // 2])


def hash_ranks(text: str, sentences: Sequence[Sentence]) -> RankArray:
    """Return a rank ``(n,)`` for each sentence end: the hash of the sentence.

    A heading belongs to the text below it, so its own end ranks last.
    """
    hashes = (
        LAST if one.kind == "heading" else hash64(encoded(text[one.start : one.end].strip()))
        for one in sentences
    )
    return np.fromiter(hashes, np.int64, len(sentences))


def similarity_ranks(vectors: NDArray[np.floating], sentences: Sequence[Sentence]) -> RankArray:
    """Return a rank ``(n,)`` for each sentence end: how similar the texts on its two sides are.

    ``vectors`` are ``(n, d)``.
    """
    rows = np.asarray(vectors, np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    sums = np.vstack([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    ends = np.arange(1, len(rows) + 1)
    before = sums[ends] - sums[np.maximum(ends - SIDE, 0)]
    after = sums[np.minimum(ends + SIDE, len(rows))] - sums[ends]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    dots = np.einsum("nd,nd->n", before, after)
    ranks: NDArray[np.float64] = np.divide(
        dots, lengths, out=np.zeros_like(dots), where=lengths > 0
    )
    ranks[[number for number, one in enumerate(sentences) if one.kind == "heading"]] = LAST
    return ranks


def size_bytes(text: str) -> int:
    """Return the number of UTF-8 bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def sized(text: str, sentences: Iterable[Sentence]) -> Iterator[SizedSentence]:
    """Yield the sentences of a text with their sizes."""
    for sentence in sentences:
        yield _measure_sentence(text, sentence)


def cut_sentence(
    text: str, whole: SizedSentence, room: int, *, inside_words: bool
) -> tuple[SizedSentence, SizedSentence] | None:
    """Cut a sentence after a word, so that the first part has at most ``room`` bytes.

    Return both parts, or None if nothing fits. With ``inside_words``, the cut may fall inside a
    word that is too long.
    """
    sentence = whole.sentence
    head = text[sentence.start : sentence.start + max(room, 0)]
    fitting = head.encode("utf-8", "replace")[: max(room, 0)].decode("utf-8", "ignore")
    end = sentence.start + len(fitting)
    blank = max(text.rfind(mark, sentence.start, end) for mark in " \n") + 1
    if blank <= sentence.start and not inside_words:
        return None
    end = blank or end
    if not sentence.start < end < sentence.end:
        return None
    first = replace(sentence, end=end)
    rest = replace(sentence, start=end, opens=False)
    return _measure_sentence(text, first), _measure_sentence(text, rest)


def _measure_sentence(text: str, sentence: Sentence) -> SizedSentence:
    return SizedSentence(sentence, size_bytes(text[sentence.start : sentence.end]))
