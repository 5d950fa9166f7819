"""Marks the sentences of an answer whose claims the nodes that they cite do not bear out.

The text is rewritten as it streams, one paragraph or bullet at a time, because the citations of a
sentence may come at the end of it. Bullets on absences are left alone: they are about what no node
says, and have their own checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgs_neo4j.model import Citation, DoubtedSentence, Partition, Sweep
from pgs_neo4j.synthesis.prompt import SECTIONS
from pgs_neo4j.text.citations import resolve_qualified
from pgs_neo4j.text.claims.check import Known, Material, find_doubts
from pgs_neo4j.text.claims.marking import (
    Doubting,
    begins_block,
    find_marked,
    mark,
    mark_heading,
    strike,
)
from pgs_neo4j.text.markdown import is_heading, opened_section, sections

UNCHECKED = "absences"
NOTHING_LEFT = "Nothing that was said here stands: what it cites does not say it, so it was struck."
Place = tuple[int, int]
"""A node by its partition and rank."""


class StatementFilter:
    """Passes a streamed answer on by blocks, with a mark behind each sentence in doubt.

    ``names`` are the spellings of all sections, by name; those of ``unchecked`` pass as they are.
    """

    def __init__(
        self,
        doubting: Doubting,
        unchecked: str = UNCHECKED,
        names: Mapping[str, tuple[str, ...]] = SECTIONS,
    ) -> None:
        self._doubting = doubting
        self._unchecked = unchecked
        self._names = names
        self._line = ""  # the rest of a line that has not ended
        self._block: list[str] = []  # lines of a paragraph or bullet that has not ended
        self._inside = False

    def pass_on(self, piece: str) -> str:
        """Return the blocks that have ended after ``piece`` has arrived."""
        *lines, self._line = (self._line + piece).split("\n")
        return "".join(self._take(f"{line}\n") for line in lines)

    def end(self) -> str:
        """Return the rest; called at the end of the answer."""
        line, self._line = self._line, ""
        last = self._take(line) if line else ""
        return last + self._finish_block()

    def _take(self, line: str) -> str:
        """Return what may be shown once a line has ended."""
        name = opened_section(line, self._names)
        if name is not None:
            before = self._finish_block()
            self._inside = name == self._unchecked
            return before + (line if self._inside else self._mark_rest(line, name))
        if not self._inside and is_heading(line):
            return self._finish_block() + mark_heading(line, self._doubting)
        if is_heading(line) or not line.strip():
            return self._finish_block() + line
        if self._inside:
            return line
        before = self._finish_block() if begins_block(line) else ""
        self._block.append(line)
        return before

    def _mark_rest(self, line: str, name: str) -> str:
        """Return the heading of a section, with what it says itself behind its colon marked."""
        rest = sections(line, self._names).get(name, "")
        place = line.rfind(rest) if rest else -1
        return line if place < 0 else line[:place] + mark(line[place:], self._doubting)

    def _finish_block(self) -> str:
        text, self._block = "".join(self._block), []
        return mark(text, self._doubting) if text else ""


def doubt_statements(
    question: str,
    sweeps: Sequence[Sweep],
    partitions: Sequence[Partition],
    texts: Mapping[Place, str],
) -> Doubting:
    """Return what looks the sentences of a synthesis up.

    ``texts`` are those of the nodes that the reports cite. A finding that is in no doubt counts as
    a text of the nodes that it cites, since it may rest on their facts. A sentence without a
    citation, in a line without one, may rest on any of them.
    """
    reports = [sweep.report for sweep in sweeps if sweep.report is not None]
    said: dict[tuple[int, str], list[str]] = {}
    citable: dict[tuple[int, str], Citation] = {}
    for report in reports:
        for citation in report.citations:
            if citation.valid:
                citable[citation.partition, citation.alias] = citation
        for finding in report.findings:
            if finding.doubts or not all(quote.found for quote in finding.quotes):
                continue
            for citation in finding.citations:
                said.setdefault((citation.partition, citation.alias), []).append(finding.text)
    states = [strike(report.domain_state) for report in reports]
    known = Known(
        question=Material(question),
        names=Material("\n".join((*_names(partitions), *states))),
        partitions=frozenset((len(reports), len(partitions), len(partitions) - len(reports))),
        nodes=frozenset(
            (
                sum(sweep.nodes_read for sweep in sweeps),
                *(sweep.nodes_read for sweep in sweeps),
                *(partition.size for partition in partitions),
                sum(partition.size for partition in partitions),
                sum(len(report.findings) for report in reports),
            )
        ),
    )
    materials: dict[tuple[int, str], Material] = {}

    def material(key: tuple[int, str]) -> Material:
        if key not in materials:
            own = citable[key]
            text = texts.get((own.partition, own.rank if own.rank is not None else -1), "")
            materials[key] = Material("\n".join((own.title or "", text, *said.get(key, ()))))
        return materials[key]

    def doubt(sentence: str, cites: str) -> tuple[str, ...]:
        cited = [one for one in resolve_qualified(cites, citable) if one.valid]
        keys = [(one.partition, one.alias) for one in cited] or list(citable)
        counts = (len({one.partition for one in cited}), len(cited))
        return find_doubts(sentence, [material(key) for key in keys], known, cited=counts)

    return doubt


def doubted_sentences(text: str) -> tuple[DoubtedSentence, ...]:
    """Return the marked sentences of an answer in order."""
    return tuple(DoubtedSentence(text=one.text, reason=one.reason) for one in find_marked(text))


def strike_sentences(text: str, names: Mapping[str, tuple[str, ...]], main: str) -> str:
    """Return an answer without its marked sentences.

    ``names`` are the spellings of its sections. Where nothing is left of ``main``, it says so.
    """
    left = strike(text)
    if left == text or not (found := sections(left, names)):
        return left if left.strip() else NOTHING_LEFT
    if main not in found or found[main].strip():
        return left
    lines = left.split("\n")
    place = next(at for at, line in enumerate(lines) if opened_section(f"{line}\n", names) == main)
    return "\n".join((*lines[: place + 1], NOTHING_LEFT, *lines[place + 1 :]))


def _names(partitions: Sequence[Partition]) -> list[str]:
    return [name for partition in partitions for name in (partition.name, *partition.topics)]
