"""Find aliases in a model's text and resolve them to nodes.

A range cites every node in it if all of them were in the prompt and they are at most ``RANGE``.
Otherwise it cites its two ends. Everything here takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from pgs_neo4j.model import Citation, Node
from pgs_neo4j.text.aliases import ENTRY, GROUP

RANGE = 20  # nodes that a range may cite without naming them all


@dataclass(frozen=True, slots=True)
class Mention:
    """An alias as written, or a range with both ends included.

    ``partition`` is None if the text names none.
    """

    partition: int | None
    first: int
    last: int

    def aliases(self, prompted: Container[str]) -> Iterator[str]:
        """Yield the aliases that the mention cites.

        ``prompted`` are the aliases in the prompt.
        """
        if self.last - self.first < RANGE:
            every = [f"n{number}" for number in range(self.first, self.last + 1)]
            if all(alias in prompted for alias in every):
                yield from every
                return
        yield from dict.fromkeys((f"n{self.first}", f"n{self.last}"))


def find_mentions(text: str, partition: int | None) -> Iterator[Mention]:
    """Find the mentions in a text, in order and without repeats.

    An alias without a partition belongs to the partition of the alias before it in the same
    brackets, else to ``partition``.
    """
    seen: set[Mention] = set()
    for group in GROUP.finditer(text):
        for mention in _mentions(group[1], partition):
            if mention not in seen:
                seen.add(mention)
                yield mention


def resolve(text: str, partition: int, nodes: Mapping[str, Node]) -> tuple[Citation, ...]:
    """Resolve the citations of a sweep's text.

    ``nodes`` are those of the prompt, by alias. Other aliases are kept with ``valid`` false.
    """
    cited: dict[tuple[int, str], Citation] = {}
    for mention in find_mentions(text, partition):
        number = partition if mention.partition is None else mention.partition
        own: Mapping[str, Node] = nodes if number == partition else {}
        for alias in mention.aliases(own):
            cited.setdefault((number, alias), _citation(alias, number, own.get(alias)))
    return tuple(cited.values())


def resolve_qualified(
    text: str, reported: Mapping[tuple[int, str], Citation]
) -> tuple[Citation, ...]:
    """Resolve the citations of a synthesis.

    A citation is valid if a report cites the same node: ``reported``, by partition and alias.
    """
    by_partition: dict[int, dict[str, Citation]] = {}
    for (partition, alias), citation in reported.items():
        by_partition.setdefault(partition, {})[alias] = citation
    cited: dict[tuple[int, str], Citation] = {}
    for mention in find_mentions(text, None):
        number = mention.partition or 0
        own = by_partition.get(number, {})
        for alias in mention.aliases(own):
            cited.setdefault((number, alias), own.get(alias) or _citation(alias, number, None))
    return tuple(cited.values())


def qualify_aliases(text: str, partition: int) -> str:
    """Add the partition to every alias: ``[n3, n7]`` becomes ``[P4:n3, P4:n7]``."""

    def rewrite(group: re.Match[str]) -> str:
        return f"[{', '.join(map(_written, _mentions(group[1], partition)))}]"

    return GROUP.sub(rewrite, text)


def defuse(text: str) -> str:
    """Make alias-like brackets visibly harmless: ``[n3]`` becomes ``⟦n3⟧``.

    ``find_mentions`` finds nothing in the result.
    """
    if text.isascii() and "[" not in text and "(" not in text:
        return text  # a quick test that most texts pass
    return GROUP.sub(lambda group: f"⟦{group[0][1:-1]}⟧", text)


def _mentions(inside: str, partition: int | None) -> list[Mention]:
    """Return the mentions in a citation's brackets."""
    mentions: list[Mention] = []
    for entry in ENTRY.finditer(inside):
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
        labels=node.labels,
    )
