"""Makes the text, title, and key of a node from its properties and facts.

Queries return a fact as a map after the properties. Properties cannot be maps, so the type
distinguishes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pgs_neo4j.model import Fact, Node

TITLE_LENGTH = 100
NAME_LENGTH = 80  # characters of a relationship's type, and of its name
VECTOR = 32  # a list with at least this many whole numbers counts as a vector
HEAD = 2000  # characters that are searched for the first line
_HANDLE = re.compile(r"\d+:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")


def joined_text(values: Iterable[Any]) -> str:
    """Return the text of a node: its non-empty text properties in order, and then its facts.

    A blank line separates properties, and a line break the items of a list. Numbers, dates, and
    similar values become text. Bytes and vectors are left out. Each fact is a line that names the
    relationship and its target. Equal lines count once, and the lines are sorted, so their order
    depends on nothing else.
    """
    return _join_values(values, _write_fact)


def searched_text(values: Iterable[Any]) -> str:
    """Return the text of a node for searches by words.

    Unlike in ``joined_text``, facts name only the target. Most relationships have one of a few
    types, so a search for a word of their names would find nearly all nodes.
    """
    return _join_values(values, _write_fact_words)


def _join_values(values: Iterable[Any], write: Callable[[Mapping[str, Any], str], str]) -> str:
    parts: list[str] = []
    lines: list[str] = []
    for value in values:
        if not isinstance(value, dict):
            parts.append(_strip_value(value))
        elif stated := stated_text(value["fact"]):
            lines.append(write(value, stated))
    if lines:
        parts.append("\n".join(sorted(set(lines))))
    return "\n\n".join(filter(None, parts))


def stated_text(value: Any) -> str:
    """Return the statement of a relationship on one line, with semicolons between list items."""
    if isinstance(value, list) and not _is_vector(value):
        return "; ".join(filter(None, map(_join_line, value)))
    return _join_line(value)


def _write_fact(fact: Mapping[str, Any], stated: str) -> str:
    kind = shortened(fact["type"], NAME_LENGTH)
    name = shortened(_strip_value(fact["name"]), NAME_LENGTH)
    named = f"{kind} ({name})" if name and name != kind else kind
    return f"{named} -> {_write_fact_words(fact, stated)}"


def _write_fact_words(fact: Mapping[str, Any], stated: str) -> str:
    return f"{shortened(fact['target'] or 'a node', TITLE_LENGTH)}: {stated}"


def number(value: Any) -> float:
    """Return the value as a float, or NaN if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if math.isfinite(value) else math.nan


def node(
    *,
    rank: int,
    element_id: str,
    labels: Sequence[str],
    text: Sequence[Any],
    title: Any,
    key: Any,
) -> Node:
    """Return a node for sweeps and searches, from a query's columns.

    The title falls back to the text's first line, then to the key, then to the label and a number.
    The key falls back to the element id, which is valid in this run only.
    """
    own_key = _strip_value(key)
    label = labels[0] if labels else "node"
    # The rest of the element id is the same for all nodes of a database, so it distinguishes
    # nothing, and readers would take its parts for words.
    number = element_id.rpartition(":")[2]
    return Node(
        rank=rank,
        element_id=element_id,
        key=own_key or element_id,
        title=title_of(title, text, key, label) or f"{label} {number}",
        text=joined_text(text),
        labels=tuple(labels),
        facts=_find_facts(text),
    )


def is_handle(key: str) -> bool:
    """Return whether a key is an element id of the database, used in place of a missing key."""
    return _HANDLE.fullmatch(key) is not None


def _find_facts(text: Sequence[Any]) -> tuple[Fact, ...]:
    facts = (value for value in text if isinstance(value, dict))
    return tuple(Fact(one["node"], stated) for one in facts if (stated := stated_text(one["fact"])))


def title_of(title: Any, text: Sequence[Any], key: Any, label: str = "") -> str:
    """Return a node's title, else its text's first line, else its key, else an empty text.

    A fact cannot be a title, because it is also about its target. A key without letters means
    nothing to people, so the ``label`` is put before it, if the label is known: ``Order 10248``.
    """
    own = (value for value in text if not isinstance(value, dict))
    first = _strip_value(title) or joined_text(own)
    if not first and (first := _strip_value(key)) and label and not any(map(str.isalpha, first)):
        first = f"{label} {first}"
    return shortened(first[:HEAD].splitlines()[0], TITLE_LENGTH) if first else ""


def shortened(text: str, length: int) -> str:
    """Return a text as one line of at most ``length`` characters, cut after a word if possible."""
    # More than ``length`` words cannot fit, so the rest of a long text need not be split.
    line = " ".join(text.split(None, length))
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > length // 2 else cut).rstrip() + "…"


def _join_line(value: Any) -> str:
    return " ".join(_strip_value(value).split())


def _strip_value(value: Any) -> str:
    return "" if value is None else _write_value(value).strip()


def _write_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if _is_vector(value):
            return ""
        return "\n".join(_write_value(item) for item in value if item is not None)
    return "" if isinstance(value, bytes | bytearray) else str(value)


def _is_vector(values: list[Any]) -> bool:
    """Return whether a list is an embedding rather than a few numbers to read."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return numbers and (len(values) >= VECTOR or any(isinstance(v, float) for v in values))
