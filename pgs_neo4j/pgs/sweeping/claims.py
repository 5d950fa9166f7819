"""Looks the claims of a report up in the nodes that they cite, and in their facts.

A Domain State sums up its partition and may cite nothing, so a sentence of it without a citation
is looked up in all that its prompt showed. So is a flag that cites nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pgs_neo4j.model import Citation, Node, Relationship
from pgs_neo4j.pgs.sweeping.analogies import render_analogies
from pgs_neo4j.pgs.sweeping.digests import render_digest
from pgs_neo4j.pgs.sweeping.order import SweepOrder
from pgs_neo4j.pgs.sweeping.quotes import Wording
from pgs_neo4j.text.claims.check import Known, find_doubts
from pgs_neo4j.text.claims.marking import doubts_of, strike
from pgs_neo4j.text.claims.sources import Material, Sources

Cite = Callable[[str], Iterable[Citation]]
"""Resolves the citations of a text."""


@dataclass(frozen=True)
class Claims:
    """The texts of what a prompt showed, each prepared once, and what else may be said.

    ``around`` is what stands around the nodes, which a Domain State or a flag may repeat.
    """

    wording: Wording
    known: Known
    around: Material = field(default_factory=lambda: Material(""))
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
        others: Sources = Sources(),  # noqa: B008 — frozen
    ) -> tuple[str, ...]:
        """Return why a sentence is in doubt; the citations of ``cites`` count.

        Without any, the sentence may rest on ``others``.
        """
        cited = self._cited(cites, cite)
        return find_doubts(
            sentence,
            Sources(cited) if cited else others,
            self.known,
            cited=(0, len(cited)),
            quotes=quotes,
            related=Sources(cited),
        )

    def doubt_state(self, sentence: str, cite: Cite) -> tuple[str, ...]:
        """Return why a sentence of a Domain State is in doubt; only its own citations count."""
        return self.doubt_flag(sentence, sentence, cite)

    def doubt_flag(self, sentence: str, cites: str, cite: Cite) -> tuple[str, ...]:
        """Return why a sentence of a flag is in doubt; the citations of ``cites`` count.

        Without any, it may rest on whatever the prompt showed.
        """
        cited = self._cited(cites, cite)
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
        """All that the prompt showed."""
        return Sources((self.around, *map(self._material, self.wording.shown)))

    def _cited(self, cites: str, cite: Cite) -> tuple[Material, ...]:
        """Return the texts of the shown nodes that a text cites, in its order."""
        aliases = dict.fromkeys(one.alias for one in cite(cites) if one.valid)
        return tuple(self._material(alias) for alias in aliases if alias in self.wording.shown)

    def _material(self, alias: str) -> Material:
        if alias not in self._materials:
            self._materials[alias] = Material(self.wording.text_of(alias))
        return self._materials[alias]


def words_around(
    order: SweepOrder, shown: Mapping[str, Node], relationships: Sequence[Relationship], part: str
) -> str:
    """Return what a prompt says around its nodes, and how many of each kind it shows."""
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
