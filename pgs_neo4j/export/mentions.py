"""Finds the aliases in a text, with what stands between them, so that they can be drawn.

What counts is decided where the answer is made, and comes with it as citations; this only finds
the places. Everything here takes time in proportion to the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pgs_neo4j.model import Answer, Citation

Place = tuple[int, str]  # partition, 0 where none is named, and alias

# No bracket is inside a group, so each character is looked at once.
_GROUP = re.compile(
    r"[\[(\u3010\uff08\uff3b\u3014]([^\[\](){}\u3010\u3011\uff08\uff09\uff3b\uff3d\u3014\u3015]++)"
    r"[\])\u3011\uff09\uff3d\u3015]"
)
_ALIAS = re.compile(
    r"(?<!\w)(?:P(?P<partition>\d{1,9})(?:\s*+[:.]\s*+|\s++))?(?:nodes?\s++)?"
    r"n(?P<number>\d{1,9})(?!\w)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?:[\s,;&/\u2010-\u2015\u2212-]|(?:and|nodes?|to)(?!\w))*+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """An alias as written, with what stands around it, and the node it names.

    ``before`` is the bracket that opens the group, and only the first of a group has it.
    """

    before: str
    text: str
    after: str
    place: Place


def pieces(text: str, partition: int = 0) -> Iterator[str | tuple[Cited, ...]]:
    """The text in order: plain stretches, and groups of aliases, their brackets included.

    An alias without a partition belongs to the one before it in the group, else to
    ``partition``.
    """
    begin = 0
    for group in _GROUP.finditer(text):
        found = _group(group[0], partition)
        if found:
            if group.start() > begin:
                yield text[begin : group.start()]
            yield found
            begin = group.end()
    if begin < len(text):
        yield text[begin:]


def place_of(citation: Citation) -> Place:
    """What identifies the node of a citation."""
    return citation.partition, citation.alias


def name_of(partition: int, alias: str) -> str:
    """A node as it is cited: ``P4:n12``; ``n3`` where no partition is named."""
    return f"P{partition}:{alias}" if partition else alias


def distinct(citations: tuple[Citation, ...]) -> list[Citation]:
    """Each citation once, in the order of its first appearance."""
    return list({place_of(each): each for each in citations}.values())


def judged(citations: tuple[Citation, ...]) -> dict[Place, bool]:
    """Whether each place cited is valid; it is when one of its citations is."""
    found: dict[Place, bool] = {}
    for each in citations:
        found[place_of(each)] = each.valid or found.get(place_of(each), False)
    return found


def reported(answer: Answer) -> tuple[Citation, ...]:
    """All citations of the reports and of what was found among them."""
    reports = [sweep.report for sweep in answer.sweeps if sweep.report is not None]
    met = answer.crosscheck
    return (
        *(each for report in reports for each in report.citations),
        *(each for flag in met.flags for each in flag.citations),
        *(each for convergence in met.convergences for each in convergence.citations),
    )


def _group(written: str, partition: int) -> tuple[Cited, ...]:
    """The aliases in a pair of brackets; none when it holds anything else."""
    aliases = list(_ALIAS.finditer(written, 1, len(written) - 1))
    ends = [0, *(alias.end() for alias in aliases)]
    begins = [*(alias.start() for alias in aliases), len(written)]
    for end, begin in zip(ends, begins, strict=True):
        if not _BETWEEN.fullmatch(written, max(end, 1), min(begin, len(written) - 1)):
            return ()
    found: list[Cited] = []
    for place, alias in enumerate(aliases):
        partition = int(alias["partition"] or partition)
        found.append(
            Cited(
                before="" if place else written[: alias.start()],
                text=alias[0],
                after=written[alias.end() : begins[place + 1]],
                place=(partition, f"n{int(alias['number'])}"),
            )
        )
    return tuple(found)
