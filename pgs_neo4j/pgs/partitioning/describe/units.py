"""Describes the hierarchy above the partitions from their descriptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Partition, Unit
from pgs_neo4j.model.graph import LABEL_JOINT
from pgs_neo4j.pgs.partitioning.describe.titles import TITLES
from pgs_neo4j.text.terms.labels import LABEL_TERMS, TERMS

KEYWORDS = 20


def build(
    partitions: Sequence[Partition], levels: Sequence[NDArray[np.int64]]
) -> tuple[list[Partition], list[Unit]]:
    """Build the units above the partitions.

    Returns the partitions with their parents, and the units by level and id. Each of ``levels`` is
    ``(k,)``, the positions of parents as :func:`pgs_neo4j.graph.hierarchy.hierarchy` returns them.
    Partition ids count from 1.
    """
    below: Sequence[Partition | Unit] = partitions
    above: list[list[Unit]] = []
    for number, place in enumerate(levels, start=1):
        children: dict[int, list[Partition | Unit]] = defaultdict(list)
        for child, at in zip(below, place.tolist(), strict=True):
            children[at].append(child)
        level = [_make_unit(number, at + 1, children[at]) for at in sorted(children)]
        above.append(level)
        below = level
    parents = [(place + 1).tolist() for place in levels]
    linked = [
        [replace(unit, parent=parent) for unit, parent in zip(level, parent_ids, strict=True)]
        for level, parent_ids in zip(above[:-1], parents[1:], strict=True)
    ]
    units = [unit for level in (*linked, *above[-1:]) for unit in level]
    if not parents:
        return list(partitions), units
    return [replace(p, parent=q) for p, q in zip(partitions, parents[0], strict=True)], units


def _make_unit(level: int, number: int, children: Sequence[Partition | Unit]) -> Unit:
    terms = _rank_texts([(child.size, child.terms) for child in children])
    return Unit(
        id=number,
        level=level,
        size=sum(child.size for child in children),
        partitions=sum(child.partitions if isinstance(child, Unit) else 1 for child in children),
        keywords=_rank_texts([(child.size, child.keywords) for child in children])[:KEYWORDS],
        centroid=_average_centroids(children),
        label=LABEL_JOINT.join(terms[:LABEL_TERMS]),
        terms=terms[:TERMS],
        titles=_rank_texts([(child.size, child.titles) for child in children])[:TITLES],
    )


def _rank_texts(children: Sequence[tuple[int, tuple[str, ...]]]) -> tuple[str, ...]:
    """Merge the texts of children into one ranking.

    Each child is a pair of its number of nodes and its texts, best first. The score of a text is
    the number of nodes divided by the rank of the text, summed over all children.
    """
    score: dict[str, float] = defaultdict(float)
    for size, texts in children:
        for place, text in enumerate(texts):
            score[text] += size / (1 + place)
    return tuple(sorted(score, key=lambda text: (-score[text], text)))


def _average_centroids(children: Sequence[Partition | Unit]) -> NDArray[np.float32] | None:
    with_centroid = [child for child in children if child.centroid is not None]
    if not with_centroid:
        return None
    rows = np.array([child.centroid for child in with_centroid], dtype=np.float64)
    mean = np.average(rows, axis=0, weights=[child.size for child in with_centroid])
    return np.asarray(mean, dtype=np.float32)
