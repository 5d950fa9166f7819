"""Tells which small words and digits stand within a proper name."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.text.local_extraction.tokens import (
    CAPITAL,
    DETERMINER,
    LINK,
    NUMBER,
    QUALIFIERS,
    Word,
    word_of,
)
from pgs_neo4j.text.matching import root

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


def within_name(word: Word, stretch: Sequence[Word], pieces: Sequence[str], place: int) -> Word:
    """Return a small word as part of a name if the words beside it allow that.

    ``stretch`` is what stands before it and is not divided from it by other small words. ``pieces``
    are those of the sentence, as TOKEN splits it, and the word is at ``place`` of them.
    """
    text, _, key, _ = word
    if text.isdecimal():
        follows = stretch and stretch[-1].kind >= CAPITAL
        return Word(text, NUMBER, key) if follows and pieces[place - 1] == " " else word
    qualifies = key in QUALIFIERS and text[0].isupper()
    if not qualifies and not (stretch and _joins(word, stretch)):
        return word
    following = pieces[place + 1 : place + 5]
    if key in _CONTINUING and following[1:2] == ["the"]:
        following = following[2:]
    if len(following) < 2 or following[0] != " " or following[1] in _DATES:
        return word
    if word_of(following[1]).kind < CAPITAL:
        return word
    return Word(text, CAPITAL if qualifies else LINK, key)


def _joins(word: Word, stretch: Sequence[Word]) -> bool:
    """Whether a small word may join what follows to the name that stands before it.

    "On" and "for" may follow a body, such as a council or a prize, and "and" a name that says what
    its body is for. "The" may follow any of them.
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
