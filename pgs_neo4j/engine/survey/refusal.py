"""Refuses mappings whose properties are missing, have the wrong type, or identify no node."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.survey import candidates
from pgs_neo4j.engine.survey.sample import SCAN
from pgs_neo4j.engine.survey.values import NodeProperty, RelationshipProperty, Survey, quote_name
from pgs_neo4j.errors import MappingError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.graph import split_property
from pgs_neo4j.text.invalid_values import suggest_similar
from pgs_neo4j.text.shown import counted

READABLE = ("BOOLEAN", "INTEGER", "FLOAT")
MIN_FITTING = 0.5  # of the values of a property; the others count as missing
MAX_SHARED = 0.05  # of the nodes with a key: a few duplicates do not spoil the others
MAX_LISTED = 8
LABELED = ("--text", "--title", "--key")  # options that take properties of single labels
INSIST = "to store the graph before such data comes, use --allow-missing (in HTTP, allow_missing)"


async def refuse_missing(db: Database, content: Survey, mapping: GraphMapping) -> None:
    """Raise MappingError if no node, or no relationship, has a mapped property.

    The database is asked about properties that the sample lacks, because a sample misses rare ones.
    """
    names = {item.name for sample in content.labels for item in sample.properties}
    for option, name in _list_node_properties(mapping):
        labeled = option in LABELED
        if find_named(content, name) if labeled else name in names:
            continue
        for label, own in split_property(name) if labeled else (("", name),):
            labels = [label] if label else list(mapping.labels)
            if label and mapping.labels and label not in mapping.labels:
                continue
            rows = await db.read(
                queries.get("engine/survey/count_property"), labels=labels, name=own
            )
            if rows[0]["count"]:
                break
        else:
            raise _explain_missing_node_property(content, option, name, mapping.labels)
    names = {item.name for sample in content.relationship_types for item in sample.properties}
    for option, name in list_relationship_properties(mapping):
        if name not in names:
            rows = await db.read(
                queries.get("engine/survey/count_relationship_property"),
                types=list(mapping.relationship_types),
                name=name,
            )
            if not rows[0]["count"]:
                raise _explain_missing("relationship", option, name, names)


def refuse_types(content: Survey, mapping: GraphMapping) -> None:
    """Raise MappingError if most sampled values of a property cannot be used.

    Fewer values of another type do no harm, because they count as missing.
    """
    links = [item for sample in content.relationship_types for item in sample.properties]
    for name in mapping.text:
        named = find_named(content, name)
        if named and not any(map(is_readable, named)):
            vector = any(item.sizes for item in named)
            way = "map it with --embedding" if vector else "leave it out"
            raise MappingError(
                f"{quote_name(name)} cannot be read as text, because it contains "
                f"{list_types(named)}; {way}, and use --text to name a property that contains words"
            )
    nodes = [item for sample in content.labels for item in sample.properties]
    named = [item for item in nodes if item.name == mapping.weight]
    if named and _measure_usable_share(named, _count_numbers) < MIN_FITTING:
        raise _explain_unusable("weight", "numbers", named)
    named = [item for item in nodes if item.name == mapping.embedding]
    if named and _measure_usable_share(named, _count_vectors) < MIN_FITTING:
        raise _explain_unusable("embedding", "lists of numbers", named)
    weights = [item for item in links if item.name == mapping.relationship_weight]
    if weights and not any(candidates.NUMBERS & set(item.types) for item in weights):
        raise _explain_unusable("relationship-weight", "numbers", weights)
    vectors = [item for item in links if item.name == mapping.relationship_embedding]
    if vectors and not any(map(candidates.may_be_vector, vectors)):
        raise _explain_unusable("relationship-embedding", "lists of numbers", vectors)


async def note_key(db: Database, mapping: GraphMapping) -> list[str]:
    """Return a note on the few nodes that share their keys.

    Nodes share a key only if their labels are the same. Raises MappingError if more than a few
    nodes do, because such keys identify nothing.
    """
    if not mapping.key_properties:
        return []
    rows = await db.read(
        queries.get("engine/survey/read_shared_keys"),
        labels=list(mapping.labels),
        key=mapping.key_properties,
        scan=SCAN,
    )
    keyed, shared, examples = rows[0]["keyed"], rows[0]["shared"], rows[0]["examples"]
    if not shared:
        return []
    name = " or ".join(map(quote_name, filter(None, (*mapping.keys, mapping.key))))
    listed = ", ".join(quote_name(str(value)[:60]) for value in examples)
    of = f"{shared:,} of {counted(keyed, 'node')} share their value of {name} (such as {listed})"
    if shared > MAX_SHARED * keyed:
        raise MappingError(
            f"{name} is not a key, because {of}; choose a property that differs for each node, or "
            "leave --key out, so that citations use the ids of the database"
        )
    return [f"{of}; citations of these nodes are ambiguous"]


def find_named(content: Survey, name: str) -> list[NodeProperty]:
    """Return the sampled properties that the name of a text, title, or key stands for, by label."""
    wanted = set(split_property(name))
    return [
        item
        for sample in content.labels
        for item in sample.properties
        if ("", item.name) in wanted or (sample.label, item.name) in wanted
    ]


def is_readable(item: NodeProperty | RelationshipProperty) -> bool:
    """Return whether a property can be read as text.

    Bytes, points, and lists of numbers cannot.
    """
    texts = isinstance(item, NodeProperty) and item.texts > 0
    return texts or any(
        kind in READABLE or "STRING" in kind or "DATE" in kind or "TIME" in kind
        for kind in item.types
    )


def list_types(properties: Iterable[NodeProperty | RelationshipProperty]) -> str:
    """Return the properties' types as Cypher names, comma-separated, at most ``MAX_LISTED``."""
    kinds = sorted({kind for item in properties for kind in item.types})
    return ", ".join(kinds[:MAX_LISTED])


