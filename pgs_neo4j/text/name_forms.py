"""Splits names into words, and finds the places where spellings join or divide these words.

It also recognizes abbreviations of names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

DROPPED = frozenset(".,'\u2018\u2019\u02bc`\"()[]:;!?\u2026")
"""Signs that a spelling may leave out."""

JOINERS = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212/\u00b7")
"""Signs that a spelling may leave out, or replace by a blank."""

_LEGAL_FORMS = """
INC INCORPORATED / CORP CORPORATION / LTD LIMITED / LLC / LLP / PLC / CO COMPANY / GMBH / AG / SA /
BV / NV / PTY
"""

LEGAL_FORMS = {form: line.split()[0] for line in _LEGAL_FORMS.split("/") for form in line.split()}
"""Forms of a company, each with its shortest spelling."""

TITLES = frozenset(("DR", "PROF", "PROFESSOR"))
"""Titles that may be left out. Mr and Mrs are not among them: they distinguish a couple."""

PERSONS = frozenset(
    ("PERSON", "PEOPLE", "HUMAN", "INDIVIDUAL", "AUTHOR", "RESEARCHER", "CHARACTER")
)
ORGANIZATIONS = frozenset(("ORGANIZATION", "ORG", "COMPANY", "CORPORATION", "BUSINESS"))
PLACES = frozenset(("LOCATION", "PLACE", "CITY", "COUNTRY", "REGION", "STATE"))
_INVERTED = re.compile(r"([^,]+),_*([^,]+)")
_DEFINED = re.compile(r"(?P<first>[^()]+?)_*\((?P<second>[^()]+)\)")
SHORTEST, LONGEST = 2, 10
"""Limits of an abbreviation, in characters."""

MOST_WORDS = 12
_MINOR = """
OF THE AND FOR IN ON AT TO A AN BY WITH DE DU DES LA LE Y
"""
MINOR_WORDS = frozenset(_MINOR.split())
"""Words that acronyms often leave out."""


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name without the signs that its spelling may leave out.

    ``words`` are divided at blanks and joiners. ``letters`` are all words joined. ``blanks`` are
    the places in ``letters`` of blanks, and ``joints`` the places of signs that another spelling
    may write as a blank or leave out.
    """

    words: tuple[str, ...]
    letters: str
    blanks: frozenset[int]
    joints: frozenset[int]
    plain: bool
    """Whether no letter had an accent or another mark."""

    def spells(self, other: NameForm) -> bool:
        """Return whether both have the same letters, and only differ in blanks at joints."""
        parted = self.blanks ^ other.blanks
        return self.letters == other.letters and parted <= self.joints | other.joints


@lru_cache(maxsize=8192)  # more names than a publication has
def name_form(key: str, kind: str) -> NameForm:
    """Return the form of a normalized name with the type ``kind``.

    "Last, First" is reordered for persons, and their titles are left out. "&" becomes "and". An
    abbreviation that the name itself defines is left out: World Health Organization (WHO).
    """
    defined = own_definition(key, kind)
    key = defined[0] if defined else key
    person = kind.upper() in PERSONS
    if person:
        inverted = _INVERTED.fullmatch(key)
        key = (f"{inverted[2]}_{inverted[1]}" if inverted else key).replace(".", "._")
    bare = _strip_marks(key)
    plain = bare == key
    parts = ["AND" if part == "&" else part for part in bare.split("_") if _strip_signs(part)]
    if person:
        while len(parts) > 2 and _strip_signs(parts[0]) in TITLES:
            parts = parts[1:]
    return _take_apart(parts, plain=plain)


def own_definition(key: str, kind: str) -> tuple[str, str] | None:
    """Return a name and its abbreviation if one of them follows the other in brackets."""
    both = _DEFINED.fullmatch(key)
    if both is None:
        return None
    pairs = ((both["first"], both["second"]), (both["second"], both["first"]))
    return next((pair for pair in pairs if is_abbreviation(pair[1], pair[0], kind)), None)


def is_abbreviation(short: str, key: str, kind: str) -> bool:
    """Return whether ``short`` abbreviates the name ``key``, with or without its legal form.

    Both are normalized. Letters of a single word never abbreviate a person or place, as in Florence
    (FL), and two letters never abbreviate a person.
    """
    form = name_form(key, kind)
    company = legal_form(form)[0] if kind.upper() in ORGANIZATIONS else form
    if len(company.words) < 2 and kind.upper() in PERSONS | PLACES:
        return False
    letters = _strip_marks(short)
    if "_" in short or (len(short) < 3 and kind.upper() in PERSONS):
        return False
    return any(abbreviates(letters, one.words) for one in (company, form))


