"""What a search found, as lines and as JSON."""

from __future__ import annotations

from textwrap import wrap

from pgs_neo4j.model import Found, FoundItem
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line, seconds

TEXT_LINES = 2
INDENT = "     "


def as_json(found: Found) -> Json:
    """Return what a search found as JSON data."""
    return {
        "question": found.question,
        "mode": found.mode,
        "items": [{"content": item.content, "metadata": item.metadata} for item in found.items],
        "paths": [plain_data(path) for path in found.paths],
        "seconds": found.seconds,
        "warnings": list(found.warnings),
    }


def lines(found: Found, width: int) -> list[str]:
    """Return the nodes, best first, each with its first words, and what was compared."""
    shown = [
        line
        for place, item in enumerate(found.items, start=1)
        for line in _item(place, item, width)
    ]
    if not found.items:
        shown = ["nothing in the graph matches the question"]
    methods = "; ".join(
        f"{path.name}: {path.method or path.error}" for path in found.paths if path.count
    )
    told = f"{counted(len(found.items), 'node')} in {_moment(found.seconds)}"
    return [*shown, "", *wrap(f"{told}; {methods}" if methods else told, width)]


def notes(found: Found) -> list[str]:
    """Return the warnings of a search, and the paths that failed."""
    failed = [f"the path {path.name} failed: {path.error}" for path in found.paths if path.error]
    return [*found.warnings, *failed]


def _moment(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else seconds(value)


def _item(place: int, item: FoundItem, width: int) -> list[str]:
    paths = ", ".join(item.scores)
    title, key = one_line(item.title), one_line(item.key)
    name = title if key == title else f"{title} ({key})"
    head = f"{place:>3}  {name} {item.score:.2f} {paths}"
    text = one_line(item.text, TEXT_LINES * (width - len(INDENT)))
    if text.startswith(one_line(item.title)):
        text = text.removeprefix(one_line(item.title)).strip()
    return [
        *wrap(head, width, subsequent_indent=INDENT),
        *wrap(one_line(item.way), width, initial_indent=INDENT, subsequent_indent=INDENT),
        *(f"{INDENT}{line}" for line in wrap(text, width - len(INDENT))[:TEXT_LINES]),
    ]
