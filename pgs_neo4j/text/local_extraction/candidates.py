"""Counts the candidates for terms of a chunk: words, phrases, and proper names.

Every place is first recorded under its words as written, as one number with flags, because that is
fast. Only then are the forms of a term combined.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import takewhile

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.local_extraction.tokens import (
    CAPITAL,
    DETERMINER,
    LINK,
    NAME,
    NUMBER,
    STOP,
    TOKEN,
    WORD,
    Word,
    is_fragment,
    is_initial,
    plain_words,
    within_name,
    word_of,
)

LONGEST_PHRASE, LONGEST_NAME = 4, 8
"""Maximum number of words of a phrase, and of a row of words with capitals."""

HEADING, CODE, PROPER, NESTED, PART, NOUN, MARKED = (1 << bit for bit in range(7))
"""Flags of a place. ``NOUN`` means that a determiner or preposition precedes it."""

SHIFT = 7
_APART = HEADING | PROPER | NOUN | MARKED
_MARKS = re.compile(
    r"`([^`\n]{2,60})`|\*\*([^*\n]{2,60})\*\*|\"([^\"\n]{2,60})\"|\[([^\[\]\n]{2,80})\]"
)


@dataclass(slots=True)
class Candidate:
    """A word, phrase, or name with its counts; ``name`` is the commonest of its ``forms``.

    ``nested`` counts places inside a longer stretch of words. ``proper`` counts places with a
    capital that does not begin a sentence. ``prose`` counts places outside of code. ``part`` means
    that it only occurs inside identifiers. ``sentences`` are the numbers of its sentences,
    ascending.
    """

    key: str
    words: int
    count: int = 0
    nested: int = 0
    proper: int = 0
    prose: int = 0
    noun: int = 0
    headed: bool = False
    marked: bool = False
    part: bool = True
    name: str = ""
    forms: dict[str, int] = field(default_factory=dict)
    sentences: list[int] = field(default_factory=list)

    @property
    def mostly_proper(self) -> bool:
        """Whether at least half of its places have a capital that does not begin a sentence."""
        return 2 * self.proper >= self.count > 0


class _Places:
    """The places of words and phrases as written, and the key of each."""

    __slots__ = ("codes", "keys")

    def __init__(self) -> None:
        self.codes: defaultdict[str, list[int]] = defaultdict(list)
        self.keys: dict[str, str] = {}

    def candidates(self) -> dict[str, Candidate]:
        """Return the candidates by key.

        A phrase that occurs only once is left out unless a heading, capitals, a mark, or a
        determiner sets it apart.
        """
        candidates: dict[str, Candidate] = {}
        waiting: dict[str, str] = {}
        for text, codes in self.codes.items():
            key = self.keys[text]
            one = candidates.get(key)
            if one is None:
                if len(codes) == 1 and " " in text and not codes[0] & _APART:
                    former = waiting.setdefault(key, text)
                    if former == text:
                        continue
                    one = candidates[key] = Candidate(key, text.count(" ") + 1)
                    _add_places(one, former, self.codes[former])
                else:
                    one = candidates[key] = Candidate(key, text.count(" ") + 1)
                    if key in waiting:
                        _add_places(one, waiting[key], self.codes[waiting[key]])
            _add_places(one, text, codes)
        for one in candidates.values():
            one.name = next(iter(one.forms), "")
            if len(one.forms) > 1:
                one.sentences = sorted(set(one.sentences))
                one.name = max(one.forms, key=lambda form: one.forms[form])
        return {key: one for key, one in candidates.items() if one.count}


def count_candidates(chunk: Chunk) -> dict[str, Candidate]:
    """Return the candidates of a chunk by key, in the order of the text."""
    places = _Places()
    for number, sentence in enumerate(chunk.sentences, 1):
        if sentence.kind == "rule":
            continue
        raw = chunk.text[sentence.start : sentence.end]
        flags = number << SHIFT
        if sentence.kind == "heading":
            flags |= HEADING
        elif sentence.kind == "code":
            flags |= CODE
        _read_sentence(plain_words(raw), flags, places)
        if "`" in raw or "**" in raw or '"' in raw or "[" in raw:
            _read_marked(raw, flags, places)
    return places.candidates()


def _add_places(one: Candidate, text: str, codes: list[int]) -> None:
    """Count the places of one form of a candidate."""
    counted = 0
    for code in codes:
        if code & MARKED:
            one.marked = True
            continue
        counted += 1
        if code & NESTED:
            one.nested += 1
        if code & HEADING:
            one.headed = True
        elif code & PROPER:
            one.proper += 1
        if not code & CODE:
            one.prose += 1
        if code & NOUN:
            one.noun += 1
        if not code & PART:
            one.part = False
        number = code >> SHIFT
        if not one.sentences or one.sentences[-1] != number:
            one.sentences.append(number)
    if counted:
        one.count += counted
        one.forms[text] = counted


def _read_sentence(text: str, flags: int, places: _Places) -> None:
    """Divide a sentence into stretches of words, and count the candidates in each.

    Function words, signs, and changes from plain words to capitals end a stretch.
    """
    pieces = TOKEN.split(text)
    stretch: list[Word] = []
    # After the colon of a label, the first word is a value, and its capital counts.
    initial = pieces[0].strip() != ":"
    noun = False
    for place in range(1, len(pieces), 2):
        word = word_of(pieces[place])
        if word[1] <= DETERMINER:
            word = within_name(word, stretch, pieces, place)
        kind = word[1]
        if stretch:
            between = pieces[place - 1]
            apart = between != " " and between.strip(" \n\t")
            if apart == "." and kind >= CAPITAL and is_initial(stretch[-1].text):
                stretch[-1] = word_of(f"{stretch[-1].text}.")
            elif apart or (kind == CAPITAL and stretch[-1][1] == WORD):
                _count_stretch(stretch, flags, places, initial=initial, noun=noun)
                stretch, initial, noun = [], False, not apart
        if kind > LINK:
            stretch.append(word)
            continue
        if stretch:
            before = stretch[-1][1]
            if before != WORD and (kind == LINK or (word[0] == "I" and before >= CAPITAL)):
                stretch.append(word)
                continue
            _count_stretch(stretch, flags, places, initial=initial, noun=noun)
            stretch = []
        initial = False
        noun = kind != STOP
    if stretch:
        _count_stretch(stretch, flags, places, initial=initial, noun=noun)


def _count_stretch(
    stretch: list[Word], flags: int, places: _Places, *, initial: bool, noun: bool
) -> None:
    """Count the words of a stretch, its phrases, and its names."""
    while stretch and stretch[-1].kind == LINK:
        stretch.pop()
    size = len(stretch)
    plain = flags | NOUN if noun else flags
    if size > 1:
        plain |= NESTED
    codes, keys = places.codes, places.keys
    for first, (text, kind, key, parts) in enumerate(stretch):
        if kind <= NUMBER:
            continue
        if not is_fragment(key):
            capital = kind == NAME or (kind == CAPITAL and (first > 0 or not initial))
            codes[text].append(plain | PROPER if capital else plain)
            keys[text] = key
        for part in parts:
            codes[part].append(flags | PART)
            keys[part] = word_of(part).key
        if first < size - 1 and not flags & CODE:
            _count_phrases(stretch, first, plain, places)


def _count_phrases(stretch: list[Word], first: int, flags: int, places: _Places) -> None:
    """Count the phrases of a stretch that begin with its word ``first``."""
    size = len(stretch)
    text, kind, key, _ = stretch[first]
    proper = kind >= CAPITAL
    for last in range(first + 1, min(size, first + LONGEST_PHRASE)):
        word, kind, root, _ = stretch[last]
        text = f"{text} {word}"
        key = f"{key} {root}"
        proper = proper and kind != WORD
        if kind != LINK and not is_fragment(root):
            whole = first == 0 and (last == size - 1 or (proper and stretch[last + 1].kind == WORD))
            code = flags & ~NESTED if whole else flags
            places.codes[text].append(code | PROPER if proper else code)
            places.keys[text] = key
    if first == 0 and size > LONGEST_PHRASE and proper:
        _count_long_name(stretch, flags, places)


def _count_long_name(stretch: list[Word], flags: int, places: _Places) -> None:
    """Count the row of words with capitals that begins a stretch, if longer than any phrase."""
    row = [*takewhile(lambda word: word.kind != WORD, stretch)]
    while row[-1].kind == LINK:
        row.pop()
    if LONGEST_PHRASE < len(row) <= LONGEST_NAME:
        text = " ".join(word.text for word in row)
        places.codes[text].append((flags & ~NESTED) | PROPER)
        places.keys[text] = " ".join(word.key for word in row)


def _read_marked(raw: str, flags: int, places: _Places) -> None:
    for groups in _MARKS.findall(raw):
        marked = next(filter(None, groups))
        words = [word_of(piece) for piece in TOKEN.split(marked)[1::2]]
        if 0 < len(words) <= LONGEST_PHRASE:
            text = " ".join(word.text for word in words)
            places.codes[text].append(flags | MARKED)
            places.keys[text] = " ".join(word.key for word in words)
