"""The texts in which the claims of a sentence are looked up.

There may be hundreds of texts. Dividing a text into numbers or words takes ten times longer than a
quick test of whether the text can contain a claim. So only the texts that pass this test are
divided.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pgs_neo4j.text.claims.dates import Date, find_dates
from pgs_neo4j.text.claims.negations import LEAST_WORDS, OPPOSED, SHARE, Words, split_clauses
from pgs_neo4j.text.claims.numbers import Number, find_numbers, ordinals
from pgs_neo4j.text.matching import root
from pgs_neo4j.text.normal_form import (
    find_words,
    flatten,
    fold_case,
    is_mark,
    join,
    normal_form,
)
from pgs_neo4j.text.words import stem

_END = re.compile(r"[.!?;\n](?=\s|\Z)")
PREFIX = 3  # first letters of a word, which no ending changes
SAMPLE = 16  # texts from which the rarity of word beginnings is estimated
_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)


@dataclass(frozen=True)
class Material:
    """A text in which claims are looked up; each part is prepared when it is first needed."""

    text: str

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers of the text; of its dates, only the years."""
        found = find_numbers(self.text)
        taken = [(one.start, one.end) for one in self.dates] if found else []
        return tuple(
            one
            for one in found
            if one.year or not any(start <= one.start < end for start, end in taken)
        )

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in _END.finditer(self.text)]

    def sentence_at(self, place: int) -> int:
        """Return the number of the sentence at a place of the text."""
        return bisect_right(self._ends, place)

    def sentence(self, number: int) -> str:
        """Return the sentence with the given number, counted from 0."""
        first = self._ends[number - 1] if number else 0
        last = self._ends[number] if number < len(self._ends) else len(self.text)
        return self.text[first:last]

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """The dates of the text."""
        return tuple(find_dates(self.text))

    @cached_property
    def ordinals(self) -> frozenset[int]:
        """The values of the ordinals that the text spells out."""
        return ordinals(self.text)

    @cached_property
    def plain(self) -> str:
        """The text in normal form."""
        return normal_form(self.text)

    @cached_property
    def folded(self) -> str:
        """The text in normal form, lower case."""
        return fold_case(self.plain)

    @cached_property
    def words(self) -> list[str]:
        """The words of the text in order, lower case."""
        return find_words(self.folded)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of all words of the text, including the words inside identifiers."""
        words = {*self.words, *find_words(fold_case(_HUMP.sub(" ", self.plain)))}
        return frozenset(root(word) for word in words) | {stem(word) for word in words}

    @cached_property
    def flat(self) -> str:
        """The words of the text with one blank around each; hyphenated words also occur joined."""
        joined = join(self.text)
        flat = f" {' '.join(self.words)} "
        return flat if joined == self.text else flat + flatten(joined)

    @cached_property
    def letters(self) -> str:
        """The letters and digits of the text in normal form, lower case, and nothing else."""
        return "".join(self.words)

    @cached_property
    def initials(self) -> str:
        """The first letters of all words."""
        return "".join(word[0] for word in self.words)

    @cached_property
    def _clauses(self) -> dict[str, Words | None]:
        """The sentences of the text; each gets its words when it is first compared."""
        return dict.fromkeys(split_clauses(self.folded))

    def has_word(self, word: str) -> bool:
        """Return whether the text has a word in any inflection.

        ``word`` is in normal form, lower case.
        """
        # Most texts lack even the beginning of the word, and some have it exactly as given. Only
        # the rest need all their words, which take long to find.
        if word[:PREFIX] not in self.folded:
            return False
        return self._has_whole(word) or word in self.roots or root(word) in self.roots

    def has_letters(self, letters: str) -> bool:
        """Return whether whole words of the text, side by side, spell these letters.

        The last word may have an additional s.
        """
        if letters not in self.letters:
            return False
        spelled = r"[\W_]*".join(map(re.escape, letters))
        return re.search(rf"(?<![^\W_]){spelled}s?(?![^\W_])", self.folded) is not None

    def _has_whole(self, word: str) -> bool:
        """Return whether the text has a word exactly as given, not inside a longer word."""
        text = self.folded
        start = text.find(word)
        while start >= 0:
            end = start + len(word)
            if not (
                _is_in_word(text[max(0, start - 1) : start]) or _is_in_word(text[end : end + 1])
            ):
                return True
            start = text.find(word, start + 1)
        return False

    def find_near(self, starts: Sequence[str]) -> list[Words]:
        """Return the sentences that have most of the given beginnings of words.

        Few sentences do. Dividing the others into words would take much longer than this test.
        """
        if not _has_enough(self.folded, starts):
            return []
        near: list[Words] = []
        for clause in self._clauses:
            if _has_enough(clause, starts):
                words = self._clauses[clause] or Words.of(clause)
                self._clauses[clause] = words
                near.append(words)
        return near


@dataclass(frozen=True)
class Sources:
    """The texts that may support a sentence."""

    texts: tuple[Material, ...] = ()

    @classmethod
    def of(cls, *texts: str) -> Sources:
        """Make sources from plain texts."""
        return cls(tuple(map(Material, texts)))

    def __iter__(self) -> Iterator[Material]:
        return iter(self.texts)

    def likely_first(self, words: str) -> Iterator[Material]:
        """Yield all texts; texts that contain ``words`` verbatim come first."""
        others: list[Material] = []
        for one in self.texts:
            if words in one.text:
                yield one
            else:
                others.append(one)
        yield from others

    def holding(self, part: str) -> Iterator[Material]:
        """Yield the texts that contain a part of a word, given in lower case."""
        return (one for one in self.texts if part in one.folded)

    def find_near(self, claim: Words) -> list[Words]:
        """Return the sentences of all texts that may contain most words of a claim."""
        if len(claim.roots) < LEAST_WORDS:
            return []
        starts = [one[:PREFIX] for one in {*claim.roots} - OPPOSED]
        # Most texts lack the rare beginnings, so testing these first rejects a text sooner.
        if len(self.texts) > SAMPLE:
            sample = " ".join(one.folded for one in self.texts[:SAMPLE])
            starts.sort(key=sample.count)
        return [near for one in self.texts for near in one.find_near(starts)]


def _is_in_word(sign: str) -> bool:
    """Return whether a character is part of a word; an empty string is not."""
    return sign.isalnum() or (not sign.isascii() and is_mark(sign))


def _has_enough(text: str, starts: Sequence[str]) -> bool:
    """Return whether a text has at least ``SHARE`` of the given beginnings of words."""
    missing = len(starts) - SHARE * len(starts)
    for start in starts:
        if start not in text:
            missing -= 1
            if missing < 0:
                return False
    return True
