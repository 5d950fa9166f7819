"""Keeps of a summary what its sources can have said."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from pgs_neo4j.text.extraction.numbers import keep_known_numbers, numbers_in
from pgs_neo4j.text.words import stems

_IDEOGRAPHS = "\u2e80"
"""From here on, letters stand for syllables or words, and words are not told apart."""


def grounded_sentences(summary: str, name: str, sources: Iterable[str]) -> str:
    """Return a summary without sentences that bring a number which its sources lack.

    It is empty for a summary that shares no word with them, but for the name of what is described.
    """
    text = "\n".join(sources)
    if not _pieces(summary) & (_pieces(text) - _pieces(name)):
        return ""
    return " ".join(keep_known_numbers(summary, numbers_in(text) | numbers_in(name)).split())


def _pieces(text: str) -> set[str]:
    """Return the stems of a text, and pairs of ideographs."""
    pairs = {a + b for a, b in pairwise(text) if min(a, b) >= _IDEOGRAPHS}
    return pairs | {*stems(text)}
