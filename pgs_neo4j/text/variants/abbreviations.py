"""Decides whether letters abbreviate the words of a name that a text puts beside them."""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST, LONGEST = 2, 10
"""Characters of an abbreviation."""
MOST_WORDS = 12

MINOR_WORDS = frozenset(
    (
        "OF",
        "THE",
        "AND",
        "FOR",
        "IN",
        "ON",
        "AT",
        "TO",
        "A",
        "AN",
        "BY",
        "WITH",
        "DE",
        "DU",
        "DES",
        "LA",
        "LE",
        "Y",
    )
)
"""Words that acronyms often leave out."""


def looks_abbreviated(spelling: str) -> bool:
    """Whether a text is one word with two capitals or more, as WHO, IoT, and U.N. are."""
    return (
        SHORTEST <= len(spelling) <= LONGEST
        and spelling[0].isalnum()
        and " " not in spelling
        and sum(map(str.isupper, spelling)) >= SHORTEST
    )


def without_plural(short: str) -> str:
    """Return an abbreviation without the small s of its plural: CNNs is CNN."""
    return short[:-1] if short.endswith("s") and short[:-1].isupper() else short


def abbreviates(short: str, words: Sequence[str]) -> bool:
    """Whether ``short`` abbreviates words; both are in capitals.

    Each word gives its first letter, and may give others in their order (deoxyribonucleic acid,
    DNA). Only minor words may give none.
    """
    letters = "".join(filter(str.isalnum, short))
    if not SHORTEST <= len(letters) <= LONGEST or len(words) > MOST_WORDS:
        return False
    return letters != "".join(words) and _fits(letters, words)


def _fits(letters: str, words: Sequence[str]) -> bool:
    if not words:
        return not letters
    word, rest = words[0], words[1:]
    if word in MINOR_WORDS and _fits(letters, rest):
        return True
    if not letters or not _begins(word, letters[0]):
        return False
    place = word.find(letters[0]) + 1
    for used in range(1, len(letters) + 1):
        if _fits(letters[used:], rest):
            return True
        if used == len(letters):
            break
        place = word.find(letters[used], place) + 1
        if not place:
            break
    return False


def _begins(word: str, letter: str) -> bool:
    """Whether a letter stands for the beginning of a word, as X does for extensible."""
    return word[0] == letter or (letter == "X" and word.startswith("EX"))
