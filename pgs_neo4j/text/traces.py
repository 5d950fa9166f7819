"""Finds the places where text is quoted, by runs of its words.

A run has six words of one sentence, or a shorter sentence as a whole. Case, punctuation, line
breaks, and the escapes of JSON do not matter. Runs are kept as 64-bit numbers, so they take eight
bytes per word. The numbers are the same in every process.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.text.sentences import split_sentences
from pgs_neo4j.text.words import STOP_WORDS

RUN = 6
"""Words of a run: enough not to occur by chance, and fewer than most quotations have."""
SHORTEST = 3
"""Words of the shortest sentence that is looked for."""
TELLING = {RUN: 3}
"""Minimum number of words that are not stop words, by the size of a run. Runs with fewer of these
words occur in any text."""
TELLING_SHORT = 2
MOST_PHRASES = 200

# Scripts without spaces are read letter by letter.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff"
_MARKS = "\u0300-\u036f"  # marks over letters, such as the dot of a small İ
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:[{_MARKS}]+[^\W_{_UNSPACED}]*)*")
_ESCAPE = re.compile(
    r"\\(?<!\\\\)(\\*)(?:[bfnrt]|"  # all backslashes in a row; a search for the first is fastest
    r"u(?:([dD][89abAB][\da-fA-F]{2})\\+u([dD][c-fC-F][\da-fA-F]{2})|([\da-fA-F]{4})))",
    re.ASCII,
)
_APART = "\0"  # a word between texts, which occurs in no run
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_STORED = np.dtype("<u8")

Runs = NDArray[np.uint64]
_word_hash = lru_cache(maxsize=65536)(text_hash)


@dataclass(slots=True)
class Traces:
    """The runs of texts to look for.

    ``sentences`` counts the sentences that are looked for, and ``short`` the sentences that are too
    short or too common.
    """

    sentences: int = 0
    short: int = 0
    _added: list[Runs] = field(default_factory=list)
    _runs: Runs = field(default_factory=lambda: np.empty(0, np.uint64))
    _wanted: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    _sizes: set[int] = field(default_factory=set)
    _phrases: dict[int, str] = field(default_factory=dict)

    def add(self, text: str, *, counted: bool = True) -> None:
        """Add a text to look for; without ``counted``, its sentences are not counted."""
        counts = self.sentences, self.short
        plain = _unescape(text)
        words = [*_WORD.finditer(plain)]
        first = 0
        for sentence in split_sentences(plain):
            last = bisect_left(words, sentence.end, first, key=re.Match.start)
            self._add_sentence(plain, words[first:last])
            first = last
        if not counted:
            self.sentences, self.short = counts

    def add_runs(self, data: bytes, sizes: Iterable[int]) -> None:
        """Add runs to look for, as ``runs`` and ``sizes`` returned them."""
        self._added.append(np.frombuffer(data, _STORED).astype(np.uint64))
        self._sizes.update(sizes)

    def drop(self, texts: Sequence[str]) -> None:
        """Stop looking for runs that occur in these texts."""
        self._merge_added()
        for places, _ in self._find_hits(_hash_texts(texts)[0]):
            self._wanted[places] = False

    def find(self, texts: Sequence[str]) -> list[int]:
        """Return the indexes of the texts that contain a run, ascending."""
        self._merge_added()
        hashes, ends = _hash_texts(texts)
        held: set[int] = set()
        for places, positions in self._find_hits(hashes):
            wanted = positions[self._wanted[places]]
            held.update(np.searchsorted(ends, wanted, side="right").tolist())
        return sorted(held)

    @property
    def phrases(self) -> list[str]:
        """Stretches of the texts that are still looked for, at most twice ``MOST_PHRASES``."""
        self._merge_added()
        keys = np.fromiter(self._phrases, np.uint64, len(self._phrases))
        if not len(keys) or not len(self._runs):
            return []
        wanted = self._wanted[np.searchsorted(self._runs, keys)]
        return [text for text, one in zip(self._phrases.values(), wanted, strict=True) if one]

    @property
    def runs(self) -> bytes:
        """The numbers of the runs that are still looked for, eight bytes each."""
        self._merge_added()
        return self._runs[self._wanted].astype(_STORED).tobytes()

    @property
    def sizes(self) -> list[int]:
        """The sizes of the runs in words, ascending."""
        return sorted(self._sizes)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        self._merge_added()
        return not self._wanted.any()

    def _add_sentence(self, text: str, matches: Sequence[re.Match[str]]) -> None:
        """Add the runs of a sentence, and keep the text of its first run as a phrase."""
        if not matches:
            return
        words = [match[0].casefold() for match in matches]
        size = min(len(words), RUN)
        if size < SHORTEST:
            self.short += 1
            return
        meaningful = np.array([word not in STOP_WORDS for word in words])
        counts = np.convolve(meaningful, np.ones(size, np.int64), "valid")
        enough = np.flatnonzero(counts >= TELLING.get(size, TELLING_SHORT))
        if not len(enough):
            self.short += 1
            return
        self.sentences += 1
        self._sizes.add(size)
        runs = _hash_runs(_hash_words(words), size)[enough]
        self._added.append(runs)
        first = int(enough[0])
        begin, end = matches[first].start(), matches[first + size - 1].end()
        self._phrases[int(runs[0])] = text[begin:end]
        if len(self._phrases) > 2 * MOST_PHRASES:
            self._phrases = {
                key: self._phrases[key] for key in sorted(self._phrases)[:MOST_PHRASES]
            }

    def _merge_added(self) -> None:
        if self._added:
            wanted = self._runs[self._wanted]
            self._runs = np.unique(np.concatenate([wanted, *self._added]))
            self._wanted = np.ones(len(self._runs), np.bool_)
            self._added = []

    def _find_hits(self, hashes: Runs) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the indexes of runs that occur, and the positions of the words that begin them."""
        for size in sorted(self._sizes):
            if len(hashes) >= size and len(self._runs):
                runs = _hash_runs(hashes, size)
                places = np.minimum(np.searchsorted(self._runs, runs), len(self._runs) - 1)
                positions = np.flatnonzero(self._runs[places] == runs)
                yield places[positions], positions


