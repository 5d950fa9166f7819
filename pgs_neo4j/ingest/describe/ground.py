"""Keeps of a summary what its sources can have said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from pgs_neo4j.text.sentences.split import split_sentences
from pgs_neo4j.text.words import stems

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_IDEOGRAPHS = "\u2e80"
"""From here on, letters stand for syllables or words, and words are not told apart."""


def grounded_sentences(summary: str, name: str, sources: Iterable[str]) -> str:
    """Return a summary without sentences that bring a number which its sources lack.

    It is empty for a summary that shares no word with them, but for the name of what is described.
    """
    text = "\n".join(sources)
    if not _pieces(summary) & (_pieces(text) - _pieces(name)):
        return ""
    numbers = {*_NUMBER.findall(text), *_NUMBER.findall(name)}
    said = (" ".join(summary[one.start : one.end].split()) for one in split_sentences(summary))
    return " ".join(one for one in said if {*_NUMBER.findall(one)} <= numbers)


def _pieces(text: str) -> set[str]:
    """Return the stems of a text, and pairs of ideographs."""
    pairs = {a + b for a, b in pairwise(text) if min(a, b) >= _IDEOGRAPHS}
    return pairs | {*stems(text)}
