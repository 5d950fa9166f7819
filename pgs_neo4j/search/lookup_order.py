"""Describes what a lookup searches, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search.nodes import PlacedNode
from pgs_neo4j.text import node_text
from pgs_neo4j.text.matching import Hit, Page

# One scan reads at most this much: about 200 MB of text, which takes the server seconds.
MAX_NODES = 1_000_000
MAX_TOKENS = 50_000_000
CANDIDATES = 200  # nodes to verify for each search at a time
TEXTS = 200  # nodes whose texts are read at once


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupOrder:
    """The generation to search, with all its ``partitions``.

    Partitions whose ids are in ``first`` are searched before the others. ``outdated`` means that
    texts may have changed since they were indexed, so the index cannot prove that words are absent.
    """

    mapping: GraphMapping
    generation: str
    partitions: tuple[Partition, ...]
    first: frozenset[int] = frozenset()
    outdated: bool = False
    max_nodes: int = MAX_NODES
    max_tokens: int = MAX_TOKENS

    @property
    def sequence(self) -> list[Partition]:
        """The partitions in search order: those in ``first``, then by id."""
        return sorted(
            self.partitions, key=lambda partition: (partition.id not in self.first, partition.id)
        )

    @property
    def properties(self) -> list[dict[str, Any]]:
        """The properties to search, the same properties that a prompt shows."""
        return self.mapping.searched_properties

    @property
    def texts(self) -> int:
        """The number of nodes with text."""
        return sum(partition.texts for partition in self.partitions)

    def count_texts(self, searched: int) -> int:
        """Return how many of the first ``searched`` nodes in search order have text."""
        count = 0
        for partition in self.sequence:
            if searched <= 0:
                return count
            count, searched = count + partition.texts, searched - partition.size
        return count

    @property
    def fits(self) -> bool:
        """Whether one scan may read all partitions."""
        return len(self.fitting) == len(self.partitions)

    @property
    def fitting(self) -> list[Partition]:
        """The partitions that one scan may read, in search order."""
        fitting, nodes, tokens = [], 0, 0
        for partition in self.sequence:
            if (
                nodes + partition.size <= self.max_nodes
                and tokens + partition.tokens <= self.max_tokens
            ):
                fitting.append(partition)
                nodes, tokens = nodes + partition.size, tokens + partition.tokens
        return fitting


def make_page(placed: PlacedNode, names: Iterable[str] = ()) -> Page:
    """Return a node's text as a page to search, with the ``names`` of labels and relationships."""
    row = placed.row
    text = node_text.searched_text((row["title"], *row["text"]))
    return Page.of("\n\n".join((text, *names)))


def make_hit(placed: PlacedNode) -> Hit:
    """Return the hit for a node that matches."""
    node = placed.node
    return Hit(
        partition=placed.place.partition,
        rank=node.rank,
        element_id=node.element_id,
        key=node.key,
        title=node.title,
    )
