"""Finds aliases in a model's text and resolves them to the nodes that were shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pgs_neo4j.model import Citation, Node

# [n1], [n1, n2], [P4:n1; n2], [node n3]: brackets that hold aliases and nothing else.
_GROUP = re.compile(
    r"\[\s*(?:(?:nodes?|P\d+\s*[:. ]\s*)?\s*n\d{1,9})"
    r"(?:\s*(?:[,;&-]|and)\s*(?:P\d+\s*[:. ]\s*)?n\d{1,9})*\s*\]",
    re.IGNORECASE,
)
_ALIAS = re.compile(r"(?:P(?P<partition>\d{1,9})\s*[:. ]\s*)?n(?P<number>\d{1,9})", re.IGNORECASE)


def found(text: str, partition: int | None) -> Iterator[tuple[int | None, str]]:
    """``(partition, alias)`` in order of appearance, each once.

    An alias without a partition belongs to the one before it in the same brackets, else to
    ``partition``.
    """
    seen: set[tuple[int | None, str]] = set()
    for group in _GROUP.finditer(text):
        current = partition
        for alias in _ALIAS.finditer(group.group()):
            if alias["partition"]:
                current = int(alias["partition"])
            key = (current, f"n{int(alias['number'])}")
            if key not in seen:
                seen.add(key)
                yield key


def resolve(text: str, partition: int, shown: Mapping[str, Node]) -> tuple[Citation, ...]:
    """The citations of a sweep's text; what was not shown is kept with ``valid`` false."""
    return tuple(
        _citation(alias, partition if named is None else named, shown, partition)
        for named, alias in found(text, partition)
    )


def resolve_qualified(text: str, known: Mapping[tuple[int, str], Citation]) -> tuple[Citation, ...]:
    """The citations of a synthesis; valid when a report cited the node, too."""
    return tuple(
        known.get((named or 0, alias)) or Citation(alias=alias, partition=named or 0, valid=False)
        for named, alias in found(text, None)
    )


def qualified(text: str, partition: int) -> str:
    """The text with the partition before every alias: ``[n3, n7]`` as ``[P4:n3, P4:n7]``."""

    def rewrite(group: re.Match[str]) -> str:
        current = partition
        parts = []
        for alias in _ALIAS.finditer(group.group()):
            if alias["partition"]:
                current = int(alias["partition"])
            parts.append(f"P{current}:n{int(alias['number'])}")
        return f"[{', '.join(parts)}]"

    return _GROUP.sub(rewrite, text)


def defused(text: str) -> str:
    """The text with alias-like brackets made visibly harmless: ``[n3]`` as ``⟦n3⟧``."""
    return _GROUP.sub(lambda group: f"⟦{group.group()[1:-1]}⟧", text)


def _citation(alias: str, named: int, shown: Mapping[str, Node], partition: int) -> Citation:
    node = shown.get(alias) if named == partition else None
    if node is None:
        return Citation(alias=alias, partition=named, valid=False)
    return Citation(
        alias=alias,
        partition=partition,
        node=node.key,
        title=node.title,
        element_id=node.element_id,
        rank=node.rank,
    )
