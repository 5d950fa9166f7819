"""Reads the citations in a model's text, resolves the nodes they name, and prepares their display.

A citation is a pair of brackets that contains only aliases. The brackets are square or round,
narrow or full-width: ``[n1]``, ``(n1, n2)``, ``【P4:n1; n2】``, ``[nodes n3 and n5]``. Two aliases
with a hyphen or a longer dash between them are a range: ``[n3-n7]``. A range cites every node in it
if all of them were in the prompt and there are at most ``RANGE``. Otherwise it cites its two ends.

When an answer is made, it stores which of its citations are valid. So to show its text, ``pieces``
only has to find the aliases. All functions take time in proportion to the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.model import Answer, Citation, Node
from pgs_neo4j.text.shown import one_line

_DASH = r"(?:[-\u2010-\u2015\u2212]|to(?!\w))"
_NAME = r"(?:P\d{1,9}(?:\s*[:.]\s*|\s+))?(?:nodes?\s+)?n\d{1,9}(?!\w)"

# The word before a bare alias belongs to the alias, and a group contains no brackets. So there is
# only one way to read a group, and matching takes linear time.
_MARK = r"(?:[,;&/]|and(?!\w)|nodes?(?!\w|\s+n\d{1,9}(?!\w)))"
_PARTS = r"(?:P(?P<partition>\d+)[\s:.]+)?(?:nodes?\s+)?n(?P<number>\d+)"
GROUP = re.compile(
    r"[\[(\u3010\uff08\uff3b\u3014]"
    rf"((?:\s*{_MARK})*\s*{_NAME}(?:\s*(?:(?:{_DASH}\s*)?{_NAME}|{_MARK}))*)\s*"
    r"[\])\u3011\uff09\uff3d\u3015]",
    re.IGNORECASE,
)
"""A citation; group 1 is the text between its brackets."""

ALIAS = re.compile(_PARTS, re.IGNORECASE)
"""An alias in a citation, as ``partition`` (or None) and ``number``."""

ENTRY = re.compile(rf"(?P<range>{_DASH}\s*)?{_PARTS}", re.IGNORECASE)
"""An alias, with ``range`` if a dash before it makes it the end of a range."""

RANGE = 20  # maximum number of nodes that a range may cite without naming each
SHORT_TITLE = 36  # maximum characters of a node's title in running text
Place = tuple[int, str]  # partition id, or 0 if the text names no partition, and alias


@dataclass(frozen=True, slots=True)
class Mention:
    """An alias as written, or a range with both ends included.

    ``partition`` is None if the text names no partition.
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
    brackets, or else to ``partition``.
    """
    seen: set[Mention] = set()
    for group in GROUP.finditer(text):
        for mention in _parse_mentions(group[1], partition):
            if mention not in seen:
                seen.add(mention)
                yield mention


def resolve(text: str, partition: int, nodes: Mapping[str, Node]) -> tuple[Citation, ...]:
    """Resolve the citations of a sweep's text.

    ``nodes`` are the nodes in the prompt, by alias. Other aliases are kept with ``valid`` false.
    """
    cited: dict[tuple[int, str], Citation] = {}
    for mention in find_mentions(text, partition):
        number = partition if mention.partition is None else mention.partition
        own: Mapping[str, Node] = nodes if number == partition else {}
        for alias in mention.aliases(own):
            cited.setdefault((number, alias), _make_citation(alias, number, own.get(alias)))
    return tuple(cited.values())


def resolve_qualified(
    text: str, reported: Mapping[tuple[int, str], Citation]
) -> tuple[Citation, ...]:
    """Resolve the citations of a synthesis.

    A citation is valid if a report cites the same node. ``reported`` are the citations of all
    reports, by partition and alias.
    """
    by_partition: dict[int, dict[str, Citation]] = {}
    for (partition, alias), citation in reported.items():
        by_partition.setdefault(partition, {})[alias] = citation
    cited: dict[tuple[int, str], Citation] = {}
    for mention in find_mentions(text, None):
        number = mention.partition or 0
        own = by_partition.get(number, {})
        for alias in mention.aliases(own):
            cited.setdefault((number, alias), own.get(alias) or _make_citation(alias, number, None))
    return tuple(cited.values())


def qualify_aliases(text: str, partition: int) -> str:
    """Add the partition to every alias: ``[n3, n7]`` becomes ``[P4:n3, P4:n7]``."""

    def rewrite(group: re.Match[str]) -> str:
        return f"[{', '.join(map(_write_mention, _parse_mentions(group[1], partition)))}]"

    return GROUP.sub(rewrite, text)


def defuse(text: str) -> str:
    """Make alias-like brackets visibly harmless: ``[n3]`` becomes ``⟦n3⟧``.

    ``find_mentions`` finds nothing in the result.
    """
    if text.isascii() and "[" not in text and "(" not in text:
        return text  # fast path: most texts have no brackets
    return GROUP.sub(lambda group: f"⟦{group[0][1:-1]}⟧", text)


def _parse_mentions(inside: str, partition: int | None) -> list[Mention]:
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


def _write_mention(mention: Mention) -> str:
    ends = dict.fromkeys((mention.first, mention.last))
    return "-".join(f"P{mention.partition}:n{number}" for number in ends)


def _make_citation(alias: str, partition: int, node: Node | None) -> Citation:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """An alias as written, the text around it, and its node.

    ``before`` is the bracket that opens the group; only the first alias of a group has it.
    """

    before: str
    text: str
    after: str
    place: Place


def pieces(text: str, partition: int = 0) -> Iterator[str | tuple[Cited, ...]]:
    """Split a text into plain stretches and groups of aliases with brackets.

    An alias without a partition belongs to the partition of the alias before it in the group, or
    else to ``partition``.
    """
    begin = 0
    for group in GROUP.finditer(text):
        if group.start() > begin:
            yield text[begin : group.start()]
        yield _split_group(group[0], partition)
        begin = group.end()
    if begin < len(text):
        yield text[begin:]


def place_of(citation: Citation) -> Place:
    """Return the place of a cited node."""
    return citation.partition, citation.alias


def name_of(partition: int, alias: str) -> str:
    """Return a node's citation: ``P4:n12``, or ``n3`` without a partition."""
    return f"P{partition}:{alias}" if partition else alias


