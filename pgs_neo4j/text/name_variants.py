"""Decides whether a name is a variant of another, from these two names alone.

A variant may be a spelling, a defined abbreviation, a company form, an acronym, initials, or a
typing error. Some words differ by one letter without a typing error (Johnson and Johnston).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from pgs_neo4j.text.name_forms import (
    MINOR_WORDS,
    ORGANIZATIONS,
    PERSONS,
    NameForm,
    is_number,
    legal_form,
    looks_abbreviated,
    name_form,
)

SHORTEST_ACRONYM, LONGEST_ACRONYM = 4, 8
SHORTEST_OF_BODIES = 3
"""Minimum letters of an organization's acronym. For other names, three letters are ambiguous."""

BLOCKS = 5
"""Number of blocks of a name; each position has a different kind of block."""

VariantKind = Literal[
    "spelling", "definition", "company form", "acronym", "initials", "typing error"
]

_RISKY_PREFIXES = frozenset(("RE", "UN", "CO", "DE"))
"""A hyphen after these prefixes may make another word: re-cover is not recover."""

LEAST_LETTERS = 5
"""Minimum number of letters of a word that may have a wrong letter."""

SWAPPED_LETTERS, DOUBLED_LETTERS, LONG_LETTERS = 8, 7, 11
"""Minimum letters of a word with swapped letters, a doubled letter, or a missing letter."""

PERSON_SWAPPED, PERSON_DOUBLED = 5, 9
"""The same limits in names of persons: Paterson is not Patterson."""

KEPT_START, KEPT_END = 1, 2
"""Letters that must be equal: the first, and the last two, which distinguish Julian and Juliana."""

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
"""For each letter, the letters that may follow it in a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentName:
    """A name, with its type, that at least one live chunk mentions.

    ``sure`` means that a model named it. ``proper`` means that its words begin with capitals, as in
    World Bank; ``capitals``, that it has only capitals, as in WHO; ``brief``, that it is one word
    with several capitals, as in IoT. ``short`` is the abbreviation that chunks define for it,
    normalized.
    """

    key: str
    type: str
    sure: bool = True
    proper: bool = True
    capitals: bool = False
    brief: bool = False
    short: str = ""

    @property
    def named(self) -> tuple[str, str]:
        """The key and the type of the name."""
        return self.key, self.type

    @property
    def fullness(self) -> tuple[bool, int, int]:
        """A key that sorts the fullest names first: no acronym, few initials, many words."""
        words = self.form.words
        initials = sum(len(word) == 1 for word in words)
        return self.capitals and len(words) == 1, initials, -len(words)

    @property
    def form(self) -> NameForm:
        """The words and letters of the name."""
        return name_form(self.key, self.type)

    @property
    def is_person(self) -> bool:
        """Whether its type means a person."""
        return self.type.upper() in PERSONS

    @property
    def is_company(self) -> bool:
        """Whether its type means an organization."""
        return self.type.upper() in ORGANIZATIONS


def present_name(
    key: str, kind: str, spellings: Iterable[str], *, sure: bool, short: str = ""
) -> PresentName:
    """Return a name with the features that its spellings share."""
    written = [*spellings]
    capitals = all(_is_capitals(one) for one in written)
    return PresentName(
        key=key,
        type=kind,
        sure=sure,
        proper=any(_is_proper(one) for one in written),
        capitals=capitals and bool(written),
        brief=all(map(looks_abbreviated, written)) and bool(written),
        short=short,
    )


@lru_cache(maxsize=16384)
def variant_kind(one: PresentName, other: PresentName) -> VariantKind | None:
    """Return how two names are variants of each other, or None if they are not.

    Names that were found by statistics (not ``sure``) are plain words. They are variants only by
    spelling or by definition.
    """
    if one.type != other.type or one.key == other.key:
        return None
    if one.form.spells(other.form) and _is_respelled(one, other):
        return "spelling"
    if _is_defined(one, other) or _is_defined(other, one):
        return "definition"
    if not (one.sure and other.sure):
        return None
    if one.is_company and _is_same_company(one.form, other.form):
        return "company form"
    if _is_acronym(one, other) or _is_acronym(other, one):
        return "acronym"
    if one.is_person and _share_initials(one.form.words, other.form.words):
        return "initials"
    return "typing error" if _is_misspelled(one, other) else None


def blocks_of(name: PresentName) -> tuple[str | None, ...]:
    """Return the blocks of a name; variants have the same block in at least one place."""
    form, kind = name.form, name.type
    company = legal_form(form)[0] if name.is_company else form
    blocks: list[str | None] = [company.letters or name.key]
    if name.sure:
        blocks += [_find_outline(name), *_find_acronyms(name), _find_initials(name)]
    blocks += [None] * (BLOCKS - len(blocks))
    # Persons have no acronyms, and nothing else has initials.
    blocks[2 if name.is_person else 4] = _find_definition(name)
    return tuple(block and f"{kind}:{block}" for block in blocks)


def _is_respelled(one: PresentName, other: PresentName) -> bool:
    """Return whether two spellings of the same letters mean the same name.

    In plain words, a hyphen after a prefix may make another word.
    """
    if one.proper and other.proper and one.sure and other.sure:
        return True
    parted = max(one.form.words, other.form.words, key=len)
    joined = len(one.form.words) != len(other.form.words)
    plain = one.form.plain and other.form.plain
    return (plain or (one.sure and other.sure)) and not (
        joined and _RISKY_PREFIXES & {*parted[:-1]}
    )


def _is_defined(short: PresentName, long: PresentName) -> bool:
    """Return whether chunks define ``short`` as the abbreviation of ``long``."""
    return short.brief and bool(long.short) and _find_definition(short) == _find_definition(long)


def _find_definition(name: PresentName) -> str | None:
    """Return the letters of a name's abbreviation, or of the name if it is an abbreviation."""
    if name.short:
        return "=" + name_form(name.short, name.type).letters
    return "=" + name.form.letters if name.brief and len(name.form.words) == 1 else None