def _hash_texts(texts: Sequence[str]) -> tuple[Runs, NDArray[np.int64]]:
    """Return the hashes ``(n,)`` of the words of texts, and the end of each text in them."""
    words: list[str] = []
    ends: list[int] = []
    for text in texts:
        words += map(str.casefold, _WORD.findall(_unescape(text)))
        words.append(_APART)
        ends.append(len(words))
    return _hash_words(words), np.array(ends, np.int64)


def _unescape(text: str) -> str:
    """Return a text without escapes of JSON, so that it is the same inside and outside of JSON.

    Text that only looks like an escape is replaced in both places, so the two still agree.
    """
    return _ESCAPE.sub(_replace_escape, text) if "\\" in text else text


def _replace_escape(escape: re.Match[str]) -> str:
    """Return the character of an escape; a backslash of the text before it becomes a blank.

    JSON doubles backslashes, so an escape begins with 1, 2, 4, ... backslashes. With any other
    number, one of them belongs to the text, and still divides two words.
    """
    high, low, code = escape.group(2, 3, 4)
    if not high and not code:
        return " "
    data = bytes.fromhex(high + low if high else code)
    character = data.decode("utf-16-be", "replace")
    return character if (1 + len(escape[1])).bit_count() == 1 else f" {character}"


def _hash_words(words: Sequence[str]) -> Runs:
    return np.fromiter(map(_word_hash, words), np.int64, len(words)).view(np.uint64)


def _hash_runs(hashes: Runs, size: int) -> Runs:
    """Return a number for each ``size`` hashes in a row, ``(n - size + 1,)`` for ``(n,)``."""
    total = np.full(len(hashes) - size + 1, size, np.uint64)
    for place in range(size):
        total *= _FACTOR
        total += hashes[place : place + len(total)]
        total ^= total >> _SHIFT
    return total
