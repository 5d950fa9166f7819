"""Defines which types of entities and relations a graph may have.

Without a file, these are the eleven types of the GraphRAG SDK, and other types are also allowed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from pgs_neo4j.errors import UsageError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction, GroundedRelation
from pgs_neo4j.text.extraction.names import clean_name

DEFAULT_TYPES = {
    "Person": "a human being, real or fictional",
    "Organization": "a company, institution, government, or group",
    "Technology": "a technology, programming language, protocol, or tool",
    "Product": "something made or sold, with a name of its own",
    "Location": "a place: a country, city, region, building, or address",
    "Date": "a point or period in time",
    "Event": "something that happened, at a time and place",
    "Concept": "an idea, theory, field, or quality",
    "Law": "a law, rule, regulation, or contract",
    "Dataset": "a named collection of data",
    "Method": "a procedure, algorithm, or technique",
}
OTHER = "Concept"
"""The type of an entity if the type in a reply cannot be a label."""

LONGEST_LABEL = 60
MOST_TYPES = 64
"""Maximum number of types in a schema, and of types in a graph that become labels."""

_SYNONYMS = {
    **dict.fromkeys(("org", "company", "institution", "corporation", "agency"), "Organization"),
    **dict.fromkeys(("people", "human", "individual"), "Person"),
    **dict.fromkeys(("geo", "place", "city", "country", "region"), "Location"),
    **dict.fromkeys(("time", "year", "period"), "Date"),
    **dict.fromkeys(("regulation", "statute"), "Law"),
    **dict.fromkeys(("algorithm", "technique"), "Method"),
    **dict.fromkeys(("software", "tool", "programminglanguage"), "Technology"),
}
_RESERVED = frozenset(("document", "chunk", "entity", "loadednode", "node", "relates"))
_NOT_LETTERS = re.compile(r"[^\w]+|_+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
Pattern = tuple[str, str, str]
"""Source type, relation, target type."""


@dataclass(frozen=True, kw_only=True)
class EntitySchema:
    """Types and relations by name with descriptions, and ``patterns`` that combine both.

    The mode ``strict`` drops entities of other types, and relations with another name or without a
    pattern. The mode ``open`` allows other types and relations. Without relations or patterns in
    the schema, any are allowed.
    """

    types: Mapping[str, str] = field(default_factory=lambda: DEFAULT_TYPES)
    relations: Mapping[str, str] = field(default_factory=dict)
    patterns: tuple[Pattern, ...] = ()
    mode: Literal["strict", "open"] = "open"

    @cached_property
    def signature(self) -> str:
        """A hash of the schema."""
        return digest(self.as_data())

    @cached_property
    def told(self) -> EntitySchema:
        """The part of the schema that a prompt states: all except the patterns."""
        return replace(self, patterns=())

    def as_data(self) -> dict[str, Any]:
        """Return the schema as data for ``read_schema``."""
        return {
            "types": dict(self.types),
            "relations": dict(self.relations),
            "patterns": [list(one) for one in self.patterns],
            "mode": self.mode,
        }

    def covers(self, other: EntitySchema) -> bool:
        """Return whether replies under this schema have everything that ``other`` allows.

        They do if ``other`` only leaves out types and relations, with the same descriptions.
        """
        if self.mode == "strict" and other.mode == "open":
            return False
        relations = self.relations.items()
        freely = not relations or (self.mode == "open" and not other.relations)
        narrower = bool(other.relations) and other.relations.items() <= relations
        return other.types.items() <= self.types.items() and (freely or narrower)

    def type_named(self, name: str) -> str | None:
        """Return the schema's type for a name, in any spelling or by a synonym, or None."""
        wanted, own = _strip_name(name), self._bare_types
        return own.get(wanted) or own.get(_strip_name(_SYNONYMS.get(wanted, "")))

    def relation_named(self, name: str) -> str | None:
        """Return the schema's relation for a name, in any spelling, or None."""
        return self._bare_relations.get(_strip_name(name))

    @cached_property
    def _bare_types(self) -> Mapping[str, str]:
        return {_strip_name(one): one for one in self.types}

    @cached_property
    def _bare_relations(self) -> Mapping[str, str]:
        return {_strip_name(one): one for one in self.relations}


def read_schema(data: Mapping[str, Any]) -> EntitySchema:
    """Return the schema from the data of a JSON or TOML file.

    ``types`` and ``relations`` are lists of names, or map names to descriptions. ``patterns`` are
    lists of three names. Without ``relations``, the patterns name the relations. Raises UsageError
    at any fault.
    """
    if unknown := sorted(data.keys() - {"types", "relations", "patterns", "mode"}):
        raise UsageError(f"schema: {unknown[0]!r} is not one of types, relations, patterns, mode")
    mode = data.get("mode", "open")
    if mode not in ("strict", "open"):
        raise UsageError(f"schema: mode must be 'strict' or 'open'; got {str(mode)[:40]!r}")
    types = _read_descriptions(data, "types", label_name) or DEFAULT_TYPES
    relations = _read_descriptions(data, "relations", relation_name)
    patterns = tuple(map(_read_pattern, _read_list(data, "patterns")))
    relations = relations or {name: "" for _, name, _ in patterns}
    _check_patterns(patterns, types, relations)
    return EntitySchema(types=types, relations=relations, patterns=patterns, mode=mode)


