"""Which properties serve as weights and as the embedding of a graph. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.survey import candidates
from pgs_neo4j.survey.values import NodeProperty, RelationshipProperty, Survey
from pgs_neo4j.survey.wording import percent, shown

MIN_WEIGHT_SHARE = 0.5  # of the nodes, or relationships; below, structure is the better weight
MIN_EMBEDDING_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Choice:
    """A property or none, and one sentence per reason."""

    name: str | None
    notes: tuple[str, ...] = ()


def weight(survey: Survey) -> Choice:
    """The property that says how much a node matters."""
    shares = candidates.node_shares(survey, lambda _, found: candidates.is_weight(found))
    ranges = {
        name: _range(p for s in survey.labels for p in s.properties if p.name == name)
        for name in shares
    }
    chosen = _weighing("weight", "nodes", ranges, shares, candidates.WEIGHT_WORDS)
    if chosen.name is None:
        return Choice(None, (*chosen.notes, "no weight: nodes with more relationships come first"))
    return chosen


def relationship_weight(survey: Survey) -> Choice:
    """The property that says how strongly a relationship binds."""
    total = sum(sample.count for sample in survey.relationship_types if sample.sampled)
    shares: dict[str, float] = {}
    for sample in survey.relationship_types:
        for found in filter(candidates.is_relationship_weight, sample.properties):
            covered = sample.count * found.relationships / sample.sampled / total
            shares[found.name] = shares.get(found.name, 0.0) + covered
    ranges = {
        name: _range(p for s in survey.relationship_types for p in s.properties if p.name == name)
        for name in shares
    }
    known = candidates.RELATIONSHIP_WEIGHT_WORDS
    chosen = _weighing("relationship weight", "relationships", ranges, shares, known)
    if chosen.name is None:
        return Choice(None, (*chosen.notes, "no relationship weight: all of them count alike"))
    return chosen


def _range(found: Iterable[NodeProperty | RelationshipProperty]) -> tuple[float, float]:
    bounds = [
        (p.least, p.greatest) for p in found if p.least is not None and p.greatest is not None
    ]
    return min((b[0] for b in bounds), default=0.0), max((b[1] for b in bounds), default=0.0)


def _weighing(
    what: str,
    things: str,
    ranges: dict[str, tuple[float, float]],
    shares: dict[str, float],
    known: tuple[str, ...],
) -> Choice:
    """The weight among those called one; those that cannot serve are told with the reason."""
    usable: dict[str, float] = {}
    notes = []
    for name in sorted(shares):
        least, greatest = ranges[name]
        if shares[name] < MIN_WEIGHT_SHARE:
            why = f"stands on {percent(shares[name])} of the {things} only"
        elif least < 0:
            why = f"goes below zero ({least:g})"
        elif least == greatest:
            why = f"is the same everywhere ({least:g})"
        else:
            usable[name] = shares[name]
            continue
        notes.append(f"{shown(name)} is not proposed as {what}, because it {why}")
    best = candidates.best(usable, known)
    if best is not None:
        notes.append(f"{what}: {shown(best)}, on {percent(usable[best])} of the {things}")
    return Choice(best, tuple(notes))


def embedding(survey: Survey) -> Choice:
    """The property that holds vectors."""
    shares = candidates.node_shares(survey, lambda _, found: candidates.is_embedding(found))
    usable = {name: share for name, share in shares.items() if share >= MIN_EMBEDDING_SHARE}
    best = candidates.best(usable, candidates.EMBEDDING_WORDS)
    if best is None:
        return Choice(None, ("no stored embeddings: questions are compared by an embedder",))
    sizes = embedding_sizes(survey, best)
    common = max(sizes, key=lambda size: (sizes[size], size))
    note = f"embedding: {shown(best)}, {common} dimensions, on {percent(usable[best])} of the nodes"
    if len(sizes) > 1:
        others = ", ".join(str(size) for size in sorted(sizes) if size != common)
        note += f"; vectors of other sizes ({others}) are left aside"
    return Choice(best, (note,))


def embedding_sizes(survey: Survey, name: str) -> dict[int, int]:
    """Length of the vectors under that name to the sampled nodes that have it."""
    sizes: dict[int, int] = {}
    for sample in survey.labels:
        for found in sample.properties:
            if found.name == name:
                for size, nodes in found.sizes:
                    sizes[size] = sizes.get(size, 0) + nodes
    return sizes
