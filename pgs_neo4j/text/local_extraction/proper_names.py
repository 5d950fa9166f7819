"""Finds the proper names of a text by their capitals, and the names that an extraction missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.extraction.names import name_fault, normalize_name
from pgs_neo4j.text.local_extraction.candidates import Candidate, count_candidates
from pgs_neo4j.text.local_extraction.ranks import best_terms
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

MOST_TERMS, MOST_MISSED = 80, 30
"""Maximum number of terms of a chunk that are checked, and of missed names that are returned."""

_PLAIN = re.compile(r"\w[a-z ,;:\n'-]*[.!?]?\s*")
"""A sentence with no capital except its first letter, and no digit or sign, like most sentences."""


def missed_names(chunks: Sequence[Chunk], found: Iterable[str]) -> list[str]:
    """Return proper names in the chunks that neither contain a found name nor are part of it.

    Scripts without capitals have no such names. Counting terms takes as long as the rest of an
    extraction, so only chunks with capitals outside of found names are counted.
    """
    known = [f"_{key}_" for key in map(normalize_name, found) if key]
    missed: dict[str, str] = {}
    for chunk in chunks:
        if all(_is_contained(known, run) for run in capital_runs(chunk)):
            continue
        for one in best_terms(count_candidates(chunk), MOST_TERMS):
            key = f"_{normalize_name(one.name)}_"
            if _is_contained(known, one.name) or any(other in key for other in known):
                known.append(key)
            elif one.mostly_proper and _is_name(one) and not any(key in other for other in missed):
                missed[key] = one.name
    return list(missed.values())[:MOST_MISSED]


def _is_contained(known: Iterable[str], name: str) -> bool:
    key = f"_{normalize_name(name)}_"
    return any(key in other for other in known)


def _is_name(one: Candidate) -> bool:
    return not one.part and name_fault(one.name) is None


def capital_runs(chunk: Chunk) -> Iterator[str]:
    """Yield each longest row of words with capitals, including small words and numbers inside it.

    Every proper name of the chunk is inside a row, or consists of rows with small words between
    them. A capital that only begins a sentence does not make a row.
    """
    for sentence in chunk.sentences:
        raw = chunk.text[sentence.start : sentence.end]
        if sentence.kind != "rule" and not _PLAIN.fullmatch(raw):
            yield from _find_runs(plain_words(raw))


def _find_runs(text: str) -> Iterator[str]:
    """Yield the rows of words with capitals in a sentence."""
    pieces = TOKEN.split(text)
    run: list[Word] = []
    initial = True
    for place in range(1, len(pieces), 2):
        word = word_of(pieces[place])
        between = pieces[place - 1]
        if run and between != " " and between.strip(" \n\t"):
            yield from _yield_run(run, initial=initial)
            run, initial = [], False
        if (
            word.kind >= CAPITAL
            or (run and word.kind in (LINK, NUMBER))
            or (word.text == "I" and run)
        ):
            run.append(word)
        else:
            yield from _yield_run(run, initial=initial)
            run, initial = [], False
    yield from _yield_run(run, initial=initial)


def _yield_run(run: list[Word], *, initial: bool) -> Iterator[str]:
    while run and run[-1].kind == LINK:
        run.pop()
    if len(run) > 1 or (run and (run[0].kind == NAME or not initial)):
        yield " ".join(word.text for word in run)
