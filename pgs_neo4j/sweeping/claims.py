"""Looks the claims of a finding up in the nodes that it cites, and in their facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.model import Citation
from pgs_neo4j.sweeping.order import SweepOrder
from pgs_neo4j.sweeping.quotes import Wording
from pgs_neo4j.text.claims.check import Known, Material, find_doubts
from pgs_neo4j.text.claims.marking import doubts_of, strike

Cite = Callable[[str], Iterable[Citation]]
"""Resolves the citations of a text."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The texts of what a prompt showed, each prepared once, and what else may be said."""

    wording: Wording
    known: Known
    _materials: dict[str, Material] = field(default_factory=dict)

    def check(self, text: str, cite: Cite) -> tuple[str, ...]:
        """Return why sentences of a finding are in doubt, quotations apart."""

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
        others: Sequence[Material] = (),
    ) -> tuple[str, ...]:
        """Return why a sentence is in doubt; the citations of ``cites`` count.

        Without any, the sentence may rest on ``others``.
        """
        aliases = dict.fromkeys(one.alias for one in cite(cites) if one.valid)
        sources = [self._material(alias) for alias in aliases if alias in self.wording.shown]
        counts = (0, len(sources))
        return find_doubts(sentence, sources or others, self.known, cited=counts, quotes=quotes)

    def _material(self, alias: str) -> Material:
        if alias not in self._materials:
            self._materials[alias] = Material(self.wording.text_of(alias))
        return self._materials[alias]


def known_to(order: SweepOrder) -> Known:
    """Return what the findings of a sweep may say without a citation."""
    names = [order.partition.name, *order.partition.topics]
    for neighbor in order.neighbors:
        names += [neighbor.name, *neighbor.keywords, *neighbor.titles, *neighbor.reached]
    return Known(
        question=Material("\n".join((order.question, strike(order.search_answer or "")))),
        names=Material("\n".join(names)),
        partitions=frozenset((len(order.partition_ids), len(order.neighbors))),
        nodes=frozenset((order.partition.size,)),
    )
