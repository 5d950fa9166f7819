"""Reads an extraction that a model wrote as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
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
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)


@dataclass(slots=True)
class JsonRecords:
    """Records in JSON. It is ``complete`` if all of it parses, and has ``ended`` if all is closed.

    ``dropped`` counts objects that are no records or do not parse. ``cut``: the text ends in one.
    """

    items: list[ExtractedEntity | ExtractedRelation] = field(default_factory=list)
    complete: bool = False
    ended: bool = False
    dropped: int = 0
    cut: bool = False


def read_json(text: str) -> JsonRecords:
    """Return the records of a reply in JSON; of one that does not parse, its whole objects."""
    records = JsonRecords(cut=_ends_open(text))
    begins = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    begin, end = min(begins, default=0), max(text.rfind("}"), text.rfind("]")) + 1
    lists = False
    try:
        values = [json.loads(text[begin:end])]
    except (ValueError, RecursionError):
        scan = _scan(text, begin)
        values, records.dropped = scan.values, scan.broken
        records.ended = scan.ended and _is_balanced(text[begin:])
        parses = records.ended and not scan.failures
    else:
        parses = records.ended = not records.cut
        lists = _is_listing(values[0]) or _holds_list(values[0])
    for item in chain.from_iterable(map(_leaves, values)):
        record = _record(item)
        if record is None:
            records.dropped += 1
        else:
            records.items.append(record)
    records.complete = parses and (lists or bool(records.items))
    return records


@dataclass(slots=True)
class _Scan:
    """The objects of a text that are whole; ``broken`` counts those that do not parse."""

    values: list[Any] = field(default_factory=list)
    failures: int = 0
    broken: int = 0
    ended: bool = False


def _scan(text: str, place: int) -> _Scan:
    """Return the objects that are whole, from a place on."""
    scan = _Scan()
    while (place := text.find("{", place)) >= 0:
        if scan.failures == MOST_FAILURES:
            return scan
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            scan.failures += 1
            following = text.find("{", place + 1)
            # What others begin in is a list of them, and not a record that is lost.
            scan.broken += text.find("}", place, None if following < 0 else following) >= 0
            place += 1
        else:
            scan.values.append(value)
    scan.ended = True
    return scan


def _ends_open(text: str) -> bool:
    """Whether a text ends in an object."""
    place = text.rfind("{")
    return place >= 0 and "}" not in text[place:] and text[place + 1 :].lstrip()[:1] in ("", '"')


def _is_balanced(text: str) -> bool:
    """Whether all brackets are closed, but for those in strings."""
    plain = _STRING.sub("", text)
    return all(plain.count(opens) == plain.count(closes) for opens, closes in ("{}", "[]"))


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
