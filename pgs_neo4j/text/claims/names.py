"""Finds the proper names of a sentence, by their capitals and digits, and looks them up in texts.

The first word of a sentence always has a capital, so alone it is not a name. In German, all nouns
have capitals, so only words with digits and words with several capitals are names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgs_neo4j.text.claims.dates import MONTH_NAMES
from pgs_neo4j.text.claims.numbers import is_unit
from pgs_neo4j.text.claims.sources import Material, Sources
from pgs_neo4j.text.matching import root
from pgs_neo4j.text.normal_form import (
    find_words,
    flatten,
    fold_case,
    join,
    mark_class,
    normal_form,
)
from pgs_neo4j.text.words import STOP_WORDS

_SIGN = rf"(?:[^\W_]|[{mark_class()}])"
_WORD = re.compile(rf"{_SIGN}+(?:['\u2019&]{_SIGN}+)*")
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_BEGINS = re.compile(r"(?:[.!?:;]|\A|\n|[\u201c\"(\[*_>|#\-\u2022\u2014\u2013])\W*\Z")
_GERMAN_WORDS = (
    "der die das des und ist nicht ein eine einer einem einen mit von für den dem im am zu sich auf"
    " wurde wurden war waren hat haben wird werden bei aus nach sind als auch"
)
_GERMAN = frozenset(_GERMAN_WORDS.split())
# Words that a report writes with a capital although they name nothing.
_COMMON_WORDS = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays i ii iii iv node nodes partition
partitions finding findings figure fig table section eq equation absences connections
convergences thesis yes no none note overall however ok etc
"""
_COMMON = frozenset(_COMMON_WORDS.split()) | MONTH_NAMES
# A name with a number after its hyphen, a version, or an address.
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?=[^\W_]*[A-Z])[^\W_]{1,24}-\d+[^\W_]*(?:\.\d+)*|(?<![\w.,])\d+(?:\.\d+){2,}(?![\w,])"
)
_COUNTED = re.compile(r"\d\s?\Z")  # a digit right before the sign of a unit
_CODE = re.compile(r"`([^`\n]+)`")
LABEL = re.compile(
    r"\A\s*(?:[-*•+]\s+|\d{1,3}[.)]\s+)?(?:\*\*[^*\n]{1,60}\*\*:?|[^\s:][^:\n]{0,40}:(?=\s))"
)
"""The beginning of a line before its sentence: a bullet, a number, or a title with a colon."""

MOST_CAPITALS = 0.6  # share of words with a capital; a sentence with more is a heading


@dataclass(frozen=True, slots=True)
class Name:
    """A name at its place in a text; ``words`` are its words without a possessive ``'s``."""

    text: str
    words: tuple[str, ...]
    start: int
    end: int


def find_unknown_names(text: str, sources: Sources) -> list[str]:
    """Return the identifiers, names, and code of a sentence that no source has."""
    label = LABEL.match(text)
    begins = label.end() if label else 0
    code = [match.span(1) for match in _CODE.finditer(text)]
    unknown = [
        match.group()
        for match in _IDENTIFIER.finditer(text)
        if not any(_has_identifier(match.group(), one) for one in sources)
    ]
    unknown += [
        name.text
        for name in find_names(text)
        if name.start >= begins
        and not all(is_unit(word) for word in name.words)
        and not (len(name.text) < 5 and _COUNTED.search(text, max(0, name.start - 2), name.start))
        and not any(first <= name.start < last for first, last in code)
        and not _is_known(name, sources)
    ]
    quoted = (text[first:last] for first, last in code)
    return unknown + [
        words
        for words in quoted
        if not any(_is_said(words, one) for one in sources.likely_first(words))
    ]


def find_names(sentence: str) -> list[Name]:
    """Return the proper names of a sentence in order."""
    matches = list(_WORD.finditer(sentence))
    folded = [match.group().casefold() for match in matches]
    letters = [match for match in matches if match.group()[0].isalpha()]
    german = sum(word in _GERMAN for word in folded) >= 2
    capitals = sum(match.group()[0].isupper() for match in letters)
    heading = len(letters) > 3 and capitals > MOST_CAPITALS * len(letters)
    names: list[Name] = []
    run: list[re.Match[str]] = []
    for match in matches:
        if run and not re.fullmatch(
            r"[ \u00a0]|[-\u2010\u2011/]|\. ", sentence[run[-1].end() : match.start()]
        ):
            names += _make_names(sentence, run)
            run = []
        if _is_name(match.group(), plain=not (german or heading)):
            run.append(match)
        else:
            names += _make_names(sentence, run)
            run = []
    return [*names, *_make_names(sentence, run)]


def _is_name(word: str, *, plain: bool) -> bool:
    if word.casefold() in _COMMON or word.casefold() in STOP_WORDS:
        return False
    if _is_identifier(word):
        return True
    return plain and word[0].isupper()


def _is_identifier(word: str) -> bool:
    """Return whether a word has capitals inside, or letters and digits: CO2, eBay, NASA."""
    if any(sign.isdigit() for sign in word):
        # A number with a unit or an ending is not a name: 12kg, 5th, 1990s.
        return bool(re.match(r"[^\W\d_]", word)) and len(word) > 1
    capitals = sum(sign.isupper() for sign in word)
    return capitals > 1 or any(sign.isupper() for sign in word[1:])


def _make_names(sentence: str, run: list[re.Match[str]]) -> list[Name]:
    """Return the name that a run of words makes, or an empty list."""
    if not run:
        return []
    first = run[0]
    begins = _BEGINS.search(sentence[: first.start()]) is not None
    if begins and len(run) == 1 and not _is_identifier(first.group()):
        return []
    words = tuple(_POSSESSIVE.sub("", match.group()) for match in run)
    return [Name(sentence[first.start() : run[-1].end()], words, first.start(), run[-1].end())]


def _has_identifier(identifier: str, source: Material) -> bool:
    return flatten(identifier) in source.flat or flatten(join(identifier)) in source.flat


def _is_said(words: str, source: Material) -> bool:
    return all(
        root(word) in source.roots or word in source.letters
        for word in find_words(fold_case(normal_form(words)))
    )


def _is_known(name: Name, sources: Sources) -> bool:
    """Return whether the sources have the words of a name, or words that it abbreviates."""
    words = [fold_case(normal_form(word)) for word in name.words]
    if all(
        any(_has_words(word, one) for one in sources.likely_first(written))
        for word, written in zip(words, name.words, strict=True)
    ):
        return True
    whole = "".join("".join(find_words(word)) for word in words)
    if len(name.words) > 1:
        short = "".join(word[0] for word in words)
        if len(short) > 1 and any(one.has_word(short) for one in sources):
            return True
    letters = "".join(sign for sign in name.words[0] if sign.isalpha())
    if (
        len(name.words) == 1
        and len(letters) > 2
        and letters.rstrip("s") == name.words[0].rstrip("s")
    ):
        initials = fold_case(letters.rstrip("s"))
        if letters[1].isupper() and any(initials in one.initials for one in sources):
            return True
    known = len(whole) > 5 or any(sign.isdigit() for sign in whole)
    return known and any(one.has_letters(whole) for one in sources)


def _has_words(word: str, source: Material) -> bool:
    return all(map(source.has_word, find_words(word)))
