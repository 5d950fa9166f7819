"""Looks up a finding's quotations in the nodes that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.model import Citation, Node, Quote, Relationship
from pgs_neo4j.text.clean import clean_text
from pgs_neo4j.text.invisible import is_plainly_visible
from pgs_neo4j.text.normal_form import flatten, join

# Shorter ones are names or words in scare quotes, not quotations.
LEAST_CHARACTERS = 12
LEAST_WORDS = 3
LONGEST = 1000

_QUOTED = re.compile(
    rf"“([^“”]{{1,{LONGEST}}})”|„([^„“”]{{1,{LONGEST}}})[“”]|«([^«»]{{1,{LONGEST}}})»"
    rf"|(?<![\w\"])\"([^\"]{{1,{LONGEST}}})\"(?![\w\"])"
)
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\[\]]{0,40}\]")  # an ellipsis, or an insertion


@dataclass(frozen=True, slots=True)
class Wording:
    """The nodes that a prompt showed, by alias; the words of each are prepared only once.

    Hundreds of findings may cite the same nodes. ``facts`` are those that other nodes state of a
    node, and ``links`` name its relationships and their other ends.
    """

    shown: Mapping[str, Node]
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _words: dict[str, str] = field(default_factory=dict)

    def text_of(self, alias: str) -> str:
        """Return all that the prompt said of a node: title, labels, text, facts, and links."""
        node = self.shown[alias]
        head = (node.title, node.key, *node.labels)
        facts, links = self.facts.get(alias, ()), self.links.get(alias, ())
        return "\n".join((*head, node.text, *facts, *links))

    def of(self, alias: str) -> str:
        """Return the words of a node that was shown, and of the facts about it."""
        if alias not in self._words:
            node = self.shown[alias]
            texts = (node.text, *self.facts.get(alias, ()))
            shown = "\n".join((node.title, *map(clean_text, texts)))
            if not all(map(is_plainly_visible, texts)):
                # A reply may repair the words that invisible signs divide, or leave them divided.
                shown = "\n".join((shown, *texts))
            self._words[alias] = "".join(dict.fromkeys((flatten(shown), flatten(join(shown)))))
        return self._words[alias]


def links_by_alias(
    relationships: Iterable[Relationship], shown: Mapping[str, Node]
) -> dict[str, list[str]]:
    """Return the names of relationships and of their other ends, by the aliases of both ends."""
    links: dict[str, list[str]] = {}
    for link in relationships:
        ends = f"n{link.source + 1}", f"n{link.target + 1}"
        for alias, other in (ends, ends[::-1]):
            title = shown[other].title if other in shown else ""
            links.setdefault(alias, []).append(f"{link.type} {link.name} {title}")
    return links


def facts_by_target(shown: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return the facts that nodes state of others, by the aliases of these.

    A fact is about both ends. The text of its source holds it, and that of its target does not.
    """
    if not any(node.facts for node in shown.values()):
        return {}
    aliases = {node.element_id: alias for alias, node in shown.items()}
    facts: dict[str, list[str]] = {}
    for node in shown.values():
        for fact in node.facts:
            if fact.target in aliases and fact.target != node.element_id:
                facts.setdefault(aliases[fact.target], []).append(fact.text)
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
        Quote(quote, any(_says(words, parts) for words in texts)) for quote, parts in sought
    )


def quotes_from(text: str, node: Node) -> tuple[str, ...]:
    """Return the quotations of a finding that a node's title or text holds."""
    quotes = find_quotes(text)
    if not quotes:
        return ()
    words = Wording({node.alias: node}).of(node.alias)
    return tuple(quote for quote in quotes if _says(words, _parts(quote)))


def _is_quotation(quote: str) -> bool:
    return len(quote) >= LEAST_CHARACTERS and len(quote.split()) >= LEAST_WORDS


def _parts(quote: str) -> list[list[str]]:
    """Return the words of a quotation between its ellipses, each part between blanks.

    They are there twice: a hyphen divides two words, or it joins them.
    """
    parts = [part for part in _GAP.split(quote) if flatten(part).strip()]
    return [[flatten(part) for part in parts], [flatten(join(part)) for part in parts]]


def _says(words: str, spellings: Iterable[list[str]]) -> bool:
    return any(_in_sequence(words, parts) for parts in spellings)


def _in_sequence(words: str, parts: list[str]) -> bool:
    """Return whether all parts occur one after the other; two may share a blank."""
    start = 0
    for part in parts:
        at = words.find(part, start)
        if at < 0:
            return False
        start = at + len(part) - 1
    return True
