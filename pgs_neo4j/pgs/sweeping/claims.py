"""Checks the quotations and claims of a report against the nodes that it cites.

Claims may also rest on the facts of those nodes. A Domain State summarizes its partition and need
not cite anything, so its sentences without a citation are checked against everything that the
prompt showed. The same holds for a flag without a citation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pgs_neo4j.model import Citation, Node, Quote, Relationship
from pgs_neo4j.pgs.sweeping.neighbors import render_analogies, render_digest
from pgs_neo4j.pgs.sweeping.order import SweepOrder
from pgs_neo4j.text.claims.check import Known, find_doubts
from pgs_neo4j.text.claims.marking import doubts_of, strike
from pgs_neo4j.text.claims.sources import Material, Sources
from pgs_neo4j.text.invisible import is_plainly_visible
from pgs_neo4j.text.normal_form import flatten, join
from pgs_neo4j.text.prompt_text import clean_text

# Shorter texts in quotation marks are names or words in scare quotes, not quotations.
LEAST_CHARACTERS = 12
LEAST_WORDS = 3
LONGEST = 1000
_QUOTED = re.compile(
    rf"“([^“”]{{1,{LONGEST}}})”|„([^„“”]{{1,{LONGEST}}})[“”]|«([^«»]{{1,{LONGEST}}})»"
    rf"|(?<![\w\"])\"([^\"]{{1,{LONGEST}}})\"(?![\w\"])"
)
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\[\]]{0,40}\]")  # an ellipsis, or an insertion


@dataclass(frozen=True, slots=True)
class ShownWords:
    """The nodes that a prompt showed, by alias, with their words in normal form.

    The words of each node are prepared only once, because hundreds of findings may cite the same
    nodes. ``facts`` are the facts that other nodes state about a node, and ``links`` name its
    relationships and the nodes at their other ends; both are by alias.
    """

    shown: Mapping[str, Node]
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _words: dict[str, str] = field(default_factory=dict)

    def text_of(self, alias: str) -> str:
        """Return everything the prompt said about a node: title, labels, text, facts, and links."""
        node = self.shown[alias]
        head = (node.title, node.key, *node.labels)
        facts, links = self.facts.get(alias, ()), self.links.get(alias, ())
        return "\n".join((*head, node.text, *facts, *links))

    def words_of(self, alias: str) -> str:
        """Return the words of a node and of the facts about it, in normal form."""
        if alias not in self._words:
            node = self.shown[alias]
            texts = (node.text, *self.facts.get(alias, ()))
            shown = "\n".join((node.title, *map(clean_text, texts)))
            if not all(map(is_plainly_visible, texts)):
                # Where invisible characters divide words, a reply may join the words or leave them
                # divided.
                shown = "\n".join((shown, *texts))
            self._words[alias] = "".join(dict.fromkeys((flatten(shown), flatten(join(shown)))))
        return self._words[alias]


def links_by_alias(
    relationships: Iterable[Relationship], shown: Mapping[str, Node]
) -> dict[str, list[str]]:
    """Return a node's relationships by its alias: type, name, and the title of the other end."""
    links: dict[str, list[str]] = {}
    for link in relationships:
        ends = f"n{link.source + 1}", f"n{link.target + 1}"
        for alias, other in (ends, ends[::-1]):
            title = shown[other].title if other in shown else ""
            links.setdefault(alias, []).append(f"{link.type} {link.name} {title}")
    return links


