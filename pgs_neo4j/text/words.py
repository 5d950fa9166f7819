"""Content words and stems, for readers and embedders without a model."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from pgs_neo4j.text.normal_form import find_words, fold_case, mark_class, normal_form
from pgs_neo4j.text.stopwords import FUNCTION_WORDS

# In addition to the function words: the shortest words, and words of questions.
_MORE = """
a am an as at be by do go he if in is it me my no of on or so to up us we ll re ve eg ie
list describe explain relate related role apply applies overview summary summarize gap gaps
missing mention mentions question answer graph exist exists available kinds sort
comprehensive complete
"""
STOP_WORDS = FUNCTION_WORDS.union(_MORE.split())
# Longest first, so that "ations" is not taken for "s".
SUFFIXES = (
    *("ations", "ation", "ments", "ment", "ings", "ions", "edly"),
    *("ing", "ion", "ors", "ers", "ies", "ied", "ed", "es", "or", "er", "ly", "s"),
)
MIN_STEM = 4

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_BREAK = re.compile(rf"[^\w\s\-\u2010\u2011{mark_class()}]+")


def words(text: str) -> list[str]:
    """Return content words in normal form and reading order, lower case; identifiers are split.

    Stop words, single letters, and numbers are left out, except four-digit ones (years).
    """
    return [word for word in find_words(_split(text)) if _carries_meaning(word)]


def _split(text: str) -> str:
    return fold_case(_HUMP.sub(" ", normal_form(text)))


@lru_cache(maxsize=65536)
def _carries_meaning(word: str) -> bool:
    if word in STOP_WORDS:
        return False
    return len(word) == 4 if word.isdigit() else len(word) > 1 or ord(word) > 0x2E80


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return ``word`` without a common English ending.

    "parse", "parser", and "parsing" get the same stem. The method is simpler than Porter's
    algorithm: it removes one ending, a doubled last letter, and a last e.
    """
    if not word.isascii() or not word.isalpha():
        return word
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= MIN_STEM:
            if suffix == "s" and word.endswith(("ss", "us", "is")):
                break
            word = word[: -len(suffix)]
            break
    else:
        if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    if len(word) > MIN_STEM and word[-1] == word[-2] and word[-1] not in "sz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def phrases(text: str) -> list[tuple[str, str]]:
    """Return pairs of content words separated by a blank, hyphen, or hump."""
    pairs: list[tuple[str, str]] = []
    for run in _BREAK.split(_split(text)):
        row = [w if _carries_meaning(w) else "" for w in find_words(run)]
        pairs.extend((a, b) for a, b in itertools.pairwise(row) if a and b)
    return pairs


def stems(text: str) -> list[str]:
    """Return the stems of the content words in reading order."""
    return [stem(word) for word in words(text)]