def distinct(citations: Sequence[Citation]) -> list[Citation]:
    """Return citations without repeats, in the order of first appearance."""
    return list({place_of(citation): citation for citation in citations}.values())


def validity_of(citations: tuple[Citation, ...]) -> dict[Place, bool]:
    """Return whether each cited place has a valid citation."""
    validity: dict[Place, bool] = {}
    for citation in citations:
        place = place_of(citation)
        validity[place] = citation.valid or validity.get(place, False)
    return validity


def short_titles(titles: Iterable[tuple[Place, str]]) -> dict[Place, str]:
    """Return the short title of each node, to name it in running text.

    If nodes share a short title, their aliases follow it. A node without a title is named by its
    alias. The first title of a place counts.
    """
    names: dict[Place, str] = {}
    for place, title in titles:
        names.setdefault(place, _shorten(title))
    count = Counter(names.values())
    return {
        place: title if title and count[title] == 1 else f"{title} {name_of(*place)}".strip()
        for place, title in names.items()
    }


def cited_titles(citations: Iterable[Citation]) -> dict[Place, str]:
    """Return the short title of each valid citation."""
    return short_titles((place_of(one), one.title or "") for one in citations if one.valid)


def reported_citations(answer: Answer) -> tuple[Citation, ...]:
    """Return all citations of the reports and of their crosscheck."""
    reports = [sweep.report for sweep in answer.sweeps if sweep.report is not None]
    checks = answer.crosscheck
    return (
        *(citation for report in reports for citation in report.citations),
        *(citation for flag in checks.flags for citation in flag.citations),
        *(citation for met in checks.convergences for citation in met.citations),
    )


def _shorten(title: str) -> str:
    """Return a title cut to ``SHORT_TITLE``, at the end of a word unless its words are too long."""
    line = " ".join(defuse(one_line(title, 4 * SHORT_TITLE)).split())
    if len(line) <= SHORT_TITLE:
        return line
    cut = line[: SHORT_TITLE - 1]
    words = cut.rpartition(" ")[0]
    return f"{(words if len(words) > SHORT_TITLE // 2 else cut).rstrip(' .,;:-')}…"


def _split_group(written: str, partition: int) -> tuple[Cited, ...]:
    """Return the aliases of a citation; ``written`` includes its brackets."""
    aliases = list(ALIAS.finditer(written))
    ends = [*(alias.start() for alias in aliases[1:]), len(written)]
    group: list[Cited] = []
    for alias, end in zip(aliases, ends, strict=True):
        partition = int(alias["partition"] or partition)
        group.append(
            Cited(
                before="" if group else written[: alias.start()],
                text=alias[0],
                after=written[alias.end() : end],
                place=(partition, f"n{int(alias['number'])}"),
            )
        )
    return tuple(group)
