"""Scores the candidates of a search again, by their titles and texts.

An index shows which texts contain the stems of a question, but not where. So the texts of the best
candidates are read, and each is scored by BM25 (Robertson and Zaragoza 2009) again. Only a text
shows more forms of a word ("organize", "organization"), common words that no index contains
("high", "use"), words of the title, and words side by side as in the question.

Other words in the best candidates lead to texts that use different words for the same thing
(Rocchio 1971; as a model of relevance, Lavrenko and Croft 2001). These related words only add to
the scores of candidates. They add less if the best text contains more of the question, because a
question that equals a title has already found its text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.normal_form import normal_form, with_joined_words
from pgs_neo4j.text.ranking import rarity
from pgs_neo4j.text.terms.postings import K1, B
from pgs_neo4j.text.terms.spans import (
    LONGEST_WORD,
    TEXT_BITS,
    HashArray,
    IntArray,
    SplitTexts,
    WordSpans,
    family_ends,
    hash_word_set,
    hash_words,
    split_words,
    stem_ends,
)
from pgs_neo4j.text.words import GRAMMATICAL_WORDS, STOP_WORDS

FloatArray = NDArray[np.float64]
TITLE_SHARE = 0.3
"""Weight of the title as a separate field; the whole text weighs 1. A sum of fields with a weight
below 1 for the short field is customary (Robertson, Zaragoza, and Taylor 2004)."""

PAIR_SHARE = 0.2
"""Weight of two words side by side; each single word weighs 1. In the sequential dependence model,
pairs have 0.1 to 0.3 of the whole weight (Metzler and Croft 2005)."""

BEST_TEXTS, RELATED_WORDS = 10, 20
"""Number of texts that related words are taken from, and number of related words: customary values
(Abdul-Jaleel and others 2004)."""

BEST_PART = 10
"""With few candidates, only one in this many counts as a best text, since the other candidates must
show which words are typical of the best."""

RELATED_SHARE = 0.6
"""Weight of the related words; the words of the question that the best text lacks weigh 1. Any
value from 0.4 to 1 works about equally well."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may answer a question.

    ``least`` is its lowest possible score. For example, if ``text`` is cut, ``least`` is the score
    of the words that were cut off.
    """

    title: str
    text: str
    least: float = 0.0

    @property
    def whole(self) -> str:
        """Title and text; the text alone if it contains the title."""
        return self.text if self.title in self.text else f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Words of texts, in reading order; all arrays are ``(m,)``.

    A word has a family, an exact term, and the number of its text. ``common`` marks words that name
    no subject. ``in_row`` marks words that the next word follows directly. Words without a meaning
    of their own, such as "the", are left out.
    """

    families: HashArray
    terms: HashArray
    texts: IntArray
    common: NDArray[np.bool_]
    in_row: NDArray[np.bool_]


ReadTokens = Callable[[Sequence[str]], Tokens]


def read_tokens(texts: Sequence[str]) -> Tokens:
    """Split texts into tokens, text by text, in reading order."""
    split = split_words([with_joined_words(normal_form(text)) for text in texts], apart=True)
    words = split.words
    words = words.at((words.lengths >= 2) & (words.lengths <= LONGEST_WORD))
    # Everything that depends on the word alone is computed once for each distinct word.
    hashes, first, numbers = np.unique(hash_words(words), return_index=True, return_inverse=True)
    meaningful = ~np.isin(hashes, hash_word_set(GRAMMATICAL_WORDS))[numbers]
    each = words.at(first)
    words, numbers = words.at(meaningful), numbers[meaningful]
    stems = stem_ends(each)
    terms = each.hasher.hash(each.starts, stems)[numbers]
    families = each.hasher.hash(each.starts, family_ends(each, stems))[numbers]
    common = np.isin(hashes, hash_word_set(STOP_WORDS))[numbers]
    others = _find_undivided(split)
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


