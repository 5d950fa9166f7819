"""Finds the stored value that a misspelled value means, if one is clearly the nearest.

Values are compared in steps, and the first step that has a match decides: case, accents, signs and
spaces, order of words and articles, a few wrong letters, and words that are missing or extra. If
several values match equally well, none is chosen. Numbers, Roman numerals, and single letters never
change, because they tell values apart: Rocky II is not Rocky III.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.text.accents import strip_accents
from pgs_neo4j.text.similar_names import edit_distance

LONGEST_VALUE = 200
"""Characters of a value that can be meant; longer ones are texts and not names."""

# From how many letters on one and two letters may be wrong.
ONE_WRONG, TWO_WRONG = 4, 9
# Words of so many letters are told apart by their ends: Iran is not Iraq.
SHORT_WORD = 5
# Share of the letters that remain if words are missing or extra; a single word says less.
LEAST_COVERED, LEAST_COVERED_BY_WORD = 2 / 3, 3 / 4
SINGLE_LETTERS = 4  # words up to which a single letter tells values apart: Vitamin C, Plan B
_ARTICLES = frozenset(("the", "a", "an"))
# Hash and plus count as letters: C, C#, and C++ are three names.
_WORD = re.compile(r"[\w#+]+")
_DROPPED = re.compile("['\u2018\u2019\u02bc`.]")
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"(?=.)x{0,3}(?:ix|iv|v?i{0,3})")
_UNDECOMPOSED = str.maketrans({
    "\u00f8": "o", "\u00e6": "ae", "\u0153": "oe", "\u0142": "l", "\u0111": "d", "\u0131": "i",
})  # fmt: skip
_PREFIXES = frozenset(("un", "in", "im", "ir", "il", "non", "dis", "de", "re"))
LEAST_PARTS = 0.6  # share of the parts that a value must have, since words may be extra
_PART = 3  # letters of a part of a word that a filter looks for


@dataclass(frozen=True, slots=True)
class ValueFilter:
    """What values have in common that may be meant by a written one.

    They have from ``shortest`` to ``longest`` characters, and contain at least ``least`` of the
    ``parts`` in lower case.
    """

    shortest: int
    longest: int
    parts: tuple[str, ...]
    least: int


@dataclass(frozen=True, slots=True)
class _Form:
    """A value as it is compared: its words in lower case, without accents and signs."""

    lower: str
    plain: str
    words: tuple[str, ...]
    joined: str
    content: tuple[str, ...]
    """The words without articles, sorted."""
    fixed: tuple[str, ...]
    """The numbers, Roman numerals, and single letters, sorted."""
    letters: frozenset[str]


def find_nearest(written: str, stored: Iterable[str], *, exactly: bool = False) -> str | None:
    """Return the stored value that a written one means, or None if none is clearly the nearest.

    With ``exactly``, the letters must be the same, but for case, accents, signs, and spaces.
    """
    if not written.strip() or len(written) > LONGEST_VALUE:
        return None
    form = _make_form(written)
    best: tuple[int, int] | None = None
    found: set[str] = set()
    for value in stored:
        if len(value) > LONGEST_VALUE:
            continue
        cost = _compare(form, _make_form(value), exactly)
        if cost is None or (best is not None and cost > best):
            continue
        if cost != best:
            best, found = cost, set()
        found.add(value)
    return found.pop() if len(found) == 1 else None


def make_filter(written: str) -> ValueFilter:
    """Return what the values that ``find_nearest`` may choose have in common.

    A value with one wrong letter always passes. A value is left out only if two letters are wrong
    and each of them stands between two parts, or if many accents are not written.
    """
    lower = written.lower()
    found = (
        word[at : at + _PART] for word in _WORD.findall(lower) for at in range(0, len(word), _PART)
    )
    parts = tuple(dict.fromkeys(part for part in found if len(part) > 1))
    # One wrong letter, or two swapped ones, change at most two neighboring parts.
    least = min(len(parts) - 2, int(len(parts) * LEAST_PARTS))
    length = len(written)
    return ValueFilter(
        shortest=max(min(length - 3, int(length * LEAST_COVERED) - 1), 1),
        longest=min(max(length + 8, int(length / LEAST_COVERED) + 8), LONGEST_VALUE),
        parts=parts if least > 0 else (),
        least=max(least, 0),
    )


def _compare(written: _Form, stored: _Form, exactly: bool) -> tuple[int, int] | None:
    """Return the step that matches and how many letters differ in it; None without a match."""
    if written.lower == stored.lower:
        return 0, 0
    if written.plain == stored.plain:
        return 1, 0
    if not written.joined or not stored.joined:
        return None
    if written.joined == stored.joined:
        return 2, 0
    if exactly:
        return None
    if written.content and written.content == stored.content:
        return 3, abs(len(written.words) - len(stored.words))
    if written.fixed != stored.fixed:
        return None
    distance = _count_wrong_letters(written, stored)
    if distance is not None:
        return 4, distance
    return _compare_coverage(written, stored)


def _count_wrong_letters(written: _Form, stored: _Form) -> int | None:
    """Return how many letters are wrong; None if they are too many for a misspelling."""
    one, other = written.joined, stored.joined
    limit = _count_allowed(one, other)
    if not limit:
        return None
    # Most values are told apart by their letters alone, which is much faster.
    if len(written.letters - stored.letters) > limit:
        return None
    distance = edit_distance(one, other, limit)
    if distance > limit:
        one, other = "".join(written.content), "".join(stored.content)
        if not one or not other:
            return None
        limit = _count_allowed(one, other)
        distance = edit_distance(one, other, limit)
        if distance > limit:
            return None
    if _is_opposite(written.words, stored.words):
        return None
    if max(len(one), len(other)) > SHORT_WORD or sorted(one) == sorted(other):
        return distance
    # Many short words differ in one letter, so their ends and their signs must be the same.
    is_same = one[0] == other[0] and one[-1] == other[-1]
    return distance if is_same and edit_distance(written.plain, stored.plain, 1) <= 1 else None


def _compare_coverage(written: _Form, stored: _Form) -> tuple[int, int] | None:
    """Match values if one has all words of the other, and few more."""
    words, others = Counter(written.content), Counter(stored.content)
    if not words or not others or not (words <= others or others <= words):
        return None
    lengths = sorted((len("".join(written.content)), len("".join(stored.content))))
    fewest = min(words.total(), others.total())
    least = LEAST_COVERED if fewest > 1 else LEAST_COVERED_BY_WORD
    return (5, lengths[1] - lengths[0]) if lengths[0] >= least * lengths[1] else None


def _is_opposite(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether a prefix makes the difference, as between directed and undirected."""
    only, only_others = set(words) - set(others), set(others) - set(words)
    if len(only) != 1 or len(only_others) != 1:
        return False
    short, long = sorted((only.pop(), only_others.pop()), key=len)
    return long.endswith(short) and long.removesuffix(short) in _PREFIXES


def _count_allowed(one: str, other: str) -> int:
    """Return how many letters may be wrong, by the letters of the value that has fewer."""
    letters = min(sum(not sign.isdigit() for sign in value) for value in (one, other))
    return (letters >= ONE_WRONG) + (letters >= TWO_WRONG)


def _make_form(value: str) -> _Form:
    lower = value.lower()
    plain = lower if value.isascii() else _strip_accents(lower)
    words = tuple(_WORD.findall(_DROPPED.sub("", plain).replace("_", " ")))
    fixed = [number for word in words for number in _NUMBER.findall(word)]
    for word in words:
        if len(word) == 1:
            is_fixed = len(words) <= SINGLE_LETTERS and word not in _ARTICLES
        else:
            is_fixed = _ROMAN.fullmatch(word) is not None
        if is_fixed:
            fixed.append(word)
    return _Form(
        lower=lower,
        plain=plain,
        words=words,
        joined="".join(words),
        content=tuple(sorted(word for word in words if word not in _ARTICLES)),
        fixed=tuple(sorted(fixed)),
        letters=frozenset("".join(words)),
    )


def _strip_accents(text: str) -> str:
    return strip_accents(text.casefold()).translate(_UNDECOMPOSED)
