"""Extracts keywords from a question without a model: the names it mentions, and its themes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgs_neo4j.text.words import STOP_WORDS, phrases, words

MOST = 10
"""Maximum number of keywords of each kind; the published default of the FalkorDB GraphRAG SDK."""

_QUOTED = re.compile(r"“([^“”]{2,80})”|„([^„“”]{2,80})[“”]|«([^«»]{2,80})»|\"([^\"]{2,80})\"")
# Words with a capital or a digit, joined by blanks; small words may link them.
_NAME = re.compile(
    r"(?<![\w.+#/&-])[\w.+#/&-]*[A-Z\d][\w.+#/&-]*"
    r"(?:\s+(?:(?:of|of the|de|van|von|der|la|le)\s+)?[A-Z\d][\w.+#/&-]*)*"
)
_TRAILING = " .,;:!?/&-"


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords in the order of the question, in lower case, at most ``MOST`` of each kind.

    ``low`` are names of things; ``high`` are themes.
    """

    low: tuple[str, ...]
    high: tuple[str, ...]


def extract_keywords(question: str) -> Keywords:
    """Return quoted phrases and names as ``low``, and other content words as ``high``.

    Without any name, ``low`` has pairs of content words, or single words if there are no pairs.
    """
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(question)]
    rest = _QUOTED.sub(" . ", question)
    low = _drop_repeats([*quoted, *_find_names(rest)])
    named = {word for name in low for word in words(name)}
    high = _drop_repeats([word for word in words(question) if word not in named])
    if not low:
        low = _drop_repeats([f"{one} {other}" for one, other in phrases(question)]) or high
    return Keywords(tuple(low[:MOST]), tuple((high or low)[:MOST]))


def _find_names(text: str) -> list[str]:
    """Return the names of a text in order, without stop words at their beginnings."""
    names = []
    for match in _NAME.finditer(text):
        name = match[0].rstrip(_TRAILING)
        first = text[: match.start()].rstrip()
        parts = name.split()
        if (not first or first[-1] in ".!?:") and parts[0].lower() in STOP_WORDS:
            parts = parts[1:]  # the first word of a sentence always has a capital
        while parts and parts[0].lower() in STOP_WORDS:
            parts = parts[1:]
        if parts:
            names.append(" ".join(parts))
    return names


def _drop_repeats(texts: list[str]) -> list[str]:
    stripped = (" ".join(text.casefold().strip(_TRAILING).split()) for text in texts)
    return [*dict.fromkeys(text for text in stripped if text)]
