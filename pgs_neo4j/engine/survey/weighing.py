"""Chooses the properties for weights, embedding, and facts of a graph. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.engine.survey import candidates
from pgs_neo4j.engine.survey.values import NodeProperty, RelationshipProperty, Survey, quote_name
from pgs_neo4j.text.shown import percent

MIN_WEIGHT_SHARE = 0.5  # of the nodes or relationships; below it, structure is a better weight
MIN_EMBEDDING_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class PropertyChoice:
    """A property, or None, with one sentence per reason."""

    name: str | None
    notes: tuple[str, ...] = ()


def choose_weight(survey: Survey) -> PropertyChoice:
    """Choose the property that weighs nodes."""
    shares = candidates.sum_node_shares(
        survey, lambda _, candidate: candidates.is_weight(candidate)
    )
    ranges = {
        name: _find_range(p for s in survey.labels for p in s.properties if p.name == name)
        for name in shares
    }
    chosen = _choose_usable("weight", "nodes", ranges, shares, candidates.WEIGHT_WORDS)
    if chosen.name is None:
        return PropertyChoice(
            None, (*chosen.notes, "no weight: nodes with more relationships rank higher")
        )
    return chosen


def choose_relationship_weight(survey: Survey) -> PropertyChoice:
    """Choose the property that weighs relationships."""
    total = sum(sample.count for sample in survey.relationship_types if sample.sampled)
    shares: dict[str, float] = {}
    for sample in survey.relationship_types:
        for candidate in filter(candidates.is_relationship_weight, sample.properties):
            covered = sample.count * candidate.relationships / sample.sampled / total
            shares[candidate.name] = shares.get(candidate.name, 0.0) + covered
    ranges = {
        name: _find_range(
            p for s in survey.relationship_types for p in s.properties if p.name == name
        )
        for name in shares
    }
    vocabulary = candidates.RELATIONSHIP_WEIGHT_WORDS
    chosen = _choose_usable("relationship weight", "relationships", ranges, shares, vocabulary)
    if chosen.name is None:
        return PropertyChoice(
            None, (*chosen.notes, "no relationship weight: all relationships count the same")
        )
    return chosen


def _find_range(properties: Iterable[NodeProperty | RelationshipProperty]) -> tuple[float, float]:
    bounds = [
        (p.least, p.greatest) for p in properties if p.least is not None and p.greatest is not None
    ]
    return min((b[0] for b in bounds), default=0.0), max((b[1] for b in bounds), default=0.0)


def _choose_usable(
    what: str,
    things: str,
    ranges: dict[str, tuple[float, float]],
    shares: dict[str, float],
    vocabulary: tuple[str, ...],
) -> PropertyChoice:
    """Return the best candidate, with notes that say why others are unusable."""
    usable: dict[str, float] = {}
    notes = []
    for name in sorted(shares):
        least, greatest = ranges[name]
        if shares[name] < MIN_WEIGHT_SHARE:
            why = f"is on {percent(shares[name])} of the {things} only"
        elif least < 0:
            why = f"has values below zero ({least:g})"
        elif least == greatest:
            why = f"is the same everywhere ({least:g})"
        else:
            usable[name] = shares[name]
            continue
        notes.append(f"{quote_name(name)} is not proposed as {what}, because it {why}")
    best = candidates.choose_best(usable, vocabulary)
    if best is not None:
        notes.append(f"{what}: {quote_name(best)}, on {percent(usable[best])} of the {things}")
    return PropertyChoice(best, tuple(notes))


def choose_relationship_text(survey: Survey) -> PropertyChoice:
    """Choose the property with the facts that relationships state.

    Texts come before the roles that people play. Among several of these, the property that more
    relationships have wins.
    """
    counts: dict[str, float] = {}
    types: dict[str, list[str]] = {}
    parts = set[str]()
    for sample in survey.relationship_types:
        for item in sample.properties:
            if candidates.is_relationship_text(sample, item):
                counts[item.name] = counts.get(item.name, 0.0) + sample.count * sample.share(item)
                types.setdefault(item.name, []).append(sample.type)
                parts |= {item.name} if candidates.names_role(item) else set()
    best = min(counts, key=lambda name: (name in parts, -counts[name], name), default=None)
    if best is None:
        return PropertyChoice(None)
    note = f"relationship text: {quote_name(best)}, on {', '.join(map(quote_name, types[best]))}"
    others = sorted(counts.keys() - {best})
    if others:
        note += f"; a graph has one, so {', '.join(map(quote_name, others))} would replace it"
    return PropertyChoice(best, (note,))


def choose_embedding(survey: Survey) -> PropertyChoice:
    """Choose the property that holds vectors."""
    shares = candidates.sum_node_shares(
        survey, lambda _, candidate: candidates.is_embedding(candidate)
    )
    usable = {name: share for name, share in shares.items() if share >= MIN_EMBEDDING_SHARE}
    best = candidates.choose_best(usable, candidates.EMBEDDING_WORDS)
    if best is None:
        return PropertyChoice(None, ("no stored embeddings: an embedder compares the questions",))
    sizes = count_embedding_sizes(survey, best)
    common = max(sizes, key=lambda size: (sizes[size], size))
    covered = percent(usable[best])
    note = f"embedding: {quote_name(best)}, {common} dimensions, on {covered} of the nodes"
    if len(sizes) > 1:
        others = ", ".join(str(size) for size in sorted(sizes) if size != common)
        note += f"; vectors of other sizes ({others}) are ignored"
    return PropertyChoice(best, (note,))


def count_embedding_sizes(survey: Survey, name: str) -> dict[int, int]:
    """Return the number of sampled nodes by vector length in a property."""
    sizes: dict[int, int] = {}
    for sample in survey.labels:
        for item in sample.properties:
            if item.name == name:
                for size, nodes in item.sizes:
                    sizes[size] = sizes.get(size, 0) + nodes
    return sizes
