"""Numbers in what a model says: it may state none that its sources lack."""

from __future__ import annotations

import re
from collections.abc import Set
from unicodedata import decimal

from pgs_neo4j.text.sentences.split import split_sentences

_NUMBER = re.compile(r"\d+(?:[.,\u066b\u066c]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text, in one spelling for all digits and signs for thousands."""
    return frozenset(map(_normalize, _NUMBER.findall(text)))


def keep_known_numbers(said: str, known: Set[str]) -> str:
    """Return a text without its sentences that have other numbers than those that are known."""
    if numbers_in(said) <= known:
        return said
    sentences = (" ".join(said[one.start : one.end].split()) for one in split_sentences(said))
    return " ".join(one for one in sentences if numbers_in(one) <= known)


def _normalize(number: str) -> str:
    plain = "".join(str(decimal(sign, sign)) for sign in number)
    plain = plain.replace("\u066b", ".").replace("\u066c", ",")
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    return plain.lstrip("0") or "0"
