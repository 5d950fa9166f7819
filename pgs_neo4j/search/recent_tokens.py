"""Keeps the words of the texts that were read last, so that they are split and stemmed once.

Questions about a subject meet the same texts again and again. What is kept of a text are hashes, of
the text and of its words, so no text outlives its deletion here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.terms.spans import HashArray
from pgs_neo4j.text.terms.text_tokens import Tokens, read_tokens

MOST_KEPT = 1 << 20
"""Words of the texts that are kept: some 25 MB, and about 10,000 abstracts."""
PER_TEXT = 40
"""Words that take as much memory as what a text takes beside its words."""

TokensOfText = tuple[HashArray, HashArray, NDArray[np.bool_], NDArray[np.bool_]]
"""Families, terms, ``common``, and ``in_row`` of a single text, ``(t,)`` each."""


class RecentTokens:
    """The words of the texts that were read last, ``most`` words in all. Threads may share it."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._size = 0
        self._lock = Lock()
        self._known: OrderedDict[bytes, TokensOfText] = OrderedDict()

    @property
    def size(self) -> int:
        """Number of words that are kept, with ``PER_TEXT`` more for each text."""
        return self._size

    def read(self, texts: Sequence[str]) -> Tokens:
        """Return the words of texts, as :func:`read_tokens` does."""
        keys = [_key_of(text) for text in texts]
        found = self._find(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = _by_text(read_tokens([*missing.values()]), len(missing))
            read = dict(zip(missing, fresh, strict=True))
            self._keep(read)
            found |= read
        return _joined([found[key] for key in keys])

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, TokensOfText]:
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def _keep(self, read: dict[bytes, TokensOfText]) -> None:
        with self._lock:
            for key, tokens in read.items():
                if key not in self._known:  # another thread may have read it at the same time
                    self._known[key] = tokens
                    self._size += _size_of(tokens)
            while self._size > self._most:
                self._size -= _size_of(self._known.popitem(last=False)[1])


def _key_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _size_of(tokens: TokensOfText) -> int:
    return PER_TEXT + len(tokens[0])


def _by_text(tokens: Tokens, count: int) -> Iterator[TokensOfText]:
    """Yield the words of each of ``count`` texts, in arrays of their own."""
    edges = np.searchsorted(tokens.texts, np.arange(count + 1)).tolist()
    for start, end in pairwise(edges):
        part = slice(start, end)
        yield (
            tokens.families[part].copy(),
            tokens.terms[part].copy(),
            tokens.common[part].copy(),
            tokens.in_row[part].copy(),
        )


def _joined(texts: Sequence[TokensOfText]) -> Tokens:
    if not texts:
        return read_tokens([])
    families, terms, common, in_row = map(np.concatenate, zip(*texts, strict=True))
    lengths = [len(of_text[0]) for of_text in texts]
    return Tokens(families, terms, np.repeat(np.arange(len(texts)), lengths), common, in_row)


RECENT_TOKENS = RecentTokens()
"""Those of this process."""
