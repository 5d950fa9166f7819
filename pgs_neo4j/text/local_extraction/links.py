"""Relations that a chunk's own form states: definitions, headings, and links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.local_extraction.tokens import TOKEN, WORD, key_of, word_of

IS_A, PART_OF, LINKS_TO = "is a", "part of", "links to"
LONGEST_TITLE = 80
LONGEST_SUBJECT = 5
"""Words of a term that a sentence defines."""

_IS = re.compile(r"\s(?:is|are|was|were)\s+(?:an?|the|one of(?: the)?)\s", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*\([^()]{0,200}\)")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{2,80})\](?:\([^()\s]{1,500}\)|\[[^\[\]\n]{0,80}\])")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_EDGES = re.compile(r"^[\s#>:.,-]+|[^\w)+#\]!?]+$|\s+#+$")
_SUBJECT = re.compile(r"[^.,;:!?\n]{2,120}")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


class StatedRelation(NamedTuple):
    """A relation between two names, with the number of its sentence."""

    source: str
    keyword: str
    target: str
    sentence: int


def find_definitions(chunk: Chunk, terms: Mapping[str, str]) -> Iterator[StatedRelation]:
    """Yield what sentences say a term is; ``terms`` maps keys to names."""
    for number, one in enumerate(chunk.sentences, 1):
        if one.kind != "prose":
            continue
        text = chunk.text[one.start : one.end]
        verb = _IS.search(text, 0, 200)
        if verb is None:
            continue
        subject = _ARTICLE.sub("", _BRACKETS.sub("", text[: verb.start()]).strip(" \n-*>`\"'"))
        if not _SUBJECT.fullmatch(subject) or subject.count(" ") >= LONGEST_SUBJECT:
            continue
        source = terms.get(_key(subject))
        target = _class_in(text[verb.end() : verb.end() + 120], terms)
        if source and target and source != target:
            yield StatedRelation(source, IS_A, target, number)


def find_headings(chunk: Chunk) -> Iterator[StatedRelation]:
    """Yield each heading of a chunk with the one above it."""
    above: list[tuple[int, str]] = [(0, title) for title in chunk.path[-1:]]
    for number, one in enumerate(chunk.sentences, 1):
        if one.kind != "heading":
            continue
        title = title_of(chunk.text[one.start : one.end])
        while above and above[-1][0] >= one.level:
            above.pop()
        if title and above and above[-1][1] != title:
            yield StatedRelation(title, PART_OF, above[-1][1], number)
        if title:
            above.append((one.level, title))


def find_links(chunk: Chunk) -> Iterator[StatedRelation]:
    """Yield the links of a chunk, from the heading above each."""
    title = chunk.path[-1] if chunk.path else ""
    for number, one in enumerate(chunk.sentences, 1):
        text = chunk.text[one.start : one.end]
        if one.kind == "heading":
            title = title_of(text) or title
        elif (title and "](" in text) or "][" in text:
            for match in _LINK.finditer(text):
                name = _plain(match[1])
                if name.lower() != title.lower() and any(map(str.isalpha, name)):
                    yield StatedRelation(title, LINKS_TO, name, number)


def title_of(text: str) -> str:
    """Return the words of a heading, empty if there are too many for a name."""
    line = text.strip().partition("\n")[0]
    title = _plain(_LINK.sub(r"\1", line))
    return title if len(title) <= LONGEST_TITLE else ""


def _plain(text: str) -> str:
    """Return the words of a title without marks inside and around them."""
    return _EDGES.sub("", " ".join(_EMPHASIS.sub("", text).split()))


def _class_in(text: str, terms: Mapping[str, str]) -> str | None:
    """Return the term that the words after the verb begin with; a later one within them counts."""
    words = [word_of(piece) for piece in TOKEN.split(text)[1::2]][:8]
    for first, word in enumerate(words):
        if word.kind < WORD:
            if first > 2:
                return None
            continue
        for last in range(min(len(words), first + 3), first, -1):
            name = terms.get(" ".join(one.key for one in words[first:last]))
            if name is not None:
                return name
    return None


def _key(text: str) -> str:
    return key_of(" ".join(TOKEN.split(text)[1::2]))
