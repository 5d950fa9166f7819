"""Finds aliases in a model's text and resolves them to the nodes that were shown.

A citation is a pair of brackets, square or round, narrow or full-width, that holds aliases
and nothing else: ``[n1]``, ``(n1, n2)``, ``【P4:n1; n2】``, ``[nodes n3 and n5]``. A range,
``[n3-n7]`` with a hyphen or a longer dash, cites every node in it if all of them were shown
and they are at most ``RANGE``; else it cites what it names, both its ends. Everything here
takes time in proportion to the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from pgs_neo4j.model import Citation, Node

RANGE = 20  # nodes that a range may cite without naming each

_DASH = r"(?:[-\u2010-\u2015\u2212]|to(?!\w))"
_ALIAS = r"(?:P\d{1,9}(?:\s*[:.]\s*|\s+))?(?:nodes?\s+)?n\d{1,9}(?!\w)"
# The word before a bare alias belongs to the alias: with one way to read a group, and no bracket
# inside of it, matching takes linear time.
_MARK = r"(?:[,;&/]|and(?!\w)|nodes?(?!\w|\s+n\d{1,9}(?!\w)))"
_GROUP = re.compile(
    r"[\[(\u3010\uff08\uff3b\u3014]"
    rf"((?:\s*{_MARK})*\s*{_ALIAS}(?:\s*(?:(?:{_DASH}\s*)?{_ALIAS}|{_MARK}))*)\s*"
    r"[\])\u3011\uff09\uff3d\u3015]",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    rf"(?P<range>{_DASH}\s*)?(?:P(?P<partition>\d+)[\s:.]+)?(?:nodes?\s+)?n(?P<number>\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """An alias as written, or a range of them, both ends included; None names no partition."""

    partition: int | None
    first: int
    last: int

    def aliases(self, shown: Container[str]) -> Iterator[str]:
        """The aliases it cites, given which were shown."""
        if self.last - self.first < RANGE:
            every = [f"n{number}" for number in range(self.first, self.last + 1)]
            if all(alias in shown for alias in every):
                yield from every
                return
        yield from dict.fromkeys((f"n{self.first}", f"n{self.last}"))


def found(text: str, partition: int | None) -> Iterator[Mention]:
    """What the text cites, in order of appearance, each once.

    An alias without a partition belongs to the one before it in the same brackets, else to
    ``partition``.
    """
    seen: set[Mention] = set()
    for group in _GROUP.finditer(text):
        for mention in _mentions(group[1], partition):
            if mention not in seen:
                seen.add(mention)
                yield mention


def resolve(text: str, partition: int, shown: Mapping[str, Node]) -> tuple[Citation, ...]:
    """The citations of a sweep's text; what was not shown is kept with ``valid`` false."""
    cited: dict[tuple[int, str], Citation] = {}
    for mention in found(text, partition):
        named = partition if mention.partition is None else mention.partition
        here: Mapping[str, Node] = shown if named == partition else {}
        for alias in mention.aliases(here):
            cited.setdefault((named, alias), _citation(alias, named, here.get(alias)))
    return tuple(cited.values())


def resolve_qualified(text: str, known: Mapping[tuple[int, str], Citation]) -> tuple[Citation, ...]:
    """The citations of a synthesis; valid when a report cited the node, too."""
    reported: dict[int, dict[str, Citation]] = {}
    for (partition, alias), citation in known.items():
        reported.setdefault(partition, {})[alias] = citation
    cited: dict[tuple[int, str], Citation] = {}
    for mention in found(text, None):
        named = mention.partition or 0
        here = reported.get(named, {})
        for alias in mention.aliases(here):
            cited.setdefault((named, alias), here.get(alias) or _citation(alias, named, None))
    return tuple(cited.values())


def qualified(text: str, partition: int) -> str:
    """The text with the partition before every alias: ``[n3, n7]`` as ``[P4:n3, P4:n7]``."""

    def rewrite(group: re.Match[str]) -> str:
        return f"[{', '.join(map(_written, _mentions(group[1], partition)))}]"

    return _GROUP.sub(rewrite, text)


def defused(text: str) -> str:
    """The text with alias-like brackets made visibly harmless: ``[n3]`` as ``⟦n3⟧``.

    Nothing is ``found`` in the result.
    """
    if text.isascii() and "[" not in text and "(" not in text:
        return text  # as most are, and to see that is quick
    return _GROUP.sub(lambda group: f"⟦{group[0][1:-1]}⟧", text)


def _mentions(inside: str, partition: int | None) -> list[Mention]:
    """What a pair of brackets that holds aliases cites."""
    mentions: list[Mention] = []
    for entry in _ENTRY.finditer(inside):
        if entry["partition"]:
            partition = int(entry["partition"])
        number = int(entry["number"])
        start = mentions[-1] if entry["range"] else None
        if start and start == Mention(partition, start.first, start.first) and start.first < number:
            mentions[-1] = Mention(partition, start.first, number)
        else:
            mentions.append(Mention(partition, number, number))
    return mentions


def _written(mention: Mention) -> str:
    ends = dict.fromkeys((mention.first, mention.last))
    return "-".join(f"P{mention.partition}:n{number}" for number in ends)


def _citation(alias: str, partition: int, node: Node | None) -> Citation:
    if node is None:
        return Citation(alias=alias, partition=partition, valid=False)
    return Citation(
        alias=alias,
        partition=partition,
        node=node.key,
        title=node.title,
        element_id=node.element_id,
        rank=node.rank,
    )
