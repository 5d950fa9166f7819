"""Proposes a graph mapping from a survey, and says why. Pure.

A mapping has one title, key, weight, and embedding for all labels, so the property that
suits the most nodes wins. Nodes with several labels count once per label.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.survey import candidates
from pgs_neo4j.survey.values import LabelSample, NodeProperty, Survey
from pgs_neo4j.survey.weighing import Choice, embedding, relationship_weight, weight
from pgs_neo4j.survey.wording import percent, shown

MAX_LISTED = 10


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping that suits the database, and one sentence per decision."""

    mapping: GraphMapping
    notes: tuple[str, ...]


def propose(survey: Survey) -> Proposal:
    """The mapping that a survey suggests: all labels and types, and what the properties mean.

    Ties go to the name that comes first in the lists of ``candidates``, then in the alphabet.
    """
    if not survey.nodes:
        return Proposal(GraphMapping(), ("the database holds no nodes yet, so load some first",))
    title, key = _title(survey), _key(survey)
    text, text_notes = _text(survey, title.name)
    node_weight, edge_weight = weight(survey), relationship_weight(survey)
    vector = embedding(survey)
    mapping = GraphMapping(
        text=text,
        title=title.name,
        key=key.name,
        weight=node_weight.name,
        relationship_weight=edge_weight.name,
        embedding=vector.name,
    )
    choices = (title, key, node_weight, edge_weight, vector)
    notes = (
        "all labels and relationship types take part, those of pgs_neo4j itself aside",
        *text_notes,
        *(note for choice in choices for note in choice.notes),
    )
    return Proposal(mapping, notes)


def _title(survey: Survey) -> Choice:
    shares = candidates.node_shares(survey, candidates.is_title)
    best = candidates.best(shares, candidates.TITLE_WORDS)
    if best is None:
        note = "no property looks like a title, so the first line of the text stands in"
        return Choice(None, (note,))
    return Choice(best, (f"title: {shown(best)}, on {percent(shares[best])} of the nodes",))


def _text(survey: Survey, title: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lengths: dict[str, list[float]] = {}
    silent = []
    for sample in survey.labels:
        texts = _texts_of(sample, title)
        for found in texts:
            lengths.setdefault(found.name, []).append(found.mean_length or 0.0)
        if sample.sampled and not texts:
            silent.append(sample.label)
    # Short before long, so that what names a thing stands before what describes it.
    order = tuple(sorted(lengths, key=lambda name: (name != title, max(lengths[name]), name)))
    listed = ", ".join(map(shown, order))
    notes = [f"text: {listed}, in this order" if order else "no property looks like text"]
    if order and silent:
        some = ", ".join(shown(label) if label else "(no label)" for label in silent[:MAX_LISTED])
        more = f" and {len(silent) - MAX_LISTED} more" if len(silent) > MAX_LISTED else ""
        notes.append(f"no text on {some}{more}, whose nodes count for structure only")
    return order, tuple(notes)


def _texts_of(sample: LabelSample, title: str | None) -> list[NodeProperty]:
    """The prose of a label and its title; without prose what is called a name or a text."""
    prose = [found for found in sample.properties if candidates.is_prose(sample, found)]
    if prose:
        titled = [
            found
            for found in sample.properties
            if found.name == title and found not in prose and candidates.is_title(sample, found)
        ]
        return titled + prose
    return [
        found
        for found in sample.properties
        if candidates.is_title(sample, found) or candidates.is_named_text(sample, found)
    ]


def _key(survey: Survey) -> Choice:
    shares = candidates.node_shares(survey, candidates.is_key)
    backed = candidates.node_shares(survey, lambda _, found: found.unique)

    def merit(name: str) -> tuple[bool, bool, float]:
        by_constraint = backed.get(name, 0.0) > 0.5 * shares[name]
        return shares[name] >= 0.5, by_constraint, round(shares[name], 2)

    if not shares:
        note = "no property tells all nodes apart, so citations carry ids of the database"
        return Choice(None, (note,))
    top = max(merit(name) for name in shares)
    tied = {name: share for name, share in shares.items() if merit(name) == top}
    best = candidates.best(tied, candidates.KEY_WORDS)
    assert best is not None
    why = "by a constraint" if top[1] else "in the sample"
    note = f"key: {shown(best)}, unique {why} on {percent(shares[best])} of the nodes"
    return Choice(best, (note,))
