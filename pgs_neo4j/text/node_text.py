"""The text, title, and key of a node, from any properties and the facts that it states.

Statements return a fact as a map behind the properties, which cannot be maps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pgs_neo4j.model import Fact, Node

TITLE_LENGTH = 100
NAME_LENGTH = 80  # characters of a relationship's type, and of its name
VECTOR = 32  # whole numbers from which on a list is taken for a vector
HEAD = 2000  # characters in which the first line is looked for
_HANDLE = re.compile(r"\d+:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")


def joined_text(values: Iterable[Any]) -> str:
    """Return the text of a node: its non-empty text properties in order, and then its facts.

    A blank line separates properties, and a line break the items of a list. Numbers, dates, and
    the like are written out. Bytes and vectors are left out. Each fact is a line that names the
    relationship and its target. Equal lines count once, and their order depends on nothing else.
    """
    return _joined(values, _fact_line)


def searched_text(values: Iterable[Any]) -> str:
    """Return the text of a node in which its words are searched.

    It differs from ``joined_text`` in that facts name only the target. Most relationships have one
    of a few types, and a word that every node holds would make a search find all of them.
    """
    return _joined(values, _fact_words)


def _joined(values: Iterable[Any], write: Callable[[Mapping[str, Any], str], str]) -> str:
    parts: list[str] = []
    lines: list[str] = []
    for value in values:
        if not isinstance(value, dict):
            parts.append(_stripped(value))
        elif stated := stated_text(value["fact"]):
            lines.append(write(value, stated))
    if lines:
        parts.append("\n".join(sorted(set(lines))))
    return "\n\n".join(filter(None, parts))


def stated_text(value: Any) -> str:
    """Return what a relationship states on one line, with a semicolon between items of a list."""
    if isinstance(value, list) and not _is_vector(value):
        return "; ".join(filter(None, map(_one_line, value)))
    return _one_line(value)


def _fact_line(fact: Mapping[str, Any], stated: str) -> str:
    kind = shortened(fact["type"], NAME_LENGTH)
    name = shortened(_stripped(fact["name"]), NAME_LENGTH)
    named = f"{kind} ({name})" if name and name != kind else kind
    return f"{named} -> {_fact_words(fact, stated)}"


def _fact_words(fact: Mapping[str, Any], stated: str) -> str:
    return f"{shortened(fact['target'] or 'a node', TITLE_LENGTH)}: {stated}"


def number(value: Any) -> float:
    """Return the value as a float.

    NaN if it is not a finite number.
    """
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
    own_key = _stripped(key)
    label = labels[0] if labels else "node"
    # All nodes of a database share the rest of their element ids, so it tells nothing apart, and
    # readers would take its parts for words.
    number = element_id.rpartition(":")[2]
    return Node(
        rank=rank,
        element_id=element_id,
        key=own_key or element_id,
        title=title_of(title, text, key, label) or f"{label} {number}",
        text=joined_text(text),
        labels=tuple(labels),
        facts=_facts(text),
    )


def is_handle(key: str) -> bool:
    """Whether a key is the database's element id, which stands in for a missing key."""
    return _HANDLE.fullmatch(key) is not None


def _facts(text: Sequence[Any]) -> tuple[Fact, ...]:
    facts = (value for value in text if isinstance(value, dict))
    return tuple(Fact(one["node"], stated) for one in facts if (stated := stated_text(one["fact"])))


def title_of(title: Any, text: Sequence[Any], key: Any, label: str = "") -> str:
    """Return a node's title, else its text's first line, else its key, else nothing.

    A fact is no title, since it is as much about its target. A key without letters tells people
    nothing, so it comes after the ``label``, if that is known: ``Order 10248``.
    """
    own = (value for value in text if not isinstance(value, dict))
    first = _stripped(title) or joined_text(own)
    if not first and (first := _stripped(key)) and label and not any(map(str.isalpha, first)):
        first = f"{label} {first}"
    return shortened(first[:HEAD].splitlines()[0], TITLE_LENGTH) if first else ""


def shortened(text: str, length: int) -> str:
    """Return one line of at most ``length`` characters.

    It is cut at a word if possible.
    """
    # More words than that cannot fit, so the rest of a long line is not split.
    line = " ".join(text.split(None, length))
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > length // 2 else cut).rstrip() + "…"


def _one_line(value: Any) -> str:
    return " ".join(_stripped(value).split())


def _stripped(value: Any) -> str:
    return "" if value is None else _text(value).strip()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if _is_vector(value):
            return ""
        return "\n".join(_text(item) for item in value if item is not None)
    return "" if isinstance(value, bytes | bytearray) else str(value)


def _is_vector(values: list[Any]) -> bool:
    """Whether a list is an embedding rather than a few numbers to read."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return numbers and (len(values) >= VECTOR or any(isinstance(v, float) for v in values))
