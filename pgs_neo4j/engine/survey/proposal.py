"""Proposes a graph mapping from a survey and gives the reasons. Pure.

A mapping has one weight and embedding for all labels, so the property that suits most nodes wins.
Nodes with several labels count once per label.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from pgs_neo4j.engine.survey.labels import (
    choose_by_label,
    join_keys,
    join_texts,
    join_titles,
    note_choices,
)
from pgs_neo4j.engine.survey.recognition import Recognition, map_schema, note_schema, recognize
from pgs_neo4j.engine.survey.values import Survey
from pgs_neo4j.engine.survey.weighing import (
    choose_embedding,
    choose_relationship_text,
    choose_relationship_weight,
    choose_weight,
)
from pgs_neo4j.engine.survey.wording import quote_name
from pgs_neo4j.model import GraphMapping


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping that suits the database, with one sentence per decision.

    ``recognized`` names the system whose published schema the database follows.
    """

    mapping: GraphMapping
    notes: tuple[str, ...]
    recognized: str | None = None


def propose(survey: Survey, labels: Collection[str] = ()) -> Proposal:
    """Propose a mapping of all labels and types, or that of a published schema.

    If ``labels`` are named, those of the survey, only their nodes take part.
    Titles, keys, and texts are those of each label. Ties go to the name whose word is first in the
    lists of ``names``, then to the alphabet.
    """
    if not survey.nodes:
        return Proposal(GraphMapping(), ("the database has no nodes yet; load some first",))
    recognition = recognize(survey)
    if recognition is not None:
        return _propose_schema(recognition)
    proposal = _propose_all(survey)
    if not labels:
        return proposal
    listed = ", ".join(map(quote_name, labels))
    first = f"labels: {listed}; nodes with none of them do not take part"
    mapping = replace(proposal.mapping, labels=tuple(labels))
    return Proposal(mapping, (first, *proposal.notes[1:]))


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
    choices = choose_by_label(survey)
    titles, keys = join_titles(choices), join_keys(choices)
    node_weight, edge_weight = choose_weight(survey), choose_relationship_weight(survey)
    vector, fact = choose_embedding(survey), choose_relationship_text(survey)
    mapping = GraphMapping(
        text=join_texts(choices),
        title=titles.plain,
        key=keys.plain,
        titles=titles.labeled,
        keys=keys.labeled,
        weight=node_weight.name,
        relationship_weight=edge_weight.name,
        embedding=vector.name,
        relationship_text=fact.name,
    )
    notes = (
        "all labels and relationship types take part, except those of pgs_neo4j itself",
        *note_choices(choices),
        *(note for choice in (fact, node_weight, edge_weight, vector) for note in choice.notes),
    )
    return Proposal(mapping, notes)
