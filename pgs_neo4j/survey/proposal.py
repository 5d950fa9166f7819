"""Proposes a graph mapping from a survey and gives the reasons. Pure.

A mapping has one title, key, weight, and embedding for all labels, so the property that suits
most nodes wins. Nodes with several labels count once per label.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.survey import candidates
from pgs_neo4j.survey.names import KEY_WORDS, TITLE_WORDS
from pgs_neo4j.survey.recognition import Recognition, map_schema, note_schema, recognize
from pgs_neo4j.survey.values import LabelSample, NodeProperty, Survey
from pgs_neo4j.survey.weighing import (
    PropertyChoice,
    choose_embedding,
    choose_relationship_weight,
    choose_weight,
)
from pgs_neo4j.survey.wording import quote_name
from pgs_neo4j.text.shown import percent

MAX_LISTED = 10
MIN_DISTINCT = 0.8  # of the nodes with a title; below, it names too little


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping that suits the database, with one sentence per decision.

    ``recognized`` names the system whose published schema the database follows.
    """

    mapping: GraphMapping
    notes: tuple[str, ...]
    recognized: str | None = None


def propose(survey: Survey) -> Proposal:
    """Propose a mapping of all labels and types, or that of a published schema.

    Ties go to the name that is first in the lists of ``candidates``, then in the alphabet.
    """
    if not survey.nodes:
        return Proposal(GraphMapping(), ("the database has no nodes yet; load some first",))
    recognition = recognize(survey)
    return _propose_all(survey) if recognition is None else _propose_schema(recognition)


def _propose_schema(recognition: Recognition) -> Proposal:
    part = recognition.survey
    mapping = map_schema(recognition, _propose_all(part).mapping)
    notes = (
        *note_schema(recognition, mapping),
        *choose_weight(part).notes,
        *choose_relationship_weight(part).notes,
    )
    return Proposal(mapping, notes, recognition.schema.system)


def _propose_all(survey: Survey) -> Proposal:
    named, key = _choose_title(survey), _choose_key(survey)
    text, text_notes = _choose_texts(survey, named.name)
    title = _distinct_title(survey, named, key)
    node_weight, edge_weight = choose_weight(survey), choose_relationship_weight(survey)
    vector = choose_embedding(survey)
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
        "all labels and relationship types take part, except those of pgs_neo4j itself",
        *text_notes,
        *(note for choice in choices for note in choice.notes),
    )
    return Proposal(mapping, notes)


def _choose_title(survey: Survey) -> PropertyChoice:
    shares = candidates.node_shares(survey, _is_chosen)
    winner = candidates.choose_best(shares, TITLE_WORDS)
    if winner is None:
        note = "no property looks like a title; the first line of the text is used instead"
        return PropertyChoice(None, (note,))
    return PropertyChoice(
        winner, (f"title: {quote_name(winner)}, on {percent(shares[winner])} of the nodes",)
    )


def _is_chosen(sample: LabelSample, candidate: NodeProperty) -> bool:
    title = candidates.choose_title(sample)
    return title is not None and title.name == candidate.name


def _distinct_title(survey: Survey, title: PropertyChoice, key: PropertyChoice) -> PropertyChoice:
    """Return the key instead of a title that many nodes share, if people can read it."""
    own = candidates.distinct_share(survey, title.name)
    if key.name is None or own >= MIN_DISTINCT or not candidates.is_legible(survey, key.name):
        return title
    shared = quote_name(title.name or "")
    return PropertyChoice(
        key.name,
        (f"title: {quote_name(key.name)}, because many nodes share their {shared}",),
    )


def _choose_texts(survey: Survey, title: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lengths: dict[str, list[float]] = {}
    without_text = []
    for sample in survey.labels:
        named = candidates.choose_title(sample)
        texts = candidates.choose_texts(sample, named.name if named else None)
        for item in texts:
            lengths.setdefault(item.name, []).append(item.mean_length or 0.0)
        if sample.sampled and not texts:
            without_text.append(sample.label)
    # Short before long: a name comes before a description.
    order = tuple(sorted(lengths, key=lambda name: (name != title, max(lengths[name]), name)))
    listed = ", ".join(map(quote_name, order))
    notes = [f"text: {listed}, in this order" if order else "no property looks like text"]
    if order and without_text:
        some = ", ".join(
            quote_name(label) if label else "(no label)" for label in without_text[:MAX_LISTED]
        )
        more = (
            f" and {len(without_text) - MAX_LISTED} more" if len(without_text) > MAX_LISTED else ""
        )
        notes.append(f"no text on {some}{more}; these nodes count for structure only")
    return order, tuple(notes)


def _choose_key(survey: Survey) -> PropertyChoice:
    shares = candidates.node_shares(survey, candidates.is_key)
    constrained = candidates.node_shares(survey, lambda _, candidate: candidate.unique)

    def merit(name: str) -> tuple[bool, bool, float]:
        by_constraint = constrained.get(name, 0.0) > 0.5 * shares[name]
        return shares[name] >= 0.5, by_constraint, round(shares[name], 2)

    if not shares:
        note = "no property identifies every node; citations use the ids of the database"
        return PropertyChoice(None, (note,))
    top = max(merit(name) for name in shares)
    tied = {name: share for name, share in shares.items() if merit(name) == top}
    winner = candidates.choose_best(tied, KEY_WORDS)
    assert winner is not None
    why = "by a constraint" if top[1] else "in the sample"
    note = f"key: {quote_name(winner)}, unique {why} on {percent(shares[winner])} of the nodes"
    return PropertyChoice(winner, (note,))
