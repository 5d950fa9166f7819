"""Reads an extraction that a model wrote as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation
from pgs_neo4j.text.extraction.fields import make_entity, make_relation, read_numbers

MOST_FAILURES = 40
"""Braces that begin no object, after which a reply that was cut off is given up."""

_NAME = ("name", "entity_name", "entity", "id", "title")
_TYPE = ("type", "entity_type", "label", "category")
_SOURCE = ("source", "src", "source_entity", "from", "head", "subject", "start")
_TARGET = ("target", "tgt", "target_entity", "to", "tail", "object", "end")
_KEYWORDS = ("keywords", "relationship_keywords", "relation", "predicate", "rel_type", *_TYPE)
_TEXT = ("description", "relationship_description", "fact", "summary")
_NUMBERS = ("sentences", "sentence", "sentence_numbers", "evidence")
_WEIGHT = ("weight", "strength", "relationship_strength")
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class JsonRecords:
    """Records in JSON; ``dropped`` counts objects that are none."""

    items: list[ExtractedEntity | ExtractedRelation] = field(default_factory=list)
    complete: bool = False
    dropped: int = 0


def read_json(text: str) -> JsonRecords:
    """Return the records of a reply in JSON; of one that was cut off, its whole objects."""
    records = JsonRecords()
    begin, end = _outline(text)
    if begin >= end:
        return records
    try:
        whole = json.loads(text[begin:end])
    except (ValueError, RecursionError):
        objects = _objects(text, begin)
    else:
        records.complete = _is_listing(whole) or _holds_list(whole)
        objects = iter([whole])
    for value in objects:
        for item in _leaves(value):
            record = _record(item)
            if record is None:
                records.dropped += 1
            else:
                records.items.append(record)
    return records


def _outline(text: str) -> tuple[int, int]:
    """Return where the JSON of a text begins and ends."""
    begins = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    return min(begins, default=0), max(text.rfind("}"), text.rfind("]")) + 1


def _objects(text: str, place: int) -> Iterator[Any]:
    """Yield the objects that are whole."""
    failures = 0
    while failures < MOST_FAILURES and (place := text.find("{", place)) >= 0:
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            failures += 1
            place += 1
        else:
            yield value


def _leaves(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects that stand for records, wherever they are listed."""
    waiting = [value]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, list):
            waiting[:0] = one
        elif isinstance(one, dict):
            lists = [inner for inner in one.values() if _is_listing(inner)]
            if lists:
                waiting[:0] = lists
            elif one:
                yield one


def _holds_list(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(inner, list) for inner in value.values())


def _is_listing(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _record(item: Mapping[str, Any]) -> ExtractedEntity | ExtractedRelation | None:
    source, target = _text(item, _SOURCE), _text(item, _TARGET)
    numbers = read_numbers(_text(item, _NUMBERS)) or ()
    if source or target:
        weight = next((item[key] for key in _WEIGHT if key in item), 1.0)
        usable = isinstance(weight, int | float) and not isinstance(weight, bool)
        return make_relation(
            (source, target),
            _text(item, _KEYWORDS),
            _text(item, _TEXT),
            numbers,
            min(float(weight), 1e6) if usable and abs(weight) < 1e300 else 1.0,
        )
    return make_entity(_text(item, _NAME), _text(item, _TYPE), _text(item, _TEXT), numbers)


def _text(item: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first of some members as text; lists are joined by commas."""
    value = next((item[key] for key in keys if item.get(key) not in (None, "")), "")
    if isinstance(value, list):
        return ",".join(str(one) for one in value if isinstance(one, str | int))
    return str(value) if isinstance(value, str | int | float) else ""