def legal_form(form: NameForm) -> tuple[NameForm, str]:
    """Return a company's name without its legal form, and the form, empty if it has none."""
    words = form.words
    if len(words) < 2 or words[-1] not in LEGAL_FORMS:
        return form, ""
    legal = LEGAL_FORMS[words[-1]]
    count = 1
    if len(words) > 2 and legal == "LTD" and LEGAL_FORMS.get(words[-2]) in ("CO", "PTY"):
        count = 2
    return _take_apart([*words[:-count]], plain=form.plain), legal


def is_number(word: str) -> bool:
    """Return whether a word contains a digit; words with digits match only if they are equal."""
    return any(map(str.isdigit, word))


def _take_apart(parts: list[str], *, plain: bool) -> NameForm:
    """Return the form of a name from its words, which still have all their signs."""
    words: list[str] = []
    letters = ""
    blanks: set[int] = set()
    joints: set[int] = set()
    for part in parts:
        if letters:
            blanks.add(len(letters))
        word = ""
        for place, sign in enumerate(part):
            if (sign in DROPPED or sign in JOINERS) and not _begins_name(part, place):
                joints.add(len(letters))
                if sign in JOINERS and word:
                    words.append(word)
                    word = ""
                if _divides_numbers(part, place):
                    letters += "."
                    word += "." if sign in DROPPED else ""
                continue
            letters += sign
            word += sign
        words += [word] if word else []
    for place in range(1, len(letters)):
        if letters[place - 1].isdigit() != letters[place].isdigit():
            joints.add(place)
        elif letters[place].isdigit() and place in blanks:
            joints.discard(place)
    return NameForm(tuple(words), letters, frozenset(blanks), frozenset(joints), plain)


def _divides_numbers(part: str, place: int) -> bool:
    """Return whether a sign is between digits: 3.5 is not 35."""
    return 0 < place < len(part) - 1 and part[place - 1].isdigit() and part[place + 1].isdigit()


def _begins_name(part: str, place: int) -> bool:
    """Return whether a dot begins a word: .NET is not NET."""
    return place == 0 and part[0] == "." and part[1:2].isalnum()


def _strip_signs(part: str) -> str:
    """Return a word without the signs that a spelling may leave out."""
    kept = (sign for sign in part.replace("&", "AND") if sign not in DROPPED | JOINERS)
    return "".join(kept)


def _strip_marks(key: str) -> str:
    """Return a name without the marks of Latin letters; in other scripts, marks are significant."""
    if key.isascii():
        return key
    plain: list[str] = []
    for sign in key:
        parts = unicodedata.normalize("NFD", sign)
        latin = parts[0].isascii() and all(unicodedata.combining(mark) for mark in parts[1:])
        plain.append(parts[0] if latin else sign)
    return "".join(plain)


def looks_abbreviated(spelling: str) -> bool:
    """Return whether a text is one word with two or more capitals, such as WHO, IoT, and U.N."""
    return (
        SHORTEST <= len(spelling) <= LONGEST
        and spelling[0].isalnum()
        and " " not in spelling
        and sum(map(str.isupper, spelling)) >= SHORTEST
    )


def without_plural(short: str) -> str:
    """Return an abbreviation without the small s of its plural: CNNs becomes CNN."""
    return short[:-1] if short.endswith("s") and short[:-1].isupper() else short


def abbreviates(short: str, words: Sequence[str]) -> bool:
    """Return whether ``short`` abbreviates ``words``; both are in capitals.

    Each word contributes its first letter, and may contribute more letters in their order
    (deoxyribonucleic acid, DNA). Only minor words may contribute no letter.
    """
    letters = "".join(filter(str.isalnum, short))
    if not SHORTEST <= len(letters) <= LONGEST or len(words) > MOST_WORDS:
        return False
    return letters != "".join(words) and _letters_fit(letters, words)


def _letters_fit(letters: str, words: Sequence[str]) -> bool:
    """Return whether letters abbreviate words in capitals; minor words may be left out."""
    if not words:
        return not letters
    word, rest = words[0], words[1:]
    if word in MINOR_WORDS and _letters_fit(letters, rest):
        return True
    if not letters or not _begins(word, letters[0]):
        return False
    place = word.find(letters[0]) + 1
    for used in range(1, len(letters) + 1):
        if _letters_fit(letters[used:], rest):
            return True
        if used == len(letters):
            break
        place = word.find(letters[used], place) + 1
        if not place:
            break
    return False


def _begins(word: str, letter: str) -> bool:
    """Return whether a letter stands for the beginning of a word, such as X for extensible."""
    return word[0] == letter or (letter == "X" and word.startswith("EX"))
