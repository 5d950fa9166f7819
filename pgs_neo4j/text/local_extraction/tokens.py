"""Classifies the words of a sentence by their role in names and phrases, and removes markup.

Some small words and digits are part of proper names: Institute for Advanced Study, Apollo 11.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pgs_neo4j.text.matching import LONGEST_WORD, UNSPACED, root
from pgs_neo4j.text.words import FUNCTION_WORDS, KEYWORD_STOP_WORDS

# Kinds of words. A link is a small word that may be inside a name (University of Oslo).
STOP, DETERMINER, LINK, NUMBER, WORD, CAPITAL, NAME = range(7)
"""``CAPITAL`` has a capital first letter only. ``NAME`` has capitals, digits, or signs inside."""

TOKEN = re.compile(r"([^\W_]+(?:[-\u2013'\u2019._&][^\W_]+)*(?:\+\+|\#(?!\w))?)")
"""Splits a sentence: words get odd places, and the text between words gets even places."""

_ADDRESS = re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+|\]\([^()\s]*\)|\]\[[^\]\n]{0,80}\]")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_PARTS = re.compile(r"[-\u2013.&'\u2019]")
_LINKS = frozenset(("of", "de", "del", "della", "di", "du", "la", "le", "van", "von", "der", "den"))
_BEFORE_NOUNS = """
a an the this these that its their his her our your my each any every some no by in on for with from
to as
"""
_FEW_LETTERS = "am at be do he if is it me or so up us we ll re ve eg ie i e.g i.e etc"
_QUALIFIERS = """
far first former full general great high higher large last little long low lower new old right small
third wide
"""

QUALIFIERS = frozenset(_QUALIFIERS.split())
"""Function words that can begin names: New Mexico, Great Britain."""

_DETERMINERS = frozenset(_BEFORE_NOUNS.split())
_SHORT = frozenset(_FEW_LETTERS.split())
_NOUNS = """
academy agency alliance assembly association authority award bill board bureau campaign center
centre coalition college commission committee conference congress convention corporation council
court department federation foundation forum fund group initiative institute institution league
ministry mission movement network office organisation organization panel partnership party prize
program programme project secretariat service society summit treaty tribunal union
"""

_BODIES = frozenset(map(root, _NOUNS.split()))
"""Keys of words after which a name may continue: Institute for Advanced Study."""

_MONTHS = """
January February March April May June July August September October November December
"""
MONTHS = tuple(_MONTHS.split())
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_DATES = frozenset((*MONTHS, *_DAYS.split()))
_CONTINUING = ("for", "on")


class Word(NamedTuple):
    """A word; all its forms have the same ``key``, and ``parts`` are the words of a compound."""

    text: str
    kind: int
    key: str
    parts: tuple[str, ...] = ()


def plain_words(text: str) -> str:
    """Return a sentence without addresses, tags, and entities of HTML."""
    if "&" in text and ";" in text:
        text = html.unescape(text)
    if "://" in text or "](" in text or "][" in text:
        text = _ADDRESS.sub(" . ", text)
    return _TAG.sub(" . ", text) if "<" in text else text


@lru_cache(maxsize=65536)
def word_of(text: str) -> Word:
    """Classify a token: return its word with its kind, key, and parts."""
    plain = text.removesuffix("'s").removesuffix("\u2019s")
    lower = plain.lower()
    if lower in _DETERMINERS:
        return Word(plain, DETERMINER, lower)
    if lower in _LINKS:
        return Word(plain, LINK, lower)
    begin = re.split("['\u2019]", lower, maxsplit=1)[0]
    lone = len(plain) == 1 and ord(plain) < UNSPACED and not plain.isupper()
    stops = FUNCTION_WORDS if plain.isupper() else KEYWORD_STOP_WORDS  # HTTP is a name, http is not
    if begin in stops or lower in _SHORT or begin in _SHORT or lone:
        return Word(plain, STOP, lower)
    if len(plain) > LONGEST_WORD:
        return Word(plain, STOP, lower)
    if not any(map(str.isalpha, plain)):
        return Word(plain, NUMBER, lower)
    return Word(
        plain, _find_kind(plain), root(lower) if lower.isalpha() else lower, _split_parts(plain)
    )


def is_initial(text: str) -> bool:
    """Return whether a text is one capital letter, which a dot may follow in a name."""
    return len(text) == 1 and text.isupper()


def is_fragment(key: str) -> bool:
    """Return whether a word only occurs in longer names: an initial with a dot, or a qualifier."""
    return key in QUALIFIERS or (len(key) == 2 and key[1] == ".")


def key_of(text: str) -> str:
    """Return the key of a word or phrase."""
    return " ".join(word_of(word).key for word in text.split(" "))


def _find_kind(plain: str) -> int:
    inside = any(letter.isupper() for letter in plain[1:]) or any(map(str.isdigit, plain))
    if inside or "." in plain or not plain[-1].isalnum():
        return NAME
    return CAPITAL if plain[0].isupper() else WORD


def _split_parts(text: str) -> tuple[str, ...]:
    """Return the words of a compound that can also be words alone."""
    pieces = _PARTS.split(text)
    if len(pieces) < 2:
        return ()
    return tuple(
        piece for piece in pieces if len(piece) > 2 and word_of(piece).kind in (WORD, CAPITAL, NAME)
    )


def within_name(word: Word, stretch: Sequence[Word], pieces: Sequence[str], place: int) -> Word:
    """Return a small word as part of a name if the words around it allow that, else unchanged.

    ``stretch`` is the unbroken row of words before it. ``pieces`` is the sentence as split by
    ``TOKEN``, and ``place`` the word's position in it.
    """
    text, _, key, _ = word
    if text.isdecimal():
        follows = stretch and stretch[-1].kind >= CAPITAL
        return Word(text, NUMBER, key) if follows and pieces[place - 1] == " " else word
    qualifies = key in QUALIFIERS and text[0].isupper()
    if not qualifies and not (stretch and _may_join(word, stretch)):
        return word
    following = pieces[place + 1 : place + 5]
    if key in _CONTINUING and following[1:2] == ["the"]:
        following = following[2:]
    if len(following) < 2 or following[0] != " " or following[1] in _DATES:
        return word
    if word_of(following[1]).kind < CAPITAL:
        return word
    return Word(text, CAPITAL if qualifies else LINK, key)


def _may_join(word: Word, stretch: Sequence[Word]) -> bool:
    """Return whether a small word may join the next words to the name before it.

    "On" and "for" may follow an institution, such as a council or a prize. "And" may follow a name
    that says what its institution is for. "The" may follow any of these words.
    """
    last = stretch[-1]
    if last.kind == LINK:
        return word.kind == DETERMINER
    if last.kind != CAPITAL:
        return False
    if word.key in _CONTINUING:
        return last.key in _BODIES
    kinds = {one.kind for one in stretch}
    return word.key == "and" and LINK in kinds and any(one.key in _BODIES for one in stretch)
