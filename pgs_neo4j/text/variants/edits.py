"""Tells typing errors from words that differ by a letter (Johnson and Johnston)."""

from __future__ import annotations

from itertools import pairwise

LEAST_LETTERS = 5
"""Of a word in which one letter may be wrong."""
SWAPPED_LETTERS, DOUBLED_LETTERS, LONG_LETTERS = 8, 7, 11
"""Least letters for two that are swapped, one that is doubled, and one that is left out."""
PERSON_SWAPPED, PERSON_DOUBLED = 5, 9
"""The same in names of persons: Paterson is not Patterson."""
KEPT_START, KEPT_END = 1, 2
"""Letters that are right: the first, and the last two, which tell Julian and Juliana apart."""

_VOWELS = frozenset("AEIOUY")
_PAIRS = """
ABCDEFGHIJKLMNPRSTUVWXYZ BABDEIJLMORSTUY CACEHIKLNOQRSTUYZ DADEGHIJLMNORSTUVWY
EABCDEFGHIJKLMNOPQRSTUVWXYZ FAEFILORSTUY GADEGHILMNORSTUWY HABEILMNORSTUWY IABCDEFGKLMNOPQRSTUVXZ
JAEIOU KABEHIKLMNORSTUVWY LABCDEFGHIKLMNOPRSTUVWYZ MABEFILMNOPRSTUY NABCDEFGHIJKLMNOPQRSTUVWYZ
OABCDEFGHIJKLMNOPRSTUVWXYZ PAEFHIKLMNOPRSTUWY QU RABCDEFGHIKLMNOPRSTUVWYZ SABCDEFHIKLMNOPQRSTUVWYZ
TABCEFGHILMNORSTUVWYZ UABCDEFGHIJKLMNPRSTVXYZ VAEIKLORSUY WABDEFHIKLMNORSTY XACEHIOPTUY
YABCDEGHIKLMNOPRSTUVWZ ZABEIKLMOTUWYZ
"""
_AFTER = {line[0]: frozenset(line[1:]) for line in _PAIRS.split()}
"""For each letter, those that follow it in some name."""


def is_typing_error(one: str, other: str, *, person: bool) -> bool:
    """Whether one of two words is most likely the other one with a typing error.

    They differ by one letter, or by two that are swapped, behind the first and before the last two.
    Where both could be words, that is not enough.
    """
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1 or len(short) < LEAST_LETTERS or short == long:
        return False
    if not (short.isalpha() and long.isalpha() and short.isascii() and long.isascii()):
        return False
    first = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), 0)
    if first < KEPT_START or short[-KEPT_END:] != long[-KEPT_END:]:
        return False
    if len(short) < len(long):
        return short[first:] == long[first + 1 :] and _is_left_out(short, long, first, person)
    if short[first + 1 :] == long[first + 1 :]:
        return _is_replaced(short, long, first)
    if short[first + 2 :] == long[first + 2 :] and short[first : first + 2] == (
        long[first + 1] + long[first]
    ):
        return len(short) >= (PERSON_SWAPPED if person else SWAPPED_LETTERS)
    return False


def _is_left_out(short: str, long: str, place: int, person: bool) -> bool:
    """Whether a letter that the longer word has is an error of either."""
    if long[place] == long[place - 1]:
        return len(short) >= (PERSON_DOUBLED if person else DOUBLED_LETTERS)
    return len(short) >= LONG_LETTERS or _odd(short) != _odd(long)


def _is_replaced(one: str, other: str, place: int) -> bool:
    """Whether another letter at one place is an error, or British."""
    letters = {one[place], other[place]}
    if letters <= _VOWELS:
        return False
    if letters == {"S", "Z"} and one[place - 1] in _VOWELS and one[place + 1] in _VOWELS:
        return len(one) >= SWAPPED_LETTERS
    return _odd(one) != _odd(other)


def _odd(word: str) -> bool:
    """Whether two letters follow each other as in no name, or three are one."""
    return any(b not in _AFTER.get(a, ()) for a, b in pairwise(word)) or any(
        word[at] == word[at - 1] == word[at - 2] for at in range(2, len(word))
    )