def _is_same_company(one: NameForm, other: NameForm) -> bool:
    """Return whether two names of companies differ only in a legal form that one leaves out."""
    (first, legal), (second, also) = legal_form(one), legal_form(other)
    return first.spells(second) and (not legal or not also or legal == also)


def _is_acronym(short: PresentName, long: PresentName) -> bool:
    if not short.capitals or len(short.form.words) != 1 or long.capitals:
        return False
    return _may_be_acronym(short, short.form.letters) and short.form.letters in _find_acronyms(long)


def _find_acronyms(name: PresentName) -> list[str | None]:
    """Return two acronyms of a name, without and with its minor words or its legal form.

    A name that is itself an acronym is returned twice.
    """
    words = name.form.words
    if len(words) == 1:
        own = words[0] if name.capitals and _may_be_acronym(name, words[0]) else None
        return [own, own]
    if name.capitals:
        return [None, None]
    company = legal_form(name.form)[0].words if name.is_company else words
    major = [word for word in company if word not in MINOR_WORDS]
    every = words if company == words else [*major, words[-1]]
    letters = ("".join(word[0] for word in chosen) for chosen in (major, every))
    return [one if _may_be_acronym(name, one) else None for one in letters]


def _may_be_acronym(name: PresentName, letters: str) -> bool:
    """Return whether letters can be the acronym of a name; persons have initials instead."""
    least = SHORTEST_OF_BODIES if name.is_company else SHORTEST_ACRONYM
    return least <= len(letters) <= LONGEST_ACRONYM and letters.isalpha() and not name.is_person


def _find_initials(name: PresentName) -> str | None:
    """Return a person's initials and last name, or None for other names."""
    words = name.form.words
    if not name.is_person or len(words) < 2 or len(words[-1]) < 2:
        return None
    return " ".join((*(word[0] for word in words[:-1]), words[-1]))


def _share_initials(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether last names are equal, and other words are equal or initials of each other."""
    if not 2 <= len(one) == len(other) or one[-1] != other[-1] or len(one[-1]) < 2:
        return False
    pairs = [*zip(one[:-1], other[:-1], strict=True)]
    return all(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in pairs)


def _is_misspelled(one: PresentName, other: PresentName) -> bool:
    """Return whether two proper names differ in one word only, by a typing error."""
    first, second = one.form.words, other.form.words
    if len(first) != len(second) or not (one.proper and other.proper):
        return False
    differing = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    if len(differing) != 1:
        return False
    ((a, b),) = differing
    if len(first) == 1 and {*a} != {*b}:
        return False
    return is_typing_error(a, b, person=one.is_person)


def _find_outline(name: PresentName) -> str | None:
    """Return the part of a name that typing errors do not change, or None.

    The part is the ends of the name's words or, for a single word, the set of its letters.
    """
    words = name.form.words
    if not name.proper or not any(_may_err(word) for word in words):
        return None
    if len(words) == 1:
        return words[0][0] + "".join(sorted({*words[0]}))
    return " ".join(
        word[:KEPT_START] + "." + word[-KEPT_END:] if _may_err(word) else word for word in words
    )


def _may_err(word: str) -> bool:
    return len(word) >= LEAST_LETTERS and not is_number(word)


def _is_capitals(spelling: str) -> bool:
    return spelling.upper() == spelling and spelling.lower() != spelling


def _is_proper(spelling: str) -> bool:
    """Return whether the words of a name begin with capitals, and not all letters are capitals."""
    words = [word for word in spelling.replace("-", " ").split() if len(word) > 3]
    return (
        bool(words)
        and all(word[0] != word[0].lower() for word in words)
        and not _is_capitals(spelling)
    )


def is_typing_error(one: str, other: str, *, person: bool) -> bool:
    """Return whether one of two words is most likely the other with a typing error.

    They differ by one letter, or by two swapped letters, after the first and before the last two
    letters. This is not enough if both could be correct words.
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
    """Return whether the additional letter of the longer word is an error in one of the words."""
    if long[place] == long[place - 1]:
        return len(short) >= (PERSON_DOUBLED if person else DOUBLED_LETTERS)
    return len(short) >= LONG_LETTERS or _is_odd(short) != _is_odd(long)


def _is_replaced(one: str, other: str, place: int) -> bool:
    """Return whether a different letter at one place is an error, or a British spelling."""
    letters = {one[place], other[place]}
    if letters <= _VOWELS:
        return False
    if letters == {"S", "Z"} and one[place - 1] in _VOWELS and one[place + 1] in _VOWELS:
        return len(one) >= SWAPPED_LETTERS
    return _is_odd(one) != _is_odd(other)


def _is_odd(word: str) -> bool:
    """Return whether a word has a pair of letters that no name has, or three equal letters."""
    return any(b not in _AFTER.get(a, ()) for a, b in pairwise(word)) or any(
        word[at] == word[at - 1] == word[at - 2] for at in range(2, len(word))
    )
