"""Looks up a finding's quotations in the nodes that it cites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.model import Citation, Node, Quote, Relationship
from pgs_neo4j.text.clean import clean_text

# Shorter ones are names or words in scare quotes, not quotations.
LEAST_CHARACTERS = 12
LEAST_WORDS = 3
LONGEST = 1000

_QUOTED = re.compile(
    rf"“([^“”]{{1,{LONGEST}}})”|„([^„“”]{{1,{LONGEST}}})[“”]|«([^«»]{{1,{LONGEST}}})»"
    rf"|(?<![\w\"])\"([^\"]{{1,{LONGEST}}})\"(?![\w\"])"
)
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\[\]]{0,40}\]")  # an ellipsis, or an insertion
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Wording:
    """The nodes that a prompt showed, by alias; the words of each are prepared only once.

    Hundreds of findings may cite the same nodes. ``facts`` are those that the prompt stated of a
    node's relationships.
    """

    shown: Mapping[str, Node]
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _words: dict[str, str] = field(default_factory=dict)

    def of(self, alias: str) -> str:
        """Return the words of a node that was shown, and of its facts."""
        if alias not in self._words:
            node = self.shown[alias]
            texts = (node.text, *self.facts.get(alias, ()))
            self._words[alias] = _words("\n".join((node.title, *map(clean_text, texts))))
        return self._words[alias]


def facts_by_alias(relationships: Iterable[Relationship]) -> dict[str, list[str]]:
    """Return the facts that relationships state, by the aliases of both ends."""
    facts: dict[str, list[str]] = {}
    for link in relationships:
        if link.fact:
            for rank in (link.source, link.target):
                facts.setdefault(f"n{rank + 1}", []).append(link.fact)
    return facts


def find_quotes(text: str) -> list[str]:
    """Return the quotations of a text, in order, each once."""
    quotes = (next(group for group in match.groups() if group) for match in _QUOTED.finditer(text))
    return [quote for quote in dict.fromkeys(quotes) if _is_quotation(quote)]


def check_quotes(text: str, citations: Iterable[Citation], wording: Wording) -> tuple[Quote, ...]:
    """Return a finding's quotations, checked in its valid citations.

    A quotation is found when a cited node says the same words. Letter case, white space, and
    punctuation do not count; an ellipsis matches any text.
    """
    quotes = find_quotes(text)
    if not quotes:
        return ()
    cited = dict.fromkeys(citation.alias for citation in citations if citation.valid)
    texts = [wording.of(alias) for alias in cited if alias in wording.shown]
    sought = [(quote, _parts(quote)) for quote in quotes]
    return tuple(
        Quote(quote, any(_in_sequence(words, parts) for words in texts)) for quote, parts in sought
    )


def quotes_from(text: str, node: Node) -> tuple[str, ...]:
    """Return the quotations of a finding that a node's title or text holds."""
    quotes = find_quotes(text)
    if not quotes:
        return ()
    words = Wording({node.alias: node}).of(node.alias)
    return tuple(quote for quote in quotes if _in_sequence(words, _parts(quote)))


def _is_quotation(quote: str) -> bool:
    return len(quote) >= LEAST_CHARACTERS and len(quote.split()) >= LEAST_WORDS


def _parts(quote: str) -> list[str]:
    """Return the words of a quotation between its ellipses, each part between blanks."""
    parts = (_words(part).strip() for part in _GAP.split(quote))
    return [f" {part} " for part in parts if part]


def _in_sequence(words: str, parts: list[str]) -> bool:
    """Return whether all parts occur one after the other; two may share a blank."""
    start = 0
    for part in parts:
        at = words.find(part, start)
        if at < 0:
            return False
        start = at + len(part) - 1
    return True


def _words(text: str) -> str:
    """Return the words of a text between blanks, for whole-word search."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return f" {_NO_WORD.sub(' ', plain).strip()} "
