"""Finds what of a text is written with capitals, without counting its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.local_extraction.tokens import (
    CAPITAL,
    LINK,
    NAME,
    NUMBER,
    TOKEN,
    Word,
    plain_words,
    word_of,
)

_PLAIN = re.compile(r"\w[a-z ,;:\n'-]*[.!?]?\s*")
"""A sentence that has no capital but its first letter, and no digit or sign: most are such."""


def capital_runs(chunk: Chunk) -> Iterator[str]:
    """Yield each longest row of words with capitals, with the small words and numbers inside.

    Every proper name of the chunk stands inside of one, or is made of some and of small words
    between them. A capital that only begins a sentence makes none.
    """
    for sentence in chunk.sentences:
        raw = chunk.text[sentence.start : sentence.end]
        if sentence.kind != "rule" and not _PLAIN.fullmatch(raw):
            yield from _runs(plain_words(raw))


def _runs(text: str) -> Iterator[str]:
    pieces = TOKEN.split(text)
    run: list[Word] = []
    initial = True
    for place in range(1, len(pieces), 2):
        word = word_of(pieces[place])
        between = pieces[place - 1]
        if run and between != " " and between.strip(" \n\t"):
            yield from _told(run, initial=initial)
            run, initial = [], False
        if (
            word.kind >= CAPITAL
            or (run and word.kind in (LINK, NUMBER))
            or (word.text == "I" and run)
        ):
            run.append(word)
        else:
            yield from _told(run, initial=initial)
            run, initial = [], False
    yield from _told(run, initial=initial)


def _told(run: list[Word], *, initial: bool) -> Iterator[str]:
    while run and run[-1].kind == LINK:
        run.pop()
    if len(run) > 1 or (run and (run[0].kind == NAME or not initial)):
        yield " ".join(word.text for word in run)
