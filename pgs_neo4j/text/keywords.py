"""Keywords of partitions: the words that most of their nodes mention.

As published, a word's score is its document frequency: one count per node, without stop words. The
best twenty are the keywords. There is one addition. A word that would be a keyword of more than
half of the partitions distinguishes none, so the next word replaces it.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

from pgs_neo4j.text.stopwords import STOP_WORDS

TOP = 20
"""Keywords per partition, as published."""

SHARED_BY = 0.5
"""A word among the best of more than this share of partitions is left out."""

MIN_PARTITIONS = 4
"""With fewer partitions a shared word is still worth showing."""

KEEP = 200
"""Words kept of a partition that is finished: room for the shared ones to be left out."""

MAX_WORDS = 50_000
"""Distinct words held per partition; then the rarest go (lossy counting, Manku and Motwani
2002), which cannot touch the best twenty unless the text hardly repeats a word at all."""

_WORD = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]{2,39}(?![^\W_])")
_LINK = re.compile(
    r"(?:https?|ftp)://[^\s<>\"')\]]+|\bwww\.[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]+\.\w+"
)
_TAG = re.compile(r"</?[a-zA-Z!?][^<>]*>")
_BLOCKS = tuple(
    (re.compile(opening, re.IGNORECASE | re.MULTILINE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (r"^[ \t]*```", r"```"),
        (r"<!--", r"-->"),
        (r"<script\b", r"</script\s*>"),
        (r"<style\b", r"</style\s*>"),
        (r"<pre\b", r"</pre\s*>"),
    )
)


def words(text: str) -> set[str]:
    """Return the distinct words of a text that may become keywords.

    A word is 3 to 40 letters or digits, the first a letter, in any script, casefolded.
    ``snake_case`` and hyphenated words are divided, ``camelCase`` is not. Tags, comments, fenced
    and preformatted code, addresses, and stop words are left out.
    """
    text = _plain(text)
    distinct = {word.casefold() for word in _WORD.findall(text)}
    return distinct - STOP_WORDS


def _plain(text: str) -> str:
    """Return the text without markup.

    Every step takes time in proportion to the text.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for opening, closing in _BLOCKS:
        text = _without_blocks(text, opening, closing)
    text = _TAG.sub(" ", text)
    return _LINK.sub(" ", html.unescape(text))


def _without_blocks(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """Return the text without closed blocks.

    An opening that is never closed stays.
    """
    parts, position = [], 0
    while begin := opening.search(text, position):
        end = closing.search(text, begin.end())
        if end is None:
            break
        parts.append(text[position : begin.start()])
        position = end.end()
    return " ".join((*parts, text[position:])) if parts else text[position:]


class KeywordCounter:
    """Counts words per partition while texts stream by, in any order.

    Memory is bounded per partition; when texts come partition by partition, calling
    :meth:`finish` after each keeps it small for any number of them.
    """

    def __init__(self) -> None:
        self._counts: dict[int, Counter[str]] = {}

    def add(self, partition: int, text: str) -> None:
        """Count the words of one node's text."""
        counts = self._counts.setdefault(partition, Counter())
        counts.update(map(sys.intern, words(text)))
        rare = 1
        while len(counts) > MAX_WORDS:
            for word in [word for word, count in counts.items() if count <= rare]:
                del counts[word]
            rare += 1

    def finish(self, partition: int) -> None:
        """Keep only the best words of a partition whose texts are complete."""
        counts = self._counts.get(partition, Counter())
        self._counts[partition] = Counter({word: counts[word] for word in _best(counts, KEEP)})

    def common(self, others: Sequence[Sequence[str]] = (), top: int = TOP) -> frozenset[str]:
        """Return the best words that too many partitions share.

        ``others`` are the keywords of partitions that were not added to.
        """
        tops = [_best(counts, top) for counts in self._counts.values()]
        return frozenset(_shared([*tops, *map(list, others)]))

    def keywords(self, common: Collection[str] = (), top: int = TOP) -> dict[int, tuple[str, ...]]:
        """Return the best words of each added partition, without the common ones.

        Ties are in alphabetical order.
        """
        return {
            partition: tuple(word for word in _best(counts, KEEP) if word not in common)[:top]
            for partition, counts in self._counts.items()
        }


def _best(counts: Counter[str], top: int) -> list[str]:
    """Return the most frequent words, ties in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))[:top]


def _shared(tops: list[list[str]]) -> set[str]:
    """Return the words that are among the best of too many partitions."""
    if len(tops) < MIN_PARTITIONS:
        return set()
    among = Counter(word for best in tops for word in best)
    return {word for word, count in among.items() if count > SHARED_BY * len(tops)}
