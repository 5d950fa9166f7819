"""Decide whether one present name is a variant of another, from both alone.

A variant may be a spelling, a defined abbreviation, a company form, an acronym, initials, or a
typing error. Some words differ by a letter and are no typing errors (Johnson and Johnston).
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
"""Letters of an organization's acronym. Three letters of anything else mean too many things."""

BLOCKS = 5
"""Blocks of a name, each of its own kind."""

VariantKind = Literal[
    "spelling", "definition", "company form", "acronym", "initials", "typing error"
]

_RISKY_PREFIXES = frozenset(("RE", "UN", "CO", "DE"))
"""A hyphen after these may part two words: re-cover is not recover."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentName:
    """A name of a type that some live chunk mentions.

    ``sure``: a model named it. ``proper``: it is written with capitals, as in World Bank;
    ``capitals``: with nothing else, as in WHO; ``brief``: as one word with several, as in IoT.
    ``short`` is the abbreviation that chunks define for it, normalized.
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
        """Its key and type."""
        return self.key, self.type

    @property
    def fullness(self) -> tuple[bool, int, int]:
        """Orders names, the fullest first: no acronym, few initials, many words."""
        words = self.form.words
        initials = sum(len(word) == 1 for word in words)
        return self.capitals and len(words) == 1, initials, -len(words)

    @property
    def form(self) -> NameForm:
        """Its words and letters."""
        return name_form(self.key, self.type)

    @property
    def is_person(self) -> bool:
        """Whether its type is that of people."""
        return self.type.upper() in PERSONS

    @property
    def is_company(self) -> bool:
        """Whether its type is that of organizations."""
        return self.type.upper() in ORGANIZATIONS


def present_name(
    key: str, kind: str, spellings: Iterable[str], *, sure: bool, short: str = ""
) -> PresentName:
    """Return a name with what its spellings tell of it."""
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
    """Return in which way two names are variants of one; None if they are not.

    Names by statistics are words: they only vary in their hyphens, and by definitions.
    """
    if one.type != other.type or one.key == other.key:
        return None
    if one.form.spells(other.form) and _is_respelled(one, other):
        return "spelling"
    if _is_defined(one, other) or _is_defined(other, one):
        return "definition"
    if not (one.sure and other.sure):
        return None
    if one.is_company and _same_company(one.form, other.form):
        return "company form"
    if _is_acronym(one, other) or _is_acronym(other, one):
        return "acronym"
    if one.is_person and _share_initials(one.form.words, other.form.words):
        return "initials"
    return "typing error" if _is_misspelled(one, other) else None


def blocks_of(name: PresentName) -> tuple[str | None, ...]:
    """Return the blocks of a name: variants have one in common, at the same place."""
    form, kind = name.form, name.type
    company = legal_form(form)[0] if name.is_company else form
    blocks: list[str | None] = [company.letters or name.key]
    if name.sure:
        blocks += [_outline(name), *_acronyms(name), _initials(name)]
    blocks += [None] * (BLOCKS - len(blocks))
    # Persons have no acronyms, and nothing else has initials.
    blocks[2 if name.is_person else 4] = _definition(name)
    return tuple(block and f"{kind}:{block}" for block in blocks)


def _is_respelled(one: PresentName, other: PresentName) -> bool:
    """Whether other signs make no other word: in words, a hyphen may part a prefix."""
    if one.proper and other.proper and one.sure and other.sure:
        return True
    parted = max(one.form.words, other.form.words, key=len)
    joined = len(one.form.words) != len(other.form.words)
    plain = one.form.plain and other.form.plain
    return (plain or (one.sure and other.sure)) and not (
        joined and _RISKY_PREFIXES & {*parted[:-1]}
    )


def _is_defined(short: PresentName, long: PresentName) -> bool:
    """Whether chunks define one name as the abbreviation of the other."""
    return short.brief and bool(long.short) and _definition(short) == _definition(long)


def _definition(name: PresentName) -> str | None:
    """Return the letters of a name's abbreviation; its own if it is one."""
    if name.short:
        return "=" + name_form(name.short, name.type).letters
    return "=" + name.form.letters if name.brief and len(name.form.words) == 1 else None


def _same_company(one: NameForm, other: NameForm) -> bool:
    """Whether two names of companies differ by the legal form that one of them leaves out."""
    (first, legal), (second, also) = legal_form(one), legal_form(other)
    return first.spells(second) and (not legal or not also or legal == also)


def _is_acronym(short: PresentName, long: PresentName) -> bool:
    if not short.capitals or len(short.form.words) != 1 or long.capitals:
        return False
    return _may_be_acronym(short, short.form.letters) and short.form.letters in _acronyms(long)


def _acronyms(name: PresentName) -> list[str | None]:
    """Return two acronyms of a name; twice its own if it is one.

    They are without and with its minor words, or its legal form if it has one.
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
    """Whether letters can stand for the words of a name. Those of a person are initials."""
    least = SHORTEST_OF_BODIES if name.is_company else SHORTEST_ACRONYM
    return least <= len(letters) <= LONGEST_ACRONYM and letters.isalpha() and not name.is_person


def _initials(name: PresentName) -> str | None:
    """Return a person's last name with the first letters of the others."""
    words = name.form.words
    if not name.is_person or len(words) < 2 or len(words[-1]) < 2:
        return None
    return " ".join((*(word[0] for word in words[:-1]), words[-1]))


def _share_initials(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the last name is the same, and each other word or its first letter."""
    if not 2 <= len(one) == len(other) or one[-1] != other[-1] or len(one[-1]) < 2:
        return False
    pairs = [*zip(one[:-1], other[:-1], strict=True)]
    return all(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in pairs)


def _is_misspelled(one: PresentName, other: PresentName) -> bool:
    """Whether one word of two proper names has a typing error, and all others are equal."""
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


def _outline(name: PresentName) -> str | None:
    """Return what typing errors leave alone: the ends of words; of a single word, its letters."""
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
    """Whether the words of a name begin with capitals, and not all is capitals."""
    words = [word for word in spelling.replace("-", " ").split() if len(word) > 3]
    return (
        bool(words)
        and all(word[0] != word[0].lower() for word in words)
        and not _is_capitals(spelling)
    )


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
