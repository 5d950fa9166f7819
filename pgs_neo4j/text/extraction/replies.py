"""Reads a model's reply to a chunk: records, or JSON if there are none.

A reply may be cut off, and records may be malformed: delimiters with a missing sign, two records on
one line, list marks and quotes around them. If JSON does not parse, its complete objects count. The
rest is dropped and counted by reason. Reading takes linear time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal

from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation, Extraction
from pgs_neo4j.text.extraction.records import (
    BROKEN_COMPLETE,
    BROKEN_DELIMITER,
    DELIMITER,
    make_entity,
    make_relation,
    read_numbers,
    read_weight,
)
from pgs_neo4j.text.thinking import strip_thinking

MOST_RECORDS = 1000
"""Maximum number of records of a reply; only a model that repeats itself writes more."""

LONGEST_LINE, LONGEST_FIELD = 20_000, 2_000
"""Maximum characters to read of a line, and to search for numbers at the end of a line."""

MOST_FAILURES = 40
"""After this many braces that do not begin a valid object, the rest of a reply is not read."""

_QUOTES = r"[\"'*`(]{0,4}"
_RECORD = re.compile(
    rf"{_QUOTES}(entity|relation(?:ship)?)[\"'*`]{{0,4}}\s?{re.escape(DELIMITER)}", re.IGNORECASE
)

_BEGINS = re.compile(
    rf"\s*(?:[-*+•]\s+|\d{{1,3}}[.)]\s+)?{_QUOTES}(?:entity|relation)", re.IGNORECASE
)
_CLOSED = re.compile(r"[.!?\u2026\u3002\uff01\uff1f)\]\"'*`]\s*$")
_ENTITY_FIELDS, _RELATION_FIELDS = 3, 4

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

_Item = ExtractedEntity | ExtractedRelation


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The content of a reply, and whether the reply is complete.

    It is ``complete`` if the end mark follows all records, or if all of it is valid JSON. A reply
    without the mark has ``ended`` if its last line is whole, so nothing shows that it was cut off.
    Records are dropped for these reasons: ``cut off``, ``fields``, ``name``, ``repeated``, and
    ``too many``.
    """

    extraction: Extraction = field(default_factory=Extraction)
    complete: bool = False
    ended: bool = False
    form: Literal["records", "json", "none"] = "none"

    @property
    def dropped(self) -> Mapping[str, int]:
        """Counts of the records that could not be used, by reason."""
        return self.extraction.dropped

    @property
    def records(self) -> int:
        """The number of records that could be used."""
        return len(self.extraction.entities) + len(self.extraction.relations)


def parse_reply(reply: str) -> ParsedReply:
    """Read a reply. This never raises an error, whatever the text."""
    text = strip_thinking(reply)
    *marked, last = BROKEN_COMPLETE.split(text)
    dropped: Counter[str] = Counter()
    begin = last.rfind("\n") + 1
    items = [item for part in marked for item in _read_lines(part, dropped)]
    after = [*_read_lines(last[:begin], dropped)]
    ended = _is_whole(last[begin:], (*marked, last[:begin]))
    if ended:
        after += _read_lines(last[begin:], dropped)
    elif _BEGINS.match(last[begin : begin + 100]):
        dropped["cut off"] += 1
    complete = bool(marked) and not after and not dropped["cut off"]
    if not items and not after and not dropped.keys() - {"cut off"}:
        objects = read_json(text)
        if objects.items or objects.cut or (objects.complete and not complete):
            spoiled = +Counter({"fields": objects.dropped, "cut off": objects.cut})
            parsed = ParsedReply(complete=objects.complete, ended=objects.ended, form="json")
            return _add_records(parsed, objects.items, spoiled)
    form: Literal["records", "none"] = "records" if items or after or complete else "none"
    return _add_records(
        ParsedReply(complete=complete, ended=ended, form=form), [*items, *after], dropped
    )


