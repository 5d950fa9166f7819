"""Proposes a graph mapping from a survey and gives the reasons. Pure.

Title, key, and texts are chosen for each label. The mapping names a property without a label if it
serves every label that has it. So a graph whose labels are alike gets a short mapping. Weight and
embedding are the same for all labels, so the property that suits most nodes wins. Nodes with
several labels count once per label.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.engine.survey import candidates
from pgs_neo4j.engine.survey.recognition import Recognition, map_schema, note_schema, recognize
from pgs_neo4j.engine.survey.values import LabelSample, NodeProperty, Survey, quote_name
from pgs_neo4j.engine.survey.weighing import (
    choose_embedding,
    choose_relationship_text,
    choose_relationship_weight,
    choose_weight,
)
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.shown import percent

MAX_LISTED = 10
MIN_DISTINCT = 0.8  # of the titles; with fewer, titles do not distinguish enough nodes


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping that suits the database, with one sentence per decision.

    ``recognized`` names the system whose published schema the database follows.
    """

    mapping: GraphMapping
    notes: tuple[str, ...]
    recognized: str | None = None


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """The proposed title, key, and texts for the nodes of one label."""

    sample: LabelSample
    title: NodeProperty | None
    key: NodeProperty | None
    texts: tuple[NodeProperty, ...]
    shared: str | None = None
    """The property that would be the title if fewer nodes shared its values."""


@dataclass(frozen=True, slots=True)
class Names:
    """A property for all labels, if any, and ``LABEL.PROPERTY`` for single labels."""

    plain: str | None
    labeled: tuple[str, ...]

    @property
    def listed(self) -> str:
        """All names in one line, for people."""
        return ", ".join(map(quote_name, filter(None, (*self.labeled, self.plain))))


def propose(survey: Survey, labels: Collection[str] = ()) -> Proposal:
    """Propose a mapping of all labels and types, or the mapping of a published schema.

    With ``labels``, which must be those of the survey, only their nodes take part. Titles, keys,
    and texts are chosen for each label. Among equally suitable properties, the property whose word
    comes first in the word lists wins, then the first name in alphabetical order.
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


def choose_by_label(survey: Survey) -> tuple[LabelChoice, ...]:
    """Choose title, key, and texts for each label that was sampled."""
    return tuple(_choose_for_label(sample) for sample in survey.labels if sample.sampled)


def _choose_for_label(sample: LabelSample) -> LabelChoice:
    named, key = candidates.choose_title(sample), candidates.choose_key(sample)
    texts = tuple(candidates.choose_texts(sample, named.name if named else None))
    shared = named is not None and named.distinct < MIN_DISTINCT * named.nodes
    if named and key and shared and candidates.is_legible(sample, key):
        # A key that people can read distinguishes nodes that share their titles.
        return LabelChoice(sample, key, key, texts, named.name)
    return LabelChoice(sample, named, key, texts)


def join_titles(choices: Sequence[LabelChoice]) -> Names:
    """Return the titles of all labels."""
    return _join_names(choices, {c.sample.label: c.title.name for c in choices if c.title})


def join_keys(choices: Sequence[LabelChoice]) -> Names:
    """Return the keys of all labels."""
    return _join_names(choices, {c.sample.label: c.key.name for c in choices if c.key})


def join_texts(choices: Sequence[LabelChoice]) -> tuple[str, ...]:
    """Return the texts of all labels: titles first, then short texts before long ones."""
    order: dict[str, tuple[bool, float]] = {}
    labels: dict[str, list[str]] = {}
    for choice in choices:
        for item in choice.texts:
            titled = choice.title is not None and item.name == choice.title.name
            before = order.get(item.name, (True, 0.0))
            length = max(before[1], item.mean_length or 0.0)
            order[item.name] = (before[0] and not titled, length)
            labels.setdefault(item.name, []).append(choice.sample.label)
    names: list[str] = []
    for name in sorted(order, key=lambda name: (*order[name], name)):
        holders = [c.sample.label for c in choices if _has_property(c.sample, name)]
        alike = holders == labels[name] or "" in labels[name]
        names += [name] if alike else [f"{label}.{name}" for label in labels[name]]
    return tuple(names)


def _join_names(choices: Sequence[LabelChoice], chosen: Mapping[str, str]) -> Names:
    """Return the property that covers most nodes for all labels, and the others by label."""
    covered: dict[str, int] = {}
    for choice in choices:
        if name := chosen.get(choice.sample.label):
            covered[name] = covered.get(name, 0) + choice.sample.count
    # A label for which nothing was chosen must not get the property of another label.
    usable = [
        name
        for name in covered
        if all(c.sample.label in chosen or not _has_property(c.sample, name) for c in choices)
    ]
    # Nodes without a label can only have a property that is for all labels.
    plain = chosen.get("") or min(usable, key=lambda name: (-covered[name], name), default=None)
    labeled = [f"{label}.{name}" for label, name in chosen.items() if label and name != plain]
    return Names(plain, tuple(labeled))


def _has_property(sample: LabelSample, name: str) -> bool:
    return any(item.name == name for item in sample.properties)


def note_choices(choices: Sequence[LabelChoice]) -> list[str]:
    """Return one sentence per decision about texts, titles, and keys."""
    texts, titles, keys = join_texts(choices), join_titles(choices), join_keys(choices)
    listed = ", ".join(map(quote_name, texts))
    notes = [f"text: {listed}, in this order" if texts else "no property looks like text"]
    silent = [c.sample.label for c in choices if not c.texts]
    if texts and silent:
        notes.append(f"no text on {_list_labels(silent)}; these nodes count for structure only")
    if titles.listed:
        covered = _format_share(choices, [c for c in choices if c.title])
        notes.append(f"title: {titles.listed}, on {covered} of the nodes")
    else:
        notes.append("no property looks like a title; the first line of the text is used instead")
    notes += [
        f"title of {_format_label(c.sample.label)}: {quote_name(c.title.name)}, because many nodes "
        f"share their {quote_name(c.shared)}"
        for c in choices
        if c.title and c.shared
    ]
    if not keys.listed:
        return [*notes, "no property identifies every node; citations use the ids of the database"]
    keyed = [c for c in choices if c.key]
    proved = all(c.key.unique for c in keyed if c.key)
    why = "by a constraint" if proved else "in the sample"
    notes.append(
        f"key: {keys.listed}, unique {why} on {_format_share(choices, keyed)} of the nodes"
    )
    return notes


def _format_share(choices: Sequence[LabelChoice], chosen: Sequence[LabelChoice]) -> str:
    total = sum(choice.sample.count for choice in choices)
    return percent(sum(choice.sample.count for choice in chosen) / max(total, 1))


def _list_labels(labels: Sequence[str]) -> str:
    some = ", ".join(map(_format_label, labels[:MAX_LISTED]))
    return f"{some} and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else some


def _format_label(label: str) -> str:
    return quote_name(label) if label else "(no label)"
