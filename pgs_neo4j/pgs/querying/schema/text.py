"""Writes the schema of a graph as a short text, from which a model can write Cypher.

A schema that is too long for a prompt is pruned to what the question needs first.

A line shows a label with its properties, or a relationship type between its labels::

    (:Movie {title: STRING "Toy Story", year: INTEGER 1995})
    (:Actor|Director)-[:ACTED_IN {role: STRING}]->(:Movie)
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pgs_neo4j.database.queries import quote_odd
from pgs_neo4j.model import GraphSchema, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.schema.index import SchemaIndex, index_schema
from pgs_neo4j.pgs.querying.schema.ranking import Piece, rank_pieces
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

_BARE = frozenset(("INTEGER", "FLOAT", "BOOLEAN"))
"""Types whose examples have no quotation marks, as in Cypher."""


MOST_TOKENS = 2_000
FIRST_PIECES = 256  # pieces of the first text that is tried
LEAST_PIECE = 3  # bytes that a piece of a schema adds to its text, at least


def prune_schema(
    schema: GraphSchema | SchemaIndex, question: str, tokens: int = MOST_TOKENS
) -> GraphSchema:
    """Return the part of a schema that a question needs most and whose text has few enough tokens.

    The order of labels, types, and properties stays. Examples are left out first, then the types of
    properties, and then names. A large schema should be indexed once for all questions.
    """
    index = schema if isinstance(schema, SchemaIndex) else index_schema(schema)
    most = max(tokens, 0) * math.ceil(BYTES_PER_TOKEN) // LEAST_PIECE
    if len(index.spellings) <= 2 * most and estimate(write_schema(index.schema)) <= tokens:
        return index.schema
    pieces = rank_pieces(index, question, most)

    def fits(count: int) -> bool:
        return estimate(write_schema(select_pieces(index.schema, pieces[:count]))) <= tokens

    # The text of the first ``fitting`` pieces is short enough. Long texts take time, so they are
    # written only if shorter texts are short enough.
    fitting, size = 0, FIRST_PIECES
    while size < len(pieces) and fits(size):
        fitting, size = size, 2 * size
    first_unfitting = min(size, len(pieces) + 1)
    while first_unfitting - fitting > 1:
        middle = (fitting + first_unfitting) // 2
        if fits(middle):
            fitting = middle
        else:
            first_unfitting = middle
    return select_pieces(index.schema, pieces[:fitting])


def select_pieces(schema: GraphSchema, pieces: Sequence[Piece]) -> GraphSchema:
    """Return a schema of some pieces only, with the labels and types that they belong to."""
    kept: dict[tuple[bool, int], dict[int, set[str]]] = defaultdict(dict)
    ends: dict[int, set[int]] = defaultdict(set)
    for kind, place in pieces:
        own = kept[place.is_type, place.owner]
        if kind == "ends":
            ends[place.owner].add(place.at)
        elif place.at >= 0:
            own.setdefault(place.at, set()).add(kind)
    ended = {
        label
        for owner, pairs in ends.items()
        for at in pairs
        for label in schema.types[owner].ends[at]
    }
    places = {at for is_type, at in kept if not is_type}
    places.update(at for at, each in enumerate(schema.labels) if each.label in ended)
    labels = [
        replace(each, properties=_select_properties(each.properties, kept.get((False, at), {})))
        for at, each in ((at, schema.labels[at]) for at in sorted(places))
    ]
    types = [
        replace(
            each,
            properties=_select_properties(each.properties, kept[True, at]),
            ends=tuple(pair for place, pair in enumerate(each.ends) if place in ends[at]),
        )
        for at, each in ((at, schema.types[at]) for is_type, at in sorted(kept) if is_type)
    ]
    return GraphSchema(labels=tuple(labels), types=tuple(types))


def _select_properties(
    properties: Sequence[SchemaProperty], kept: Mapping[int, set[str]]
) -> tuple[SchemaProperty, ...]:
    return tuple(
        replace(
            properties[at],
            types=properties[at].types if "types" in kept[at] else (),
            examples=properties[at].examples if "examples" in kept[at] else (),
        )
        for at in sorted(kept)
    )


def write_schema(schema: GraphSchema) -> str:
    """Return a text with a line for each label, and then the lines of each relationship type.

    A label without properties has no line if a relationship shows it. Types that connect many
    pairs of labels need several lines, and only the first of them shows the properties.
    """
    shown = {label for type_ in schema.types for pair in type_.ends for label in pair}
    labels = [
        f"({_write_names([each.label])}{_write_properties(each.properties)})"
        for each in schema.labels
        if each.properties or each.label not in shown
    ]
    return "\n".join((*labels, *(line for each in schema.types for line in _write_type(each))))


def _write_type(type_: SchemaType) -> Iterator[str]:
    properties = _write_properties(type_.properties)
    name = _write_names([type_.type])
    for sources, targets in _group_ends(type_.ends) or [((), ())]:
        yield f"({_write_names(sources)})-[{name}{properties}]->({_write_names(targets)})"
        properties = ""


def _group_ends(ends: Iterable[tuple[str, str]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return pairs of sources and targets; each source is connected with each target beside it."""
    targets: dict[str, dict[str, None]] = {}
    for source, target in ends:
        targets.setdefault(source, {})[target] = None
    sources: dict[frozenset[str], list[str]] = {}
    for source, found in targets.items():
        sources.setdefault(frozenset(found), []).append(source)
    return [(tuple(group), tuple(targets[group[0]])) for group in sources.values()]


def _write_names(names: Sequence[str]) -> str:
    return ":" + "|".join(map(quote_odd, names)) if names else ""


def _write_properties(properties: Sequence[SchemaProperty]) -> str:
    return f" {{{', '.join(map(_write_property, properties))}}}" if properties else ""


def _write_property(own: SchemaProperty) -> str:
    types = " | ".join(own.types)
    bare = bool(own.types) and _BARE.issuperset(own.types)
    examples = own.examples if bare else map(_quote_text, own.examples)
    values = " ".join(filter(None, (types, " | ".join(examples))))
    return f"{quote_odd(own.name)}: {values}" if values else quote_odd(own.name)


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