def _is_whole(line: str, before: Sequence[str]) -> bool:
    """Return whether the last line of a reply seems whole; ``before`` is the rest of the reply.

    A record is whole if it has the numbers of its sentences. If no earlier record has numbers, it
    is also whole if it ends like a sentence, or if no earlier record does.
    """
    if not _BEGINS.match(line[:100]):
        word = line.strip(" \t-*+\u2022\"'`(.)0123456789").lower()
        return not word or not any(kind.startswith(word) for kind in ("entity", "relation"))
    lost: Counter[str] = Counter()
    if not ([*_read_lines(line, lost)] or lost["name"]) or lost["fields"]:
        return False
    if _is_numbered(line):
        return True
    lines = chain.from_iterable(part.split("\n") for part in before)
    records = [one for one in lines if _BEGINS.match(one[:100])]
    if any(map(_is_numbered, records)):
        return False
    closed = any(_CLOSED.search(one[-100:]) for one in records)
    return bool(_CLOSED.search(line[-100:])) or bool(records and not closed)


def _is_numbered(line: str) -> bool:
    """Return whether the last field of a record contains sentence numbers or a weight."""
    mended = BROKEN_DELIMITER.sub(DELIMITER, line[-LONGEST_FIELD:])
    last = mended.rpartition(DELIMITER)[2].strip().strip("()")
    return bool(read_numbers(last)) or read_weight(last) is not None


def _add_records(parsed: ParsedReply, items: list[_Item], dropped: Counter[str]) -> ParsedReply:
    """Return a reply with its distinct records, and count the dropped records."""
    distinct = list(dict.fromkeys(items))
    if len(distinct) < len(items):
        dropped["repeated"] += len(items) - len(distinct)
    if len(distinct) > MOST_RECORDS:
        dropped["too many"] += len(distinct) - MOST_RECORDS
        distinct = distinct[:MOST_RECORDS]
    entities = tuple(one for one in distinct if isinstance(one, ExtractedEntity))
    relations = tuple(one for one in distinct if isinstance(one, ExtractedRelation))
    return replace(parsed, extraction=Extraction(entities, relations, dict(dropped)))


def _read_lines(text: str, dropped: Counter[str]) -> Iterator[_Item]:
    for line in text.split("\n"):
        if not _BEGINS.match(line[:100]):
            continue
        mended = BROKEN_DELIMITER.sub(DELIMITER, line[:LONGEST_LINE])
        yield from _read_line(mended, dropped)


def _read_line(line: str, dropped: Counter[str]) -> Iterator[_Item]:
    """Yield the record of a line, or several records if they share a line."""
    begins = list(_RECORD.finditer(line))
    if not begins:
        return
    first = _split_fields(begins[0], line, len(line), mend=len(begins) == 1)
    if len(begins) == 1 or first is not None:
        yield from _make_item(begins[0][1], first, dropped)
        return
    ends = [*(begin.start() for begin in begins[1:]), len(line)]
    for begin, end in zip(begins, ends, strict=True):
        yield from _make_item(begin[1], _split_fields(begin, line, end, mend=True), dropped)


@dataclass(frozen=True, slots=True)
class _Fields:
    plain: list[str]
    numbers: tuple[int, ...] = ()
    weight: float = 1.0


def _split_fields(begin: re.Match[str], line: str, end: int, *, mend: bool) -> _Fields | None:
    """Return the fields after the kind of record, or None if there are too few or too many.

    With ``mend``, surplus fields before the numbers are joined, because the description contained a
    delimiter.
    """
    plain = line[begin.end() : end].strip().strip("()").split(DELIMITER)
    if len(plain) > 1 and not plain[-1].strip():
        plain.pop()  # the line ended in a delimiter
    relation = begin[1].lower() != "entity"
    count = _RELATION_FIELDS if relation else _ENTITY_FIELDS
    weight = 1.0
    if relation and len(plain) > count:
        is_weight = len(plain) > count + 1 or "." in plain[-1]
        found = read_weight(plain[-1]) if is_weight else None
        if found is not None and (len(plain) == count + 1 or read_numbers(plain[-2]) is not None):
            weight = found
            plain.pop()
    numbers = read_numbers(plain[-1]) if len(plain) > count else None
    if numbers is not None:
        plain.pop()
    if len(plain) > count and numbers and mend:
        plain[count - 1 :] = [" ".join(plain[count - 1 :])]
    return _Fields(plain, numbers or (), weight) if len(plain) == count else None