def _find_undivided(split: SplitTexts) -> WordSpans:
    """Return whole identifiers, and letters of scripts without spaces, which are not words."""
    return split.wholes.at(split.wholes.lengths <= LONGEST_WORD).and_more(split.signs)


def rescore(
    question: str,
    candidates: Sequence[Candidate],
    holders: Mapping[int, int],
    size: int,
    *,
    related: bool = True,
    read: ReadTokens = read_tokens,
) -> list[float]:
    """Return the scores of candidates, in their order.

    A candidate without a word of the question scores its ``least``. ``holders`` is how many of the
    ``size`` texts contain each term of the question (:func:`postings.terms_of`). Common words,
    which no index contains, are counted in the candidates. They only add to the scores of texts
    with other words of the question. A word counts as often as the question repeats it. With
    ``related``, related words of the best texts add to the scores. ``read`` splits texts into
    words.
    """
    question_tokens = read_tokens([question])
    if not candidates or question_tokens.common.all():
        return [one.least for one in candidates]
    bodies = read([one.whole for one in candidates])
    titles = read([one.title for one in candidates])
    families, numbers, times = np.unique(
        question_tokens.families, return_inverse=True, return_counts=True
    )
    in_text = _count_wanted(bodies.families, bodies.texts, families, len(candidates))
    in_title = _count_wanted(titles.families, titles.texts, families, len(candidates))
    common = np.zeros(len(families), np.bool_)
    common[numbers] = question_tokens.common
    held = _count_holders(question_tokens, bodies, in_text, holders, families, size)
    weights = np.array([rarity(size, count) for count in held.tolist()])

    text_scale = _measure_lengths(bodies, len(candidates))
    question_weights = weights * times
    scores = _saturate(in_text, text_scale[:, None]) @ question_weights
    title_scale = _measure_lengths(titles, len(candidates))
    scores += TITLE_SHARE * (_saturate(in_title, title_scale[:, None]) @ question_weights)
    scores += PAIR_SHARE * _score_pairs(question_tokens, bodies, families, weights, len(candidates))
    scores[~in_text[:, ~common].any(axis=1)] = 0.0
    scores = np.maximum(scores, np.array([one.least for one in candidates]))
    if related:
        held_by_best = (in_text[scores.argmax()] > 0) @ question_weights / question_weights.sum()
        gains = _score_related(bodies, families, text_scale, scores)
        scores += RELATED_SHARE * (1 - held_by_best) * gains
    found: list[float] = scores.tolist()
    return found


