"""Present the results of a search as lines and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pgs_neo4j.cli.pages.text import (
    columns,
    fitting_length,
    item,
    statement_lines,
    wrap_lines,
)
from pgs_neo4j.export.statement import list_cells, list_notes
from pgs_neo4j.model import Found, FoundFact, FoundFinding, FoundItem, FoundUnit, StatementRows
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line, seconds
from pgs_neo4j.text.words import stem, words

TEXT_LINES = 2
LAST_WORD = 12  # columns that may stay empty at line ends, because words are not divided
MOST_LISTED = 5
"""Maximum number of relationships, of partitions, and of findings in the lines."""
LONGEST = 240
"""Maximum characters of a relationship, partition, or finding."""
INDENT = "     "
CHANGED = (
    "nothing matches the question, but the database has changed since the graph was partitioned"
)
FAILED = "nothing was found, but not everything could be searched"
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[\u3002\uff01\uff1f])")


def as_json(found: Found) -> Json:
    """Return the results of a search as JSON data."""
    return {
        "question": found.question,
        "mode": found.mode,
        "items": [{"content": item.content, "metadata": item.metadata} for item in found.items],
        "facts": [plain_data(fact) | {"line": fact.line} for fact in found.facts],
        "units": [plain_data(unit) for unit in found.units],
        "findings": [plain_data(finding) for finding in found.findings],
        "reason": found.reason,
        "context": found.context,
        "paths": [plain_data(path) for path in found.paths],
        "seconds": found.seconds,
        "warnings": list(found.warnings),
        "changed": found.changed,
        "rows": plain_data(found.rows),
    }


def lines(found: Found, width: int) -> list[str]:
    """Return the nodes, best first, each with an excerpt, then whatever else matches.

    The last lines have the number of nodes, the time, and the search methods.
    """
    shown = [
        line
        for place, item in enumerate(found.items, start=1)
        for line in _item(place, item, found.question, width)
    ]
    if found.rows is not None:
        shown = _rows(found.rows, width)
    elif not found.items:
        shown = wrap_lines(_nothing_found(found), width)
    shown += _section("relationships", [_fact(fact) for fact in found.facts], width)
    shown += _section("partitions, and units above them", [*map(_unit, found.units)], width)
    shown += _section("findings of earlier runs", [*map(_finding, found.findings)], width)
    methods = "; ".join(
        f"{path.name}: {path.method or path.error}" for path in found.paths if path.count
    )
    amount = counted(len(found.items), "node")
    if found.mode == "cypher":
        amount = counted(len(found.rows.rows) if found.rows else 0, "row")
    summary = f"{amount} in {_time_taken(found.seconds)}"
    if found.reason and (found.rows or found.mode != "cypher"):
        summary = f"{summary}; {found.reason}"
    return [*shown, "", *wrap_lines(f"{summary}; {methods}" if methods else summary, width)]


def _rows(read: StatementRows, width: int) -> list[str]:
    """Return a statement, its first rows, and what a reader must know of them."""
    head, *rows = list_cells(read)
    names = head[1:]
    listed = [
        f"{alias}  " + "; ".join(f"{name}: {cell}" for name, cell in zip(names, cells, strict=True))
        for alias, *cells in rows
    ]
    return [
        *statement_lines(read.statement, width),
        "",
        *(line for row in listed for line in wrap_lines(row, width, subsequent_indent=INDENT)),
        *(line for note in list_notes(read) for line in item(note, width)),
    ]


def _nothing_found(found: Found) -> str:
    if found.mode == "cypher":
        return f"no statement was read: {found.reason}"
    if any(path.error for path in found.paths):
        return FAILED
    return CHANGED if found.changed else "nothing in the graph matches the question"


def _item(place: int, item: FoundItem, question: str, width: int) -> list[str]:
    paths = ", ".join(item.scores)
    title, key = one_line(item.title), one_line(item.key)
    # If no property identifies a node, its key is the id in the database, which tells a person
    # nothing.
    name = title if key in (title, item.id) else f"{title} ({key})"
    head = f"{place:>3}  {name} {item.score:.2f} {paths}"
    text = one_line(item.text).removeprefix(title).strip()
    text = excerpt(text, question, TEXT_LINES * (width - len(INDENT)) - LAST_WORD)
    return [
        *wrap_lines(head, width, subsequent_indent=INDENT),
        *wrap_lines(one_line(item.way), width, initial_indent=INDENT, subsequent_indent=INDENT),
        *(f"{INDENT}{line}" for line in wrap_lines(text, width - len(INDENT))[:TEXT_LINES]),
    ]


def excerpt(text: str, question: str, room: int) -> str:
    """Return the part of a text that matches a question best, in at most ``room`` columns.

    Starts at the sentence with the most words of the question (the first of several), and ends with
    a whole word. An ellipsis marks text that is left out on either side.
    """
    text = one_line(text)
    if columns(text) <= room:
        return text
    asked = {stem(word) for word in words(question)}
    starts = [0, *(gap.end() for gap in _SENTENCE_END.finditer(text))]
    ends = [*starts[1:], len(text)]
    shares = [
        len(asked & {stem(word) for word in words(text[begin:end])})
        for begin, end in zip(starts, ends, strict=True)
    ]
    begin = starts[shares.index(max(shares))]
    head = "… " if begin else ""
    rest, left = text[begin:], room - len(head)
    if columns(rest) <= left:
        return f"{head}{rest}"
    end = fitting_length(rest, left - 1)
    cut = rest[:end]
    blank = cut.rfind(" ") if not rest[end : end + 1].isspace() else end
    # Cut within the word if ending before it would waste over half of the room, as in scripts
    # without blanks.
    words_fill = blank > 0 and columns(cut[:blank]) > left // 2
    return f"{head}{(cut[:blank] if words_fill else cut).rstrip()}…"


def _section(heading: str, entries: Sequence[str], width: int) -> list[str]:
    """Return a heading and the first entries; empty if there are no entries."""
    if not entries:
        return []
    listed = [
        line
        for entry in entries[:MOST_LISTED]
        for line in wrap_lines(entry, width, initial_indent=INDENT, subsequent_indent=f"{INDENT}  ")
    ]
    more = len(entries) - MOST_LISTED
    return ["", heading, *listed, *([f"{INDENT}and {more:,} more (--json)"] if more > 0 else [])]


def _fact(fact: FoundFact) -> str:
    return f"{one_line(fact.line, LONGEST)} {fact.score:.2f}"


def _unit(unit: FoundUnit) -> str:
    name = f"P{unit.id}" if unit.level == 0 else f"unit {unit.id} of level {unit.level}"
    head = f"{name} {one_line(unit.label, LONGEST)}, {counted(unit.size, 'node')}, {unit.score:.2f}"
    if not unit.domain_state:
        return head
    return f"{head}; run {unit.run}: {one_line(unit.domain_state, LONGEST)}"


def _finding(finding: FoundFinding) -> str:
    return f"{one_line(finding.text, LONGEST)} (run {finding.run}, P{finding.partition})"


def _time_taken(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else seconds(value)


def notes(found: Found) -> list[str]:
    """Return the warnings of a search, and a note for each search path that failed."""
    failed = [f"the path {path.name} failed: {path.error}" for path in found.paths if path.error]
    return [*found.warnings, *failed]