def facts_by_target(shown: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return the facts that other nodes state about a node, by its alias.

    A fact is about both ends of its relationship, but only the text of its source contains it.
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
    """Return the distinct quotations of a text, in order."""
    quotes = (next(group for group in match.groups() if group) for match in _QUOTED.finditer(text))
    return [quote for quote in dict.fromkeys(quotes) if _is_quotation(quote)]


def check_quotes(
    text: str, citations: Iterable[Citation], wording: ShownWords
) -> tuple[Quote, ...]:
    """Return a finding's quotations, checked against the nodes that it validly cites.

    A quotation is found if a cited node contains the same words. Letter case, white space, and
    punctuation do not count; an ellipsis matches any text.
    """
    quotes = find_quotes(text)
    if not quotes:
        return ()
    cited = dict.fromkeys(citation.alias for citation in citations if citation.valid)
    texts = [wording.words_of(alias) for alias in cited if alias in wording.shown]
    sought = [(quote, _quote_parts(quote)) for quote in quotes]
    return tuple(
        Quote(quote, any(_contains(words, parts) for words in texts)) for quote, parts in sought
    )


def find_node_quotes(text: str, node: Node) -> tuple[str, ...]:
    """Return the quotations of a finding that a node's title or text contains."""
    quotes = find_quotes(text)
    if not quotes:
        return ()
    words = ShownWords({node.alias: node}).words_of(node.alias)
    return tuple(quote for quote in quotes if _contains(words, _quote_parts(quote)))


def _is_quotation(quote: str) -> bool:
    return len(quote) >= LEAST_CHARACTERS and len(quote.split()) >= LEAST_WORDS


def _quote_parts(quote: str) -> list[list[str]]:
    """Return the parts of a quotation between its ellipses, in two spellings.

    In the first, a hyphen divides two words; in the second, it joins them. Each part begins and
    ends with a blank.
    """
    parts = [part for part in _GAP.split(quote) if flatten(part).strip()]
    return [[flatten(part) for part in parts], [flatten(join(part)) for part in parts]]


def _contains(words: str, spellings: Iterable[list[str]]) -> bool:
    return any(_in_sequence(words, parts) for parts in spellings)


def _in_sequence(words: str, parts: list[str]) -> bool:
    """Return whether all parts occur one after the other; neighboring parts may share a blank."""
    start = 0
    for part in parts:
        at = words.find(part, start)
        if at < 0:
            return False
        start = at + len(part) - 1
    return True


Cite = Callable[[str], Iterable[Citation]]
"""Resolves the citations of a text."""


@dataclass(frozen=True)
class ClaimChecker:
    """Checks sentences against the nodes that a prompt showed; each node's text is prepared once.

    ``known`` has everything that a sentence may say without a citation. ``around`` is the text
    around the nodes in the prompt, which a Domain State or a flag may repeat.
    """

    wording: ShownWords
    known: Known
    around: Material = field(default_factory=lambda: Material(""))
    _materials: dict[str, Material] = field(default_factory=dict)

    def check(self, text: str, cite: Cite) -> tuple[str, ...]:
        """Return why sentences of a finding are in doubt; quotations are not checked here."""

        def doubt(sentence: str, cites: str) -> tuple[str, ...]:
            return self.doubt(sentence, cites, cite, quotes=False)

        return tuple(doubts_of(text, doubt))

    def doubt(
        self,
        sentence: str,
        cites: str,
        cite: Cite,
        *,
        quotes: bool = True,
        others: Sources = Sources(),  # noqa: B008 — frozen
    ) -> tuple[str, ...]:
        """Return why a sentence is in doubt, checked against the nodes that ``cites`` cites.

        If it cites none, the sentence is checked against ``others``.
        """
        cited = self._cited_materials(cites, cite)
        return find_doubts(
            sentence,
            Sources(cited) if cited else others,
            self.known,
            cited=(0, len(cited)),
            quotes=quotes,
            related=Sources(cited),
        )

    def doubt_state(self, sentence: str, cite: Cite) -> tuple[str, ...]:
        """Return why a sentence of a Domain State, including its citations, is in doubt."""
        return self.doubt_flag(sentence, sentence, cite)

    def doubt_flag(self, sentence: str, cites: str, cite: Cite) -> tuple[str, ...]:
        """Return why a sentence of a flag is in doubt, checked against the nodes ``cites`` cites.

        If it cites none, the sentence is checked against everything that the prompt showed.
        """
        cited = self._cited_materials(cites, cite)
        return find_doubts(
            sentence,
            Sources((self.around, *cited)) if cited else self._everything,
            self.known,
            cited=(0, len(cited) or len(self.wording.shown)),
            where="cited node" if cited else "node of its partition",
            related=Sources(cited),
        )

    @cached_property
    def _everything(self) -> Sources:
        """Everything that the prompt showed."""
        return Sources((self.around, *map(self._material, self.wording.shown)))

    def _cited_materials(self, cites: str, cite: Cite) -> tuple[Material, ...]:
        """Return the texts of the shown nodes that ``cites`` cites, in order of citation."""
        aliases = dict.fromkeys(one.alias for one in cite(cites) if one.valid)
        return tuple(self._material(alias) for alias in aliases if alias in self.wording.shown)

    def _material(self, alias: str) -> Material:
        if alias not in self._materials:
            self._materials[alias] = Material(self.wording.text_of(alias))
        return self._materials[alias]


def render_surroundings(
    order: SweepOrder, shown: Mapping[str, Node], relationships: Sequence[Relationship], part: str
) -> str:
    """Return the text of a prompt around its nodes, and its counts of nodes and relationships.

    ``part`` is the label of the pass. A Domain State may state the counts of each label and type.
    """
    partition = order.partition
    labels = Counter(label for node in shown.values() for label in node.labels)
    types = Counter(one.type for one in relationships)
    counted = [f"{count} {name}" for name, count in (labels + types).items()]
    return "\n".join(
        (
            f"Partition {partition.name}: {partition.size} nodes, part {part}, {len(shown)} here.",
            f"{len(relationships)} relationships.",
            *counted,
            *map(render_digest, order.neighbors),
            render_analogies(order.analogies),
        )
    )


def collect_uncited_facts(order: SweepOrder) -> Known:
    """Return the facts that findings of a sweep may state without a citation.

    These facts are the question, an answer from a search, the names and keywords of the partition
    and its neighbors, and the counts of partitions and nodes.
    """
    names = [order.partition.name, *order.partition.topics]
    for neighbor in order.neighbors:
        names += [neighbor.name, *neighbor.keywords, *neighbor.titles, *neighbor.reached]
    return Known(
        question=Material("\n".join((order.question, strike(order.search_answer or "")))),
        names=Material("\n".join(names)),
        partitions=frozenset((len(order.partition_ids), len(order.neighbors))),
        nodes=frozenset((order.partition.size,)),
    )
