"""Reads partitions as published: routed, and cut at 500,000 characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.model import PromptNode
from pgs_neo4j.pgs.sweeping.pieces import render_node
from pgs_neo4j.text.prompt_text import clean_text

MAX_CHARACTERS = 500_000
CAP = int(PGSConfig.model_fields["max_sweep_partitions"].default)
THRESHOLD = float(PGSConfig.model_fields["partition_relevance_threshold"].default)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphNode:
    """A node as the published procedure holds it."""

    id: str
    text: str
    labels: tuple[str, ...]
    weight: float
    vector: NDArray[np.float64] | None


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A partition of the published procedure."""

    number: int
    nodes: list[GraphNode]

    def by_weight(self) -> list[GraphNode]:
        """The heaviest first."""
        return sorted(self.nodes, key=lambda node: -node.weight)

    def by_alias(self) -> dict[str, str]:
        """The ids of the nodes by what they are called in the prompt."""
        return {f"n{at}": node.id for at, node in enumerate(self.by_weight(), start=1)}

    def within(self) -> list[str]:
        """The nodes at full text, as many as 500,000 characters hold; the rest is dropped."""
        lines: list[str] = []
        size = 0
        for at, node in enumerate(self.by_weight(), start=1):
            text = clean_text(node.text)
            title = text.partition("\n")[0][:100]
            line = render_node(PromptNode(f"n{at}", title, text, node.labels))
            size += len(line) + 1
            if size > MAX_CHARACTERS:
                break
            lines.append(line)
        return lines

    def centroid(self) -> NDArray[np.float32] | None:
        """The plain mean of the members' vectors, at unit length."""
        vectors = [node.vector for node in self.nodes if node.vector is not None]
        return unit(np.mean(vectors, axis=0)).astype(np.float32) if vectors else None


def routed(groups: Sequence[Group], vector: NDArray[np.float32] | None) -> list[Group]:
    """Those at or above the threshold, best first; without vectors all. Up to the cap."""
    if vector is None:
        return list(groups[:CAP])
    scored = [(float(c @ vector), g) for g in groups if (c := g.centroid()) is not None]
    relevant = [pair for pair in scored if pair[0] >= THRESHOLD]
    return [group for _, group in sorted(relevant, key=lambda pair: -pair[0])][:CAP]
