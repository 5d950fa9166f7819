"""Adds facts to an extraction that are known without a model.

These are entities given by the document, such as the values of a column, and abbreviations defined
in the text: World Health Organization (WHO).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from pgs_neo4j.model.documents import (
    Chunk,
    DefinedName,
    GivenEntity,
    GroundedEntity,
    GroundedExtraction,
    GroundedRelation,
)
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_forms import LONGEST, is_abbreviation, looks_abbreviated, without_plural

Named = tuple[str, str]
"""A name's key and a type."""

FORM = "1"
"""Version of the rules. If it changes, documents are written again, which costs no call."""

_REACH = 40
"""Characters before a name that are searched for its abbreviation."""

_QUOTES = "\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_SHORT = rf"(?P<short>\w[\w.&/-]{{1,{LONGEST}}})"
_BEHIND = re.compile(rf"[{_QUOTES}]?\s?\(\s?(?:the\s)?[{_QUOTES}]?{_SHORT}[{_QUOTES}]?\s?[),;]")
_BEFORE = re.compile(rf"(?<![\w.&/-]){_SHORT}[{_QUOTES}]?\s?\(\s?(?:the\s)?[{_QUOTES}]?$")
_CLOSED = re.compile(rf"[{_QUOTES}]?\s?[),;]")
_WITHIN = re.compile(r"(?P<first>[^()]+?)\s?\((?P<second>[^()]+)\)")


def add_given(extraction: GroundedExtraction, chunk: Chunk) -> GroundedExtraction:
    """Return an extraction with the given entities of its chunk.

    A given entity and an extracted one of the same name and type are merged. If a name is given
    with only one type, all entities of that name get this type.
    """
    if not chunk.given:
        return extraction
    types: dict[str, set[str]] = defaultdict(set)
    for one in chunk.given:
        types[normalize_name(one.name)].add(one.type)
    entities: dict[Named, GroundedEntity] = {}
    for entity in (*(_ground_given(one, chunk) for one in chunk.given), *extraction.entities):
        key = normalize_name(entity.name)
        typed = replace(entity, type=_choose_type(key, entity.type, types))
        known = entities.get((key, typed.type))
        entities[key, typed.type] = _merge(known, typed) if known else typed
    names = {place: entity.name for place, entity in entities.items()}
    relations = (_rename_ends(relation, types, names) for relation in extraction.relations)
    return replace(extraction, entities=tuple(entities.values()), relations=tuple(relations))


def _ground_given(given: GivenEntity, chunk: Chunk) -> GroundedEntity:
    """Return a given entity with its place, or with no place if it extends into the next chunk."""
    whole = given.end <= len(chunk.text)
    number = bisect_right([sentence.start for sentence in chunk.sentences], given.start)
    return GroundedEntity(
        name=given.name,
        type=given.type,
        spans=((given.start, given.end),) if whole else (),
        sentences=(number,),
        given=True,
    )


def _choose_type(key: str, type_: str, types: dict[str, set[str]]) -> str:
    return next(iter(types[key])) if len(types.get(key, ())) == 1 else type_


def _merge(one: GroundedEntity, other: GroundedEntity) -> GroundedEntity:
    return replace(
        one,
        description=one.description or other.description,
        spans=tuple(sorted({*one.spans, *other.spans})),
        sentences=tuple(sorted({*one.sentences, *other.sentences})),
        given=one.given or other.given,
    )


def _rename_ends(
    relation: GroundedRelation, types: dict[str, set[str]], names: dict[Named, str]
) -> GroundedRelation:
    """Return a relation whose ends have the names and types of the entities."""
    source, target = normalize_name(relation.source), normalize_name(relation.target)
    ends = (
        (source, _choose_type(source, relation.source_type, types)),
        (target, _choose_type(target, relation.target_type, types)),
    )
    return replace(
        relation,
        source=names.get(ends[0], relation.source),
        source_type=ends[0][1],
        target=names.get(ends[1], relation.target),
        target_type=ends[1][1],
    )


def add_definitions(extraction: GroundedExtraction, text: str) -> GroundedExtraction:
    """Return an extraction with the abbreviations that the chunk's ``text`` defines for names."""
    found = {(one.name, one.type): one for one in reversed([*_find_definitions(extraction, text)])}
    ordered = sorted(found.values(), key=lambda one: (one.name, one.type))
    return replace(extraction, definitions=tuple(ordered))


def _find_definitions(extraction: GroundedExtraction, text: str) -> Iterator[DefinedName]:
    """Yield abbreviations of the entities; for one name, in the order of the text."""
    bracketed = "(" in text
    for entity in extraction.entities:
        for short in _find_shorts(entity, text) if bracketed else ():
            plain = without_plural(short)
            key, own = normalize_name(entity.name), normalize_name(plain)
            if looks_abbreviated(plain) and is_abbreviation(own, key, entity.type):
                yield DefinedName(name=entity.name, type=entity.type, short=plain)


def _find_shorts(entity: GroundedEntity, text: str) -> Iterator[str]:
    """Yield possible abbreviations of a name: in its own brackets, or in brackets beside it."""
    if (both := _WITHIN.fullmatch(entity.name)) is not None:
        pairs = ((both["first"], both["second"]), (both["second"], both["first"]))
        for long, short in pairs:
            if is_abbreviation(normalize_name(short), normalize_name(long), entity.type):
                yield short
    for start, end in entity.spans:
        if behind := _BEHIND.match(text, end):
            yield behind["short"]
        before = _BEFORE.search(text[max(0, start - _REACH) : start])
        if before and _CLOSED.match(text, end):
            yield before["short"]
