"""Finds the aliases in a text, with what stands between them, so that they can be drawn.

What counts is decided where the answer is made, and comes with it as citations; this only finds
the places. Everything here takes time in proportion to the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgs_neo4j.model import Answer, Citation

Place = tuple[int, str]  # partition, 0 where none is named, and alias

# What counts as a citation is decided by the grammar in `pgs/citations.py`, which nothing here
# may import; this is the same one, and a test holds both against each other.
_DASH = r"(?:[-\u2010-\u2015\u2212]|to(?!\w))"
_NAME = r"(?:P\d{1,9}(?:\s*[:.]\s*|\s+))?(?:nodes?\s+)?n\d{1,9}(?!\w)"
_MARK = r"(?:[,;&/]|and(?!\w)|nodes?(?!\w|\s+n\d{1,9}(?!\w)))"
_GROUP = re.compile(
    r"[\[(\u3010\uff08\uff3b\u3014]"
    rf"(?:\s*{_MARK})*\s*{_NAME}(?:\s*(?:(?:{_DASH}\s*)?{_NAME}|{_MARK}))*\s*"
    r"[\])\u3011\uff09\uff3d\u3015]",
    re.IGNORECASE,
)
_ALIAS = re.compile(r"(?:P(?P<partition>\d+)[\s:.]+)?(?:nodes?\s+)?n(?P<number>\d+)", re.IGNORECASE)


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
        if group.start() > begin:
            yield text[begin : group.start()]
        yield _group(group[0], partition)
        begin = group.end()
    if begin < len(text):
        yield text[begin:]


def place_of(citation: Citation) -> Place:
    """What identifies the node of a citation."""
    return citation.partition, citation.alias


def name_of(partition: int, alias: str) -> str:
    """A node as it is cited: ``P4:n12``; ``n3`` where no partition is named."""
    return f"P{partition}:{alias}" if partition else alias


def distinct(citations: Sequence[Citation]) -> list[Citation]:
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
    """The aliases in a pair of brackets that holds nothing else."""
    aliases = list(_ALIAS.finditer(written))
    ends = [*(alias.start() for alias in aliases[1:]), len(written)]
    found: list[Cited] = []
    for alias, end in zip(aliases, ends, strict=True):
        partition = int(alias["partition"] or partition)
        found.append(
            Cited(
                before="" if found else written[: alias.start()],
                text=alias[0],
                after=written[alias.end() : end],
                place=(partition, f"n{int(alias['number'])}"),
            )
        )
    return tuple(found)
