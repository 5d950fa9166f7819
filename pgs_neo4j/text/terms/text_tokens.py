"""Reads the words of texts in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.normal_form import normal_form, with_joined_words
from pgs_neo4j.text.stopwords import GRAMMATICAL_WORDS
from pgs_neo4j.text.terms.postings import LONGEST_WORD
from pgs_neo4j.text.terms.spans import (
    TEXT_BITS,
    HashArray,
    IntArray,
    SplitTexts,
    WordSpans,
    hash_words,
    split_words,
)
from pgs_neo4j.text.terms.stems import family_ends, stem_ends
from pgs_neo4j.text.words import STOP_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Words of texts: families, exact terms, texts, and whether each is followed by the next.

    All are ``(m,)``. Words that only hold a sentence together are left out. ``common`` says which
    are of no subject.
    """

    families: HashArray
    terms: HashArray
    texts: IntArray
    common: NDArray[np.bool_]
    in_row: NDArray[np.bool_]


def read_tokens(texts: Sequence[str]) -> Tokens:
    """Return the words of texts, by text, in reading order."""
    split = split_words([with_joined_words(normal_form(text)) for text in texts], apart=True)
    words = split.words
    words = words.at((words.lengths >= 2) & (words.lengths <= LONGEST_WORD))
    # What follows from a word is computed once for each distinct one.
    hashes, first, numbers = np.unique(hash_words(words), return_index=True, return_inverse=True)
    telling = ~np.isin(hashes, _hashes_of(GRAMMATICAL_WORDS))[numbers]
    each = words.at(first)
    words, numbers = words.at(telling), numbers[telling]
    stems = stem_ends(each)
    terms = each.hasher.hash(each.starts, stems)[numbers]
    families = each.hasher.hash(each.starts, family_ends(each, stems))[numbers]
    common = np.isin(hashes, _hashes_of(STOP_WORDS))[numbers]
    others = _undivided(split)
    more = others.hasher.hash(others.starts, stem_ends(others))
    is_word = np.arange(len(words) + len(others)) < len(words)
    texts_of = np.concatenate([words.texts, others.texts])
    order = np.argsort(np.concatenate([words.starts, others.starts]), kind="stable")
    is_word, texts_of = is_word[order], texts_of[order]
    in_row = np.zeros(len(order), np.bool_)
    in_row[:-1] = is_word[:-1] & is_word[1:] & (texts_of[:-1] == texts_of[1:])
    return Tokens(
        families=np.concatenate([families, more])[order],
        terms=(np.concatenate([terms, more]) >> np.uint64(TEXT_BITS))[order],
        texts=texts_of,
        common=np.concatenate([common, np.zeros(len(others), np.bool_)])[order],
        in_row=in_row,
    )


def _undivided(split: SplitTexts) -> WordSpans:
    """Return whole identifiers, and letters of scripts without spaces, which are no words."""
    return split.wholes.at(split.wholes.lengths <= LONGEST_WORD).and_more(split.signs)


@cache
def _hashes_of(words: frozenset[str]) -> HashArray:
    return hash_words(split_words(sorted(words)).words)
