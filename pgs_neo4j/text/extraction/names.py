"""Names of entities: decides which names are equal, and which texts are not names.

The rules come from EdgeQuake. An article at the beginning and ``'s`` at the end of a word are left
out, blanks become underscores, and letters become capitals. Hyphens and signs stay (C++).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from pgs_neo4j.text.invisible import INVISIBLE, is_plainly_visible
from pgs_neo4j.text.matching import UNSPACED

NameFault = Literal["no name", "too long", "pronoun", "generic"]

SHORTEST, LONGEST = 2, 120
"""Limits of a name in characters; one character is enough in scripts without blanks."""

_ARTICLE = re.compile(r"(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019\u02bc](?:s|S)(?!\w)")
_EDGES = " \t\n\r\"'`*_\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb,;:"
_BLANKS = re.compile(r"\s+")
_PRONOUN_WORDS = """
i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves this that these those who whom whose
which what where when why how one ones someone somebody anyone anybody everyone everybody nobody
something anything everything nothing other others another each both all some any none such same
here there former latter
"""
_GENERIC_WORDS = """
thing things stuff entity entities item items name names unknown unnamed unspecified n/a na null
nil undefined various several many few etc text document sentence paragraph section chapter page
figure table example source target relation relationship description concept person organization
location event
"""
_PRONOUNS = frozenset(_PRONOUN_WORDS.split())
_GENERIC = frozenset((*_GENERIC_WORDS.split(), "not specified", "not mentioned", "not applicable"))


@lru_cache(maxsize=32768)
def clean_name(name: str) -> str:
    """Return a name for display: on one line, without quotes around it and invisible characters."""
    plain = unicodedata.normalize("NFC", name)
    if not is_plainly_visible(plain):
        plain = INVISIBLE.sub("", plain)
    return _BLANKS.sub(" ", plain).strip(_EDGES)


@lru_cache(maxsize=32768)
def normalize_name(name: str) -> str:
    """Return the form in which all spellings of a name are equal, such as ``JOHN_DOE``.

    A second call changes nothing. The result is empty if the name has no letter, digit, or sign.
    """
    plain = _fold_text(clean_name(name))
    while True:
        shorter = _POSSESSIVE.sub("", plain).strip(_EDGES)
        if shorter == plain:
            break
        plain = shorter
    plain = _ARTICLE.sub("", plain, count=1) if _ARTICLE.match(plain) else plain
    return _fold_text(_BLANKS.sub("_", plain.strip(_EDGES))).upper()


def entity_key(name: str, label: str) -> tuple[str, str]:
    """Return the key of an entity, by name and type: Paris the city is not Paris the person."""
    return normalize_name(name), normalize_name(label)


@lru_cache(maxsize=32768)
def name_fault(name: str) -> NameFault | None:
    """Return why a text cannot name an entity, or None if it can."""
    plain = clean_name(name)
    if not any(map(str.isalnum, plain)):
        return "no name"
    if len(plain) < SHORTEST and ord(plain[0]) < UNSPACED:
        return "no name"
    if len(plain) > LONGEST:
        return "too long"
    bare = normalize_name(plain).replace("_", " ").lower()
    if bare in _PRONOUNS:
        return "pronoun"
    return "generic" if bare in _GENERIC else None


def _fold_text(text: str) -> str:
    """Return a text in capitals, with compatible characters in one form.

    The result of one step may need another step, so the steps repeat until nothing changes.
    """
    if text.isascii():
        return text.upper()
    for _ in range(4):
        folded = unicodedata.normalize("NFKC", text).casefold().upper()
        folded = unicodedata.normalize("NFKC", folded)
        if folded == text:
            break
        text = folded
    return text
