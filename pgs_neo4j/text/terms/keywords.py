"""Keywords of partitions: the words that most of their nodes mention.

As published, a word's score is its document frequency: one count per node, without stop words. The
best twenty are the keywords. There is one addition. A word that would be a keyword of more than
half of the partitions distinguishes none, so the next word replaces it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from pgs_neo4j.text.stopwords import STOP_WORDS
from pgs_neo4j.text.terms.spans import (
    TEXT_BITS,
    HashArray,
    IntArray,
    WordSpans,
    hash_words,
    is_digit,
    run_starts,
    sort_keys,
    split_words,
)

TOP = 20
"""Keywords per partition, as published."""

SHARED_BY = 0.5
"""A word among the best of more than this share of partitions is left out."""

MIN_PARTITIONS = 4
"""With fewer partitions a shared word is still worth showing."""

KEEP = 200
"""Words kept of a partition that is finished: room for the shared ones to be left out."""

SPELLED = 400
"""Words of a partition that are spelled out in each batch of texts: the most frequent ones. A word
that is in none of these is never among the best of the whole partition, but for odd cases."""

SHORTEST, LONGEST = 3, 40
"""Letters and digits of a keyword."""

_WORD = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]{2,39}(?![^\W_])")
# Each begins with plain letters, for which a pattern is searched quickly.
_ADDRESSES = tuple(
    re.compile(start + r"[^\s<>\"')\]]+") for start in ("https?://", "ftp://", r"www\.(?<!\wwww\.)")
)
_BEFORE_AT = re.compile(r"[\w.+-]{1,64}\Z")
_AFTER_AT = re.compile(r"[\w-]+\.\w+")
# What a text with markup or addresses contains at least.
_MARKS = ("<", "```", "&", "@", "://", "www.")
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

    Every step takes time in proportion to the text, and is left out if nothing calls for it.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "```" in text or "<" in text:
        for opening, closing in _BLOCKS:
            text = _without_blocks(text, opening, closing)
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    if "://" in text or "www." in text:
        for pattern in _ADDRESSES:
            text = pattern.sub(" ", text)
    return _without_addresses(text)


def _without_addresses(text: str) -> str:
    """Return the text without e-mail addresses.

    Looking at each @ is faster than a pattern that begins at every word.
    """
    parts, position = [], 0
    at = text.find("@")
    while at >= 0:
        before = _BEFORE_AT.search(text, max(position, at - 64), at)
        after = _AFTER_AT.match(text, at + 1)
        if before and after:
            parts.append(text[position : before.start()])
            position = after.end()
        at = text.find("@", max(at + 1, position))
    return " ".join((*parts, text[position:])) if parts else text


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


@dataclass(slots=True)
class WordCounts:
    """Words of an unfinished partition.

    ``hashes`` and ``counts`` hold parallel arrays ``(k,)`` per batch of texts; ``spelled`` holds
    the most frequent words by their hashes.
    """

    hashes: list[HashArray] = field(default_factory=list)
    counts: list[IntArray] = field(default_factory=list)
    spelled: dict[int, str] = field(default_factory=dict)

    def best(self, top: int) -> Counter[str]:
        """Return how many texts hold the best words."""
        if not self.hashes:
            return Counter()
        hashes, counts = np.concatenate(self.hashes), np.concatenate(self.counts)
        order = np.argsort(hashes, kind="stable")
        first = run_starts(hashes[order])
        total = dict(
            zip(
                hashes[order][first].tolist(),
                np.add.reduceat(counts[order], first).tolist(),
                strict=True,
            )
        )
        found: Counter[str] = Counter()
        for key, word in self.spelled.items():
            found[word] += total[key]
        return Counter({word: found[word] for word in _best(found, top)})


class KeywordCounter:
    """Counts the words of partitions while texts stream by, in any order.

    When texts come partition by partition, calling :meth:`finish` after each keeps the memory
    small for any number of them.
    """

    def __init__(self) -> None:
        self._open: dict[int, WordCounts] = {}
        self._finished: dict[int, Counter[str]] = {}

    def add(self, partition: int, text: str) -> None:
        """Count the words of one node's text."""
        plain = plain_text(text)
        self.count(split_words([plain]).runs, np.array([partition]))

    def count(self, runs: WordSpans, partition_ids: IntArray) -> None:
        """Count the words of a batch of plain texts.

        ``runs`` are as :func:`pgs_neo4j.text.terms.spans.split_words` returns them. Text ``i`` is
        of the partition ``partition_ids[i]``.
        """
        for partition in np.unique(partition_ids).tolist():
            self._open.setdefault(partition, WordCounts())
        fitting = (runs.lengths >= SHORTEST) & (runs.lengths <= LONGEST)
        runs = runs.at(fitting & ~is_digit(runs.codes[runs.starts]))
        hashes = hash_words(runs)
        telling = ~np.isin(hashes, _stop_words())
        runs, hashes = runs.at(telling), hashes[telling]
        if not len(runs):
            return
        # A word counts once per text, so equal words of a text come together first.
        keys = sort_keys(hashes, runs)
        order = np.argsort(keys)
        order = order[run_starts(keys[order])]
        groups, owner = np.unique(partition_ids, return_inverse=True)
        group = owner[runs.texts[order]]
        word = hashes[order] >> np.uint64(TEXT_BITS)
        order = order[np.lexsort((word, group))]
        group, word = owner[runs.texts[order]], hashes[order] >> np.uint64(TEXT_BITS)
        first = run_starts(word, group)
        counts = np.diff(np.append(first, len(order)))
        edges = np.searchsorted(group[first], np.arange(len(groups) + 1))
        for number, partition in enumerate(groups.tolist()):
            part = slice(edges[number], edges[number + 1])
            self._open[partition].hashes.append(word[first[part]])
            self._open[partition].counts.append(counts[part])
            frequent = np.argsort(-counts[part], kind="stable")[:SPELLED]
            for place in first[part][frequent].tolist():
                key = int(word[place])
                if key not in self._open[partition].spelled:
                    self._open[partition].spelled[key] = runs.spell(int(order[place])).casefold()

    def finish(self, partition: int) -> None:
        """Keep only the best words of a partition whose texts are complete."""
        former = self._finished.setdefault(partition, Counter())
        if partition in self._open:
            self._finished[partition] = former + self._open.pop(partition).best(KEEP)

    def common(self, others: Sequence[Sequence[str]] = (), top: int = TOP) -> frozenset[str]:
        """Return the best words that too many partitions share.

        ``others`` are the keywords of partitions that were not added to.
        """
        tops = [_best(counts, top) for counts in self.counts().values()]
        return frozenset(_shared([*tops, *map(list, others)]))

    def keywords(self, common: Collection[str] = (), top: int = TOP) -> dict[int, tuple[str, ...]]:
        """Return the best words of each added partition, without the common ones.

        Ties are in alphabetical order.
        """
        return {
            partition: tuple(word for word in _best(counts, KEEP) if word not in common)[:top]
            for partition, counts in self.counts().items()
        }

    def counts(self) -> dict[int, Counter[str]]:
        """Return how many texts of each partition hold its best words."""
        return self._finished | {part: words.best(KEEP) for part, words in self._open.items()}


def plain_text(text: str) -> str:
    """Return the text as its keywords are counted: without markup, and in one spelling.

    The same object if nothing has to be changed, which is quick to tell.
    """
    if any(mark in text for mark in _MARKS):
        text = _plain(text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    folded = text.casefold()
    return text if folded == text.lower() else folded


@cache
def _stop_words() -> HashArray:
    return hash_words(split_words(sorted(STOP_WORDS)).runs)


def _best(counts: Counter[str], top: int) -> list[str]:
    """Return the most frequent words, ties in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))[:top]


def _shared(tops: list[list[str]]) -> set[str]:
    """Return the words that are among the best of too many partitions."""
    if len(tops) < MIN_PARTITIONS:
        return set()
    among = Counter(word for best in tops for word in best)
    return {word for word, count in among.items() if count > SHARED_BY * len(tops)}