def _make_item(kind: str, fields: _Fields | None, dropped: Counter[str]) -> Iterator[_Item]:
    """Yield the record that fields make, or count why it is dropped."""
    if fields is None:
        dropped["fields"] += 1
        return
    plain = fields.plain
    item: _Item | None
    if kind.lower() == "entity":
        item = make_entity(plain[0], plain[1], plain[2], fields.numbers)
    else:
        ends = (plain[0], plain[1])
        item = make_relation(ends, plain[2], plain[3], fields.numbers, fields.weight)
    if item is None:
        dropped["name"] += 1
    else:
        yield item


@dataclass(slots=True)
class JsonRecords:
    """Records of a reply in JSON.

    It is ``complete`` if the whole text parses, and has ``ended`` if all brackets are closed.
    ``dropped`` counts objects that are not records or do not parse. ``cut`` means that the text
    ends inside an object.
    """

    items: list[ExtractedEntity | ExtractedRelation] = field(default_factory=list)
    complete: bool = False
    ended: bool = False
    dropped: int = 0
    cut: bool = False


def read_json(text: str) -> JsonRecords:
    """Return the records of a reply in JSON; if it does not parse, its complete objects."""
    records = JsonRecords(cut=_ends_open(text))
    begins = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    begin, end = min(begins, default=0), max(text.rfind("}"), text.rfind("]")) + 1
    lists = False
    try:
        values = [json.loads(text[begin:end])]
    except (ValueError, RecursionError):
        scan = _scan_objects(text, begin)
        values, records.dropped = scan.values, scan.broken
        records.ended = scan.ended and _is_balanced(text[begin:])
        parses = records.ended and not scan.failures
    else:
        parses = records.ended = not records.cut
        lists = _is_listing(values[0]) or _holds_list(values[0])
    for item in chain.from_iterable(map(_find_leaves, values)):
        record = _make_record(item)
        if record is None:
            records.dropped += 1
        else:
            records.items.append(record)
    records.complete = parses and (lists or bool(records.items))
    return records


@dataclass(slots=True)
class _Scan:
    """The complete objects of a text; ``broken`` counts objects that do not parse."""

    values: list[Any] = field(default_factory=list)
    failures: int = 0
    broken: int = 0
    ended: bool = False


def _scan_objects(text: str, place: int) -> _Scan:
    """Return the complete objects of a text, starting at a place."""
    scan = _Scan()
    while (place := text.find("{", place)) >= 0:
        if scan.failures == MOST_FAILURES:
            return scan
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            scan.failures += 1
            following = text.find("{", place + 1)
            # If another object begins before this one ends, this one is a list of records and not
            # a lost record.
            scan.broken += text.find("}", place, None if following < 0 else following) >= 0
            place += 1
        else:
            scan.values.append(value)
    scan.ended = True
    return scan


def _ends_open(text: str) -> bool:
    """Return whether a text ends inside an object."""
    place = text.rfind("{")
    return place >= 0 and "}" not in text[place:] and text[place + 1 :].lstrip()[:1] in ("", '"')


def _is_balanced(text: str) -> bool:
    """Return whether all brackets outside of strings are closed."""
    plain = _STRING.sub("", text)
    return all(plain.count(opens) == plain.count(closes) for opens, closes in ("{}", "[]"))


def _find_leaves(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects that may be records, from lists at any depth."""
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


def _make_record(item: Mapping[str, Any]) -> ExtractedEntity | ExtractedRelation | None:
    """Return the record of a JSON object, or None if the object is not a record."""
    source, target = _read_member(item, _SOURCE), _read_member(item, _TARGET)
    numbers = read_numbers(_read_member(item, _NUMBERS)) or ()
    if source or target:
        weight = next((item[key] for key in _WEIGHT if key in item), 1.0)
        usable = isinstance(weight, int | float) and not isinstance(weight, bool)
        return make_relation(
            (source, target),
            _read_member(item, _KEYWORDS),
            _read_member(item, _TEXT),
            numbers,
            min(float(weight), 1e6) if usable and abs(weight) < 1e300 else 1.0,
        )
    return make_entity(
        _read_member(item, _NAME), _read_member(item, _TYPE), _read_member(item, _TEXT), numbers
    )


def _read_member(item: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first member found among ``keys``, as text; lists are joined by commas."""
    value = next((item[key] for key in keys if item.get(key) not in (None, "")), "")
    if isinstance(value, list):
        return ",".join(str(one) for one in value if isinstance(one, str | int))
    return str(value) if isinstance(value, str | int | float) else ""
