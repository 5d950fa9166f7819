"""Checks a graph mapping against the database it is meant for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.catalog import check_mapping
from pgs_neo4j.engine.survey import candidates
from pgs_neo4j.engine.survey.refusal import (
    INSIST,
    find_named,
    is_readable,
    list_relationship_properties,
    list_types,
    note_key,
    refuse_missing,
    refuse_types,
)
from pgs_neo4j.engine.survey.sample import survey
from pgs_neo4j.engine.survey.values import NodeProperty, RelationshipProperty, Survey, quote_name
from pgs_neo4j.engine.survey.weighing import count_embedding_sizes
from pgs_neo4j.errors import MappingError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.shown import percent

MAX_LISTED = 10
NO_TEXT = (
    "the mapping names no text, so questions can only be asked of the structure "
    "('pgs ask --structure-only'); name properties to read with --text"
)


async def validate(
    db: Database, mapping: GraphMapping, *, allow_missing: bool = False
) -> list[str]:
    """Return one warning per part of a mapping that the database contradicts.

    Raises MappingError if the mapping names a label or type of this package, if most values of a
    property have the wrong type, or if more than a few nodes share their keys. Types of values are
    looked up in a sample. Unless ``allow_missing`` is set, also raises it for a label, a
    relationship type, or a property that nothing in the database has, and for labels that match no
    node.
    """
    check_mapping(mapping)
    content = await survey(db, mapping.labels, mapping.relationship_types)
    if not allow_missing:
        if not content.labels:
            await _refuse_labels(db, mapping)
        await _refuse_unknown(db, content, mapping)
        await refuse_missing(db, content, mapping)
    refuse_types(content, mapping)
    return [*check_survey(content, mapping), *await note_key(db, mapping)]


def check_survey(content: Survey, mapping: GraphMapping) -> list[str]:
    """Return the warnings of ``validate`` from an existing survey.

    The survey must cover the mapping's labels and types.
    """
    labels = {sample.label for sample in content.labels}
    types = {sample.type for sample in content.relationship_types}
    missing = [] if mapping.has_text else [NO_TEXT]
    wanted = dict.fromkeys(mapping.labels + mapping.chunk_labels)
    missing += [
        f"no node has the label {quote_name(name)}" for name in wanted if name not in labels
    ]
    wanted = dict.fromkeys(mapping.relationship_types + mapping.mention_types)
    missing += [
        f"no relationship has the type {quote_name(name)}" for name in wanted if name not in types
    ]
    return [
        *missing,
        *_warn_of_absent_node_properties(content, mapping),
        *_warn_of_mistyped_node_properties(content, mapping),
        *_warn_of_absent_relationship_properties(content, mapping),
        *_warn_of_mistyped_relationship_properties(content, mapping),
    ]


def check_values(content: Survey, mapping: GraphMapping) -> list[str]:
    """Return only the warnings of ``check_survey`` about values of the wrong type.

    In a graph that an ingestion made, everything else may be missing, depending on the documents.
    """
    return [
        *_warn_of_mistyped_node_properties(content, mapping),
        *_warn_of_mistyped_relationship_properties(content, mapping),
    ]


async def _refuse_unknown(db: Database, content: Survey, mapping: GraphMapping) -> None:
    """Raise MappingError for a label or a relationship type that the database does not have."""
    labels = {sample.label for sample in content.labels}
    types = {sample.type for sample in content.relationship_types}
    wanted_labels = dict.fromkeys(mapping.labels + mapping.chunk_labels)
    wanted_types = dict.fromkeys(mapping.relationship_types + mapping.mention_types)
    if labels.issuperset(wanted_labels) and types.issuperset(wanted_types):
        return
    everything = await survey(db)  # covers labels and types that the mapping leaves out
    _refuse_names("node", "label", wanted_labels, [s.label for s in everything.labels if s.label])
    _refuse_names(
        "relationship", "type", wanted_types, [s.type for s in everything.relationship_types]
    )


def _refuse_names(of: str, what: str, wanted: Iterable[str], known: Sequence[str]) -> None:
    """Raise MappingError for the first unknown name, with a similar known name if there is one."""
    for name in wanted:
        if name in known:
            continue
        near = _find_resembling(name, known)
        if near:
            way = f"did you mean {quote_name(near)}?"
        else:
            listed = ", ".join(map(quote_name, known[:MAX_LISTED])) or f"no {what} at all"
            more = f", and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
            way = f"the database has {listed}{more}; {INSIST}"
        raise MappingError(f"no {of} has the {what} {quote_name(name)}; {way}")


def _find_resembling(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is likely meant: equal but for case and signs, or nearly equal."""
    plain = {"".join(filter(str.isalnum, one)).lower(): one for one in known}
    wanted = "".join(filter(str.isalnum, name)).lower()
    near = difflib.get_close_matches(wanted, plain, n=1, cutoff=0.8)
    return plain[near[0]] if near else None


