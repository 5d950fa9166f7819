"""Compares the names of labels, types, and properties, and counts the letters that differ."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from pgs_neo4j.text.property_names import split_words

# Words that say little: HAS_CEO and HAS_CATEGORY are not alike.
_LIGHT_WORDS = """
a an and as at by for from has have id in is no nr nbr number of on the to was with
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
_LIGHT_WEIGHT = 0.2
_MOST_UNEQUAL = 0.95  # names that differ in light words are not equal
_LEAST_PREFIX = 4  # letters that two forms of one word share, such as author and authored
_LEAST_RATIO = 0.7  # share of equal letters, below which two words are different words


@lru_cache(maxsize=65536)
def split_name(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name: ``HAS_CEO2`` has ``has``, ``ceo``, and ``2``."""
    return split_words(name, numbers=True)


@lru_cache(maxsize=65536)
def compare_names(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1; 1 if they differ in case and signs at most.

    The greatest of three measures counts: equal letters of the whole names, shared groups of three
    letters, and words that are alike. Words such as "has" and "of" hardly count.
    """
    words, others = split_name(one), split_name(other)
    if not words or not others:
        return 0.0
    if "".join(words) == "".join(others):
        return 1.0
    joined, joined_other = _join_heavy(words), _join_heavy(others)
    similar = max(
        _compare_letters(joined, joined_other),
        _compare_trigrams(joined, joined_other),
        _compare_words(words, others),
    )
    return min(similar, _MOST_UNEQUAL)


def edit_distance(one: str, other: str, limit: int) -> int:
    """Return how many letters must change, or ``limit + 1`` if they are more than ``limit``.

    A change is a letter more, less, or other, or two neighbors that are swapped.
    """
    if one == other:
        return 0
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    # The row before the previous one is needed for swapped letters.
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row] + [0] * len(other)
        for column, sign in enumerate(other, start=1):
            least = min(
                previous[column] + 1,
                current[column - 1] + 1,
                previous[column - 1] + (letter != sign),
            )
            swapped = (
                row > 1 and column > 1 and letter == other[column - 2] and sign == one[row - 2]
            )
            current[column] = min(least, before[column - 2] + 1) if swapped else least
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)


def _join_heavy(words: tuple[str, ...]) -> str:
    """Return the words without light ones as one word; all words if they are all light."""
    return "".join(word for word in words if word not in _LIGHT) or "".join(words)


def _compare_letters(one: str, other: str) -> float:
    longest = max(len(one), len(other))
    return 1 - edit_distance(one, other, longest) / longest


def _compare_trigrams(one: str, other: str) -> float:
    groups, others = _trigrams(one), _trigrams(other)
    shared = sum((groups & others).values())
    return 2 * shared / (groups.total() + others.total())


def _trigrams(word: str) -> Counter[str]:
    padded = f"  {word} "
    return Counter(padded[at : at + 3] for at in range(len(padded) - 2))


def _compare_words(words: tuple[str, ...], others: tuple[str, ...]) -> float:
    shared = total = 0.0
    for mine, theirs in ((words, others), (others, words)):
        for word in mine:
            weight = _LIGHT_WEIGHT if word in _LIGHT else 1.0
            total += weight
            shared += weight * max(_compare_word(word, other) for other in theirs)
    return shared / total


def _compare_word(one: str, other: str) -> float:
    """Return how alike two words are: 0 unless they are forms or misspellings of one word."""
    if one == other:
        return 1.0
    prefix = 0
    for letter, sign in zip(one, other, strict=False):
        if letter != sign:
            break
        prefix += 1
    beginning = 2 * prefix / (len(one) + len(other)) if prefix >= _LEAST_PREFIX else 0.0
    letters = _compare_letters(one, other)
    return max(beginning, letters if letters >= _LEAST_RATIO else 0.0)