def _list_node_properties(mapping: GraphMapping) -> Iterator[tuple[str, str]]:
    """Yield each mapped property of nodes, with its option before it."""
    yield from (("--text", name) for name in mapping.text)
    yield from (("--title", name) for name in mapping.titles)
    yield from (("--key", name) for name in mapping.keys)
    for option in ("title", "key", "weight", "embedding"):
        name = getattr(mapping, option)
        if name is not None:
            yield f"--{option}", name


def list_relationship_properties(mapping: GraphMapping) -> Iterator[tuple[str, str]]:
    """Yield each mapped property of relationships, with its option before it."""
    for part in ("weight", "name", "text", "embedding"):
        name = getattr(mapping, f"relationship_{part}")
        if name is not None:
            yield f"--relationship-{part}", name


def _explain_missing_node_property(
    content: Survey, option: str, name: str, chosen: Collection[str]
) -> MappingError:
    """Return the error for a missing property of nodes, with a similar property if there is one."""
    everywhere = {item.name for sample in content.labels for item in sample.properties}
    by_label = {sample.label: sample for sample in content.labels}
    for label, own in split_property(name)[1:]:
        if label in by_label:
            names = {item.name for item in by_label[label].properties}
            return _explain_missing(f"node labeled {quote_name(label)}", option, own, names)
        near = difflib.get_close_matches(label, by_label, n=1)
        if chosen and label not in chosen and not near:
            return MappingError(
                f"the mapping leaves {quote_name(label)} out of the graph; add --label "
                f"{quote_name(label)}, or drop {option} {quote_name(name)}"
            )
        if near and own in everywhere:
            return MappingError(
                f"no node has the label {quote_name(label)} ({option} {quote_name(name)}); did you "
                f"mean {quote_name(f'{near[0]}.{own}')}?"
            )
    return _explain_missing("node", option, name, everywhere)


def _explain_missing(what: str, option: str, name: str, names: Collection[str]) -> MappingError:
    some = sorted(names)
    what, _, of = what.partition(" ")
    of = f" {of}" if of else ""
    if some:
        more = f", and {len(some) - MAX_LISTED} more" if len(some) > MAX_LISTED else ""
        listed = ", ".join(map(quote_name, some[:MAX_LISTED]))
        way = f"the {what}s{of} have {listed}{more}; {INSIST}"
    else:
        way = f"the {what}s{of} have no properties, so leave the option out"
    way = suggest_similar(name, some, way, quote_name)
    return MappingError(f"no {what}{of} has the property {quote_name(name)} ({option}); {way}")


def _explain_unusable(
    option: str, wanted: str, properties: Collection[NodeProperty | RelationshipProperty]
) -> MappingError:
    name = next(iter(properties)).name
    return MappingError(
        f"{quote_name(name)} cannot be the {option.replace('-', ' ')}, because most of its values "
        f"are not {wanted} but {list_types(properties)}; choose another property, or leave "
        f"--{option} out"
    )


def _measure_usable_share(
    properties: Collection[NodeProperty], usable: Callable[[NodeProperty], int]
) -> float:
    """Return the share of values that are usable, 0 to 1."""
    return sum(map(usable, properties)) / max(sum(item.nodes for item in properties), 1)


def _count_numbers(item: NodeProperty) -> int:
    if candidates.is_numeric(item):
        return item.nodes
    return item.nodes - item.texts if candidates.NUMBERS & set(item.types) else 0


def _count_vectors(item: NodeProperty) -> int:
    return sum(nodes for size, nodes in item.sizes if size)