async def check_labels(db: Database, labels: Sequence[str]) -> None:
    """Raise MappingError for a label that no node has, with similar labels."""
    content = await survey(db, labels) if labels else None
    found = {sample.label for sample in content.labels} if content else set(labels)
    for name in labels:
        if name not in found:
            await _refuse_labels(db, GraphMapping(labels=(name,)))


async def _refuse_labels(db: Database, mapping: GraphMapping) -> None:
    """Raise MappingError for labels that match no node, with similar labels."""
    everything = await survey(db)
    if not everything.nodes:
        raise MappingError("the database has no nodes for a graph; load some first")
    labels = [sample.label for sample in everything.labels if sample.label]
    near = [n for name in mapping.labels for n in difflib.get_close_matches(name, labels, n=1)]
    listed = ", ".join(map(quote_name, near or labels[:MAX_LISTED])) or "no label at all"
    asked = ", ".join(map(quote_name, mapping.labels[:MAX_LISTED]))
    raise MappingError(
        f"the mapping matches no node: no node is labeled {asked}; the database has {listed}"
    )


def _find_node_properties(content: Survey, mapping: GraphMapping) -> dict[str, list[NodeProperty]]:
    """Return the properties of nodes that a mapping names, each with its samples."""
    named = (*mapping.titles, mapping.title, *mapping.keys, mapping.key)
    wanted = dict.fromkeys((*mapping.text, *filter(None, named)))
    by_name = {name: find_named(content, name) for name in wanted}
    for own in filter(None, (mapping.weight, mapping.embedding)):
        by_name[own] = [p for s in content.labels for p in s.properties if p.name == own]
    return by_name


def _warn_of_absent_node_properties(content: Survey, mapping: GraphMapping) -> Iterator[str]:
    sampled = sum(sample.sampled for sample in content.labels)
    for name, found in _find_node_properties(content, mapping).items():
        if not found:
            yield f"none of {sampled:,} sampled nodes has the property {quote_name(name)}"


def _warn_of_mistyped_node_properties(content: Survey, mapping: GraphMapping) -> Iterator[str]:
    by_name = {
        name: found for name, found in _find_node_properties(content, mapping).items() if found
    }
    for name in mapping.text:
        if name in by_name and not any(is_readable(item) for item in by_name[name]):
            yield f"{quote_name(name)} is mapped as text but holds {list_types(by_name[name])}"
    if mapping.weight in by_name and not all(map(candidates.is_numeric, by_name[mapping.weight])):
        kinds = list_types(by_name[mapping.weight])
        yield f"{quote_name(mapping.weight)} is mapped as weight but holds {kinds}"
    if mapping.embedding in by_name:
        yield from _warn_of_embeddings(content, mapping.embedding)


def _find_relationship_properties(
    content: Survey, mapping: GraphMapping
) -> Iterator[tuple[str, str, list[RelationshipProperty]]]:
    """Yield the options of a mapping for properties of relationships, with names and samples."""
    for option, name in list_relationship_properties(mapping):
        samples = [p for s in content.relationship_types for p in s.properties if p.name == name]
        yield option, name, samples


def _warn_of_absent_relationship_properties(
    content: Survey, mapping: GraphMapping
) -> Iterator[str]:
    sampled = sum(sample.sampled for sample in content.relationship_types)
    for _, name, named in _find_relationship_properties(content, mapping):
        if not named:
            yield f"none of {sampled:,} sampled relationships has the property {quote_name(name)}"


def _warn_of_mistyped_relationship_properties(
    content: Survey, mapping: GraphMapping
) -> Iterator[str]:
    for option, name, named in _find_relationship_properties(content, mapping):
        kinds = list_types(named)
        if not named:
            continue
        if option == "--relationship-weight" and not all(map(candidates.is_numeric, named)):
            yield f"{quote_name(name)} is mapped as relationship weight but holds {kinds}"
        elif option == "--relationship-text" and not any(map(is_readable, named)):
            yield f"{quote_name(name)} is mapped as relationship text but holds {kinds}"
        elif option == "--relationship-embedding" and not all(map(candidates.may_be_vector, named)):
            yield f"{quote_name(name)} is mapped as relationship embedding but holds {kinds}"


def _warn_of_embeddings(content: Survey, name: str) -> Iterator[str]:
    sizes = count_embedding_sizes(content, name)
    sizes.pop(0, None)
    if not sizes:
        kinds = list_types([p for s in content.labels for p in s.properties if p.name == name])
        yield f"{quote_name(name)} is mapped as embedding but holds {kinds}"
    elif len(sizes) > 1:
        total = sum(sizes.values())
        listed = ", ".join(
            f"{size} ({percent(nodes / total)})"
            for size, nodes in sorted(sizes.items(), key=lambda item: (-item[1], -item[0]))
        )
        name = quote_name(name)
        yield f"{name} holds vectors of different lengths, {listed}; only the first counts"