def _score_related(
    bodies: Tokens, families: HashArray, lengths: FloatArray, scores: FloatArray
) -> FloatArray:
    """Return the gains ``(c,)`` of candidates by words related to the question.

    The largest gain equals the best score. ``families`` are the question's words. ``scores`` are
    the candidates' scores by these words, and ``lengths`` the candidates' lengths, both ``(c,)``. A
    related word occurs in at least two of the best texts. It counts by its weight in them and its
    rarity among the candidates. Candidates without a score gain nothing.
    """
    count = len(scores)
    best = np.argsort(-scores, kind="stable")[: min(BEST_TEXTS, count // BEST_PART)]
    best = best[scores[best] > 0]
    if len(best) < 2:
        return np.zeros(count)
    meaningful = ~bodies.common
    held, texts = bodies.families[meaningful], bodies.texts[meaningful]
    words = np.setdiff1d(held[np.isin(texts, best)], families)
    if not len(words):
        return np.zeros(count)
    counts = _count_wanted(held, texts, words, count)
    rare = np.array([rarity(count, of) for of in np.count_nonzero(counts, axis=0).tolist()])
    in_texts = _saturate(counts, lengths[:, None])
    trust = (scores[best] / scores.max()) ** 2
    weights = trust @ in_texts[best] * rare
    weights[np.count_nonzero(counts[best], axis=0) < 2] = 0.0
    chosen = np.argsort(-weights, kind="stable")[:RELATED_WORDS]
    gains: FloatArray = in_texts[:, chosen] @ (weights[chosen] * rare[chosen])
    gains[scores <= 0] = 0.0
    most = gains.max()
    return gains * (scores.max() / most) if most > 0 else gains


def _count_holders(
    question_tokens: Tokens,
    bodies: Tokens,
    seen: FloatArray,
    holders: Mapping[int, int],
    families: HashArray,
    size: int,
) -> FloatArray:
    """Estimate for each word family, ``(f,)``, how many of the ``size`` texts contain it.

    Each count is at least 1. The index only counts exact stems. So the ratio of a family's count to
    its stem's count is taken from the candidates. ``seen`` ``(c, f)`` is how often the candidates
    contain each family. The share of all texts with a common word is assumed to be its share of the
    candidates.
    """
    count = len(seen)
    terms, first = np.unique(question_tokens.terms, return_index=True)
    exact = np.count_nonzero(_count_wanted(bodies.terms, bodies.texts, terms, count), axis=0)
    of_family = np.count_nonzero(seen, axis=0)
    held = np.ones(len(families))
    for term, at, found in zip(terms.tolist(), first.tolist(), exact.tolist(), strict=True):
        family = int(np.searchsorted(families, question_tokens.families[at]))
        known = of_family[family] / count * size
        if not question_tokens.common[at]:
            known = holders.get(term, 0) * max(of_family[family], 1) / max(found, 1)
        held[family] = max(held[family], known)
    limited: FloatArray = np.minimum(held, size)
    return limited


def _score_pairs(
    question_tokens: Tokens, bodies: Tokens, families: HashArray, weights: FloatArray, count: int
) -> FloatArray:
    """Return the scores ``(count,)`` that texts get for pairs of words from the question."""
    wanted = Counter(_number_pairs(question_tokens, families).tolist())
    scores = np.zeros(count)
    if not wanted:
        return scores
    found = _number_pairs(bodies, families)
    texts = bodies.texts[:-1][found >= 0]
    found = found[found >= 0]
    for pair, times in wanted.items():
        first, second = divmod(pair, len(families))
        if pair >= 0 and first != second:
            counts = np.bincount(texts[found == pair], minlength=count)
            scores += times * (weights[first] + weights[second]) * counts / (counts + K1)
    return scores


def _number_pairs(tokens: Tokens, families: HashArray) -> IntArray:
    """Return a number for each token and the next, ``(m - 1,)``; -1 unless both are in families."""
    numbers = np.searchsorted(families, tokens.families)
    known = families[np.minimum(numbers, len(families) - 1)] == tokens.families
    both = known[:-1] & known[1:] & tokens.in_row[:-1]
    paired: IntArray = np.where(both, numbers[:-1] * len(families) + numbers[1:], -1)
    return paired


def _saturate(counts: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the weights of BM25 without rarity; ``lengths`` are relative to the mean."""
    weights: FloatArray = counts / (counts + K1 * (1 - B + B * lengths))
    return weights


def _count_wanted(held: HashArray, texts: IntArray, wanted: HashArray, count: int) -> FloatArray:
    """Return how often each text contains each ``wanted`` hash, ``(count, w)``.

    ``wanted`` ``(w,)`` ascends.
    """
    numbers = np.minimum(np.searchsorted(wanted, held), len(wanted) - 1)
    known = wanted[numbers] == held
    places = texts[known] * len(wanted) + numbers[known]
    counts = np.bincount(places, minlength=count * len(wanted))
    return counts.reshape(count, len(wanted)).astype(np.float64)


def _measure_lengths(tokens: Tokens, count: int) -> FloatArray:
    """Return the lengths of texts in words, relative to the mean, ``(count,)``."""
    lengths = np.bincount(tokens.texts, minlength=count).astype(np.float64)
    mean = lengths.mean() if len(lengths) else 0.0
    return lengths / mean if mean else np.ones(count)