def prune(extraction: GroundedExtraction, schema: EntitySchema) -> GroundedExtraction:
    """Return the part of an extraction that the schema allows, with the schema's names.

    ``dropped`` counts the rest by reason: ``type``, ``end`` (an end of a relation was dropped),
    ``relation``, and ``pattern``.
    """
    dropped = Counter(extraction.dropped)
    entities: dict[tuple[str, str], GroundedEntity] = {}
    types: dict[tuple[str, str], str] = {}
    for entity in extraction.entities:
        type_ = schema.type_named(entity.type)
        if type_ is None and schema.mode == "strict":
            dropped["type"] += 1
            continue
        type_ = type_ or label_name(entity.type) or OTHER
        types[entity.name, entity.type] = type_
        named = entity if entity.type == type_ else replace(entity, type=type_)
        entities.setdefault((entity.name, type_), named)
    relations: dict[tuple[str, ...], GroundedRelation] = {}
    for relation in extraction.relations:
        pruned = _prune_relation(relation, types, schema)
        if isinstance(pruned, str):
            dropped[pruned] += 1
            continue
        ends = (pruned.source, pruned.source_type, pruned.type, pruned.target, pruned.target_type)
        relations.setdefault(ends, pruned)
    return GroundedExtraction(
        tuple(entities.values()),
        tuple(relations.values()),
        dict(dropped),
        proven=extraction.proven,
    )


def _prune_relation(
    relation: GroundedRelation, types: Mapping[tuple[str, str], str], schema: EntitySchema
) -> GroundedRelation | str:
    """Return the relation with the schema's names, or the reason why it is dropped."""
    source = types.get((relation.source, relation.source_type))
    target = types.get((relation.target, relation.target_type))
    if source is None or target is None:
        return "end"
    names = [schema.relation_named(name) for name in (relation.type, *relation.keywords)]
    own = next(filter(None, names), None)
    if schema.mode == "strict" and schema.relations and own is None:
        return "relation"
    type_ = own or relation_name(relation.type) or "RELATED"
    if (
        schema.mode == "strict"
        and schema.patterns
        and (source, type_, target) not in (schema.patterns)
    ):
        return "pattern"
    if (source, target, type_) == (relation.source_type, relation.target_type, relation.type):
        return relation
    return replace(relation, source_type=source, target_type=target, type=type_)


def label_name(text: str) -> str | None:
    """Return a type as a label, such as ``ResearchPaper``, or None if it cannot be a label.

    A label has letters and digits and begins with a letter. Labels of this package are refused, and
    so are labels of documents and chunks.
    """
    plain = unicodedata.normalize("NFKC", clean_name(text))
    words = [word for word in _NOT_LETTERS.split(_HUMP.sub(" ", plain)) if word]
    if len(words) == 1 and words[0].isupper():
        words = [words[0].capitalize()] if len(words[0]) > 4 else words
    label = "".join(_capitalize(word[0]) + word[1:] for word in words)[:LONGEST_LABEL]
    if not label or not label[0].isalpha() or label.lower().startswith("pgs"):
        return None
    return None if label.lower() in _RESERVED else label


def relation_name(text: str) -> str | None:
    """Return a relation as a name, such as ``WORKS_FOR``, or None if it has no letter."""
    plain = unicodedata.normalize("NFKC", clean_name(text))
    words = [word for word in _NOT_LETTERS.split(_HUMP.sub(" ", plain)) if word]
    name = "".join(map(_capitalize, "_".join(words)))[:LONGEST_LABEL].strip("_")
    return name if any(map(str.isalpha, name)) else None


def _capitalize(letter: str) -> str:
    """Return a letter in capitals, unless the capital needs a separate mark, as for ``ǰ``.

    A separate mark is not a letter, so it could not be part of a name.
    """
    capital = letter.upper()
    return capital if capital.isalpha() else letter


def _strip_name(name: str) -> str:
    return "".join(_NOT_LETTERS.split(unicodedata.normalize("NFKC", name))).casefold()


def _read_list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"schema: {key} must be a list")
    return value


def _read_descriptions(data: Mapping[str, Any], key: str, make: Any) -> dict[str, str]:
    """Return the names under a key, made valid by ``make``, with their descriptions.

    Raises UsageError at any fault.
    """
    value = data.get(key, {})
    if isinstance(value, list):
        value = {str(name): "" for name in value}
    if not isinstance(value, dict):
        raise UsageError(f"schema: {key} must be a list of names, or map names to descriptions")
    if len(value) > MOST_TYPES:
        raise UsageError(f"schema: {key} has {len(value)} names; at most {MOST_TYPES} are allowed")
    described: dict[str, str] = {}
    for name, description in value.items():
        made = make(name)
        if made is None:
            raise UsageError(f"schema: {key}: {name[:60]!r} cannot be used as a name")
        if made in described:
            raise UsageError(f"schema: {key}: two names mean {made!r}")
        described[made] = " ".join(str(description or "").split())[:400]
    return described


def _read_pattern(value: Any) -> Pattern:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise UsageError("schema: a pattern must be [source type, relation, target type]")
    source, relation, target = map(str, value)
    pattern = (label_name(source), relation_name(relation), label_name(target))
    if None in pattern:
        raise UsageError(f"schema: patterns: {str(value)[:100]} has a name that cannot be used")
    return (pattern[0] or "", pattern[1] or "", pattern[2] or "")


def _check_patterns(
    patterns: tuple[Pattern, ...], types: Mapping[str, str], relations: Mapping[str, str]
) -> None:
    for source, relation, target in patterns:
        for name, allowed in ((source, types), (relation, relations), (target, types)):
            if name not in allowed:
                raise UsageError(f"schema: patterns: {name!r} is not in the schema")
