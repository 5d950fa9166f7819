"""Find the aliases in a text and the text between them.

Whether a citation is valid was decided when the answer was made and is part of it. This module only
finds the places, in time proportional to the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pgs_neo4j.model import Answer, Citation
from pgs_neo4j.text.aliases import ALIAS, GROUP
from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.shown import one_line

SHORT_TITLE = 36  # characters of a node's title in running text

Place = tuple[int, str]  # partition id, 0 if none is named, and alias


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

    An alias without a partition belongs to the partition of the alias before it in the group, else
    to ``partition``.
    """
    begin = 0
    for group in GROUP.finditer(text):
        if group.start() > begin:
            yield text[begin : group.start()]
        yield _group(group[0], partition)
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
    """Return the name of each node in running text: a short title.

    Nodes that share a short title have their alias after it. A node without a title has only its
    alias. The first title of a place counts.
    """
    names: dict[Place, str] = {}
    for place, title in titles:
        names.setdefault(place, _shortened(title))
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


def _shortened(title: str) -> str:
    """Return a title that ends at a word, unless its first words are too long."""
    line = " ".join(defuse(one_line(title, 4 * SHORT_TITLE)).split())
    if len(line) <= SHORT_TITLE:
        return line
    cut = line[: SHORT_TITLE - 1]
    words = cut.rpartition(" ")[0]
    return f"{(words if len(words) > SHORT_TITLE // 2 else cut).rstrip(' .,;:-')}…"


def _group(written: str, partition: int) -> tuple[Cited, ...]:
    """Return the aliases of a citation that is ``written`` with its brackets."""
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
