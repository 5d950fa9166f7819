"""Reads a model's reply to a chunk: records, or JSON if there are none.

A reply may be cut off, or records may be spoiled: delimiters with a missing sign, two records on
one line, list marks and quotes around them. What can be read counts. The rest is dropped, and
counted by reason. Reading takes linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation, Extraction
from pgs_neo4j.text.extraction.fields import make_entity, make_relation, read_numbers, read_weight
from pgs_neo4j.text.extraction.json_reply import read_json
from pgs_neo4j.text.extraction.records import BROKEN_COMPLETE, BROKEN_DELIMITER, DELIMITER
from pgs_neo4j.text.markdown import strip_thinking

MOST_RECORDS = 1000
"""Records of a reply; a model that repeats itself writes more."""

LONGEST_LINE = 20_000

_QUOTES = r"[\"'*`(]{0,4}"
_RECORD = re.compile(
    rf"{_QUOTES}(entity|relation(?:ship)?)[\"'*`]{{0,4}}\s?{re.escape(DELIMITER)}", re.IGNORECASE
)
_BEGINS = re.compile(
    rf"\s*(?:[-*+•]\s+|\d{{1,3}}[.)]\s+)?{_QUOTES}(?:entity|relation)", re.IGNORECASE
)
_ENTITY_FIELDS, _RELATION_FIELDS = 3, 4
_Item = ExtractedEntity | ExtractedRelation


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says. If it is not ``complete``, it was cut off, or it is no answer.

    Reasons for what could not be used: ``cut off``, ``fields``, ``name``, ``repeated``, ``too
    many``.
    """

    extraction: Extraction = field(default_factory=Extraction)
    complete: bool = False
    form: Literal["records", "json", "none"] = "none"

    @property
    def dropped(self) -> Mapping[str, int]:
        """Counts of the records that could not be used, by reason."""
        return self.extraction.dropped


def parse_reply(reply: str) -> ParsedReply:
    """Read a reply. No text raises an error."""
    text = strip_thinking(reply)
    segments = BROKEN_COMPLETE.split(text)
    dropped: Counter[str] = Counter()
    last = segments[-1]
    whole = last.rfind("\n") + 1
    items = [item for part in segments[:-1] for item in _read_lines(part, dropped)]
    ended = len(segments) > 1
    after = list(_read_lines(last[:whole], dropped))
    if _BEGINS.match(last[whole : whole + 100]):
        dropped["cut off"] += 1
        ended = False
    if not items and not after and not dropped.keys() - {"cut off"}:
        objects = read_json(text)
        if objects.items or objects.dropped or (objects.complete and not ended):
            spoiled = Counter({"fields": objects.dropped} if objects.dropped else {})
            return _result(objects.items, objects.complete, "json", spoiled)
    form: Literal["records", "none"] = "records" if items or after or ended else "none"
    return _result([*items, *after], ended and not after, form, dropped)


def _result(
    items: list[_Item],
    complete: bool,
    form: Literal["records", "json", "none"],
    dropped: Counter[str],
) -> ParsedReply:
    distinct = list(dict.fromkeys(items))
    if len(distinct) < len(items):
        dropped["repeated"] += len(items) - len(distinct)
    if len(distinct) > MOST_RECORDS:
        dropped["too many"] += len(distinct) - MOST_RECORDS
        distinct = distinct[:MOST_RECORDS]
    entities = tuple(one for one in distinct if isinstance(one, ExtractedEntity))
    relations = tuple(one for one in distinct if isinstance(one, ExtractedRelation))
    return ParsedReply(Extraction(entities, relations, dict(dropped)), complete, form)


def _read_lines(text: str, dropped: Counter[str]) -> Iterator[_Item]:
    for line in text.split("\n"):
        if not _BEGINS.match(line[:100]):
            continue
        mended = BROKEN_DELIMITER.sub(DELIMITER, line[:LONGEST_LINE])
        yield from _read_line(mended, dropped)


def _read_line(line: str, dropped: Counter[str]) -> Iterator[_Item]:
    """Yield the record of a line, or those of several that were glued together."""
    begins = list(_RECORD.finditer(line))
    if not begins:
        return
    first = _fields(begins[0], line, len(line), mend=len(begins) == 1)
    if len(begins) == 1 or first is not None:
        yield from _made(begins[0][1], first, dropped)
        return
    ends = [*(begin.start() for begin in begins[1:]), len(line)]
    for begin, end in zip(begins, ends, strict=True):
        yield from _made(begin[1], _fields(begin, line, end, mend=True), dropped)


@dataclass(frozen=True, slots=True)
class _Fields:
    plain: list[str]
    numbers: tuple[int, ...] = ()
    weight: float = 1.0


def _fields(begin: re.Match[str], line: str, end: int, *, mend: bool) -> _Fields | None:
    """Return the fields after the kind of record, None if there are too few or too many.

    ``mend``: too many fields before the numbers are a delimiter in the description.
    """
    plain = line[begin.end() : end].strip().strip("()").split(DELIMITER)
    if len(plain) > 1 and not plain[-1].strip():
        plain.pop()  # a delimiter after the last field
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


def _made(kind: str, fields: _Fields | None, dropped: Counter[str]) -> Iterator[_Item]:
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
