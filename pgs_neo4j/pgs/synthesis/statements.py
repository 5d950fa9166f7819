"""Marks the sentences of an answer that the cited nodes do not support, and drops echoes.

The text is rewritten while it streams, one paragraph or bullet at a time, because the citations of
a sentence may come at the end of the block. Bullets on absences stay unmarked: no node can support
them, and they have their own checks.

An echo only repeats the instructions of the prompt. Models with fewer than about a billion
parameters write echoes. An echo says nothing about the graph. An echo in the form of an absence
would even be confirmed, since no node contains its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.receipts import REQUEST
from pgs_neo4j.llm.protocol import Named
from pgs_neo4j.model import Citation, DoubtedSentence, Partition, Prompt, Sweep
from pgs_neo4j.pgs.sweeping.short_report import Echoes
from pgs_neo4j.pgs.sweeping.strict import AGAIN
from pgs_neo4j.pgs.synthesis.prompt import SECTIONS
from pgs_neo4j.text.citations import GROUP, resolve_qualified
from pgs_neo4j.text.claims.check import Known, find_doubts
from pgs_neo4j.text.claims.marking import (
    Doubting,
    begins_block,
    drop_sentences,
    find_marked,
    mark,
    mark_heading,
    strike,
)
from pgs_neo4j.text.claims.sources import Material, Sources
from pgs_neo4j.text.markdown import is_heading, opened_section, sections
from pgs_neo4j.text.normal_form import find_words, fold_case

Repeats = Callable[[str], bool]
"""Returns whether a text only repeats instructions."""
ECHOED = "The model only repeated its instructions here, so nothing is said."
LEAST_WORDS = 3  # a text with fewer words never counts as a short instruction
_END = re.compile(r"[.:;\n]+")

UNCHECKED = "absences"
NOTHING_LEFT = "Nothing that was said here stands: what it cites does not say it, so it was struck."
Place = tuple[int, int]
"""A node by its partition and rank."""


class StatementFilter:
    """Rewrites a streamed answer block by block, with a mark after each sentence in doubt.

    ``names`` has the spellings of all sections, by name, the main section first. Sentences in the
    section ``unchecked`` are not marked. Text for which ``repeats`` is true is dropped. If that
    empties the main section, or the text before the first section, a note takes its place.
    """

    def __init__(
        self,
        doubting: Doubting | None,
        unchecked: str = UNCHECKED,
        names: Mapping[str, tuple[str, ...]] = SECTIONS,
        repeats: Repeats | None = None,
    ) -> None:
        self._doubting = doubting
        self._unchecked = unchecked
        self._list_names = names
        self._repeats = repeats
        self._main = next(iter(names), None)
        self._line = ""  # an unfinished line
        self._block: list[str] = []  # lines of an unfinished paragraph or bullet
        self._section: str | None = None
        self._dropped = self._kept = False  # whether some of the section was dropped, and some kept

    def pass_on(self, piece: str) -> str:
        """Take the next piece, and return the blocks that it finishes."""
        *lines, self._line = (self._line + piece).split("\n")
        return "".join(self._take(f"{line}\n") for line in lines)

    def end(self) -> str:
        """Return the rest of the text, at the end of the answer."""
        line, self._line = self._line, ""
        last = self._take(line) if line else ""
        return last + self._finish_section(None)

    def _take(self, line: str) -> str:
        """Take a finished line, and return the text that may be shown now."""
        name = opened_section(line, self._list_names)
        if name is not None:
            before = self._finish_section(name)
            return before + self._mark_rest(line, name)
        if is_heading(line):
            before = self._finish_block()
            if self._repeats is not None and self._repeats(line):
                self._dropped = True
                return before
            marking = self._choose_doubting()
            return before + (mark_heading(line, marking) if marking is not None else line)
        if not line.strip():
            return self._finish_block() + line
        before = self._finish_block() if begins_block(line) else ""
        self._block.append(line)
        return before

    def _choose_doubting(self) -> Doubting | None:
        return None if self._section == self._unchecked else self._doubting

    def _mark_rest(self, line: str, name: str) -> str:
        """Return the heading of a section. If text follows its colon, mark that text."""
        rest = sections(line, self._list_names).get(name, "")
        place = line.rfind(rest) if rest else -1
        if place < 0:
            return line
        said = line[:place] + self._finish(line[place:])
        return said if said.endswith("\n") or not line.endswith("\n") else f"{said}\n"

    def _finish_section(self, following: str | None) -> str:
        """Return the last block of a section, or of the text before the first section.

        ``following`` is the next section, or None at the end of the answer.
        """
        last = self._finish_block()
        emptied = self._dropped and not self._kept
        first = self._section is None and following != self._main
        said = f"{ECHOED}\n\n" if emptied and (first or self._section == self._main) else ""
        self._section, self._dropped, self._kept = following, False, False
        return last + said

    def _finish_block(self) -> str:
        text, self._block = "".join(self._block), []
        return self._finish(text) if text else ""

    def _finish(self, text: str) -> str:
        """Drop echoes from a paragraph, a bullet, or the rest of a heading, and mark doubts."""
        left = drop_sentences(text, self._repeats) if self._repeats is not None else text
        self._dropped = self._dropped or left != text
        self._kept = self._kept or any(map(str.isalnum, left))
        marking = self._choose_doubting()
        return mark(left, marking) if marking is not None and left else left


def without_echoes(
    text: str, repeats: Repeats | None, names: Mapping[str, tuple[str, ...]] = SECTIONS
) -> str:
    """Return a reply without the text that only repeats its instructions."""
    statements = StatementFilter(None, "", names, repeats)
    return statements.pass_on(text) + statements.end()


def doubt_statements(
    question: str,
    sweeps: Sequence[Sweep],
    partitions: Sequence[Partition],
    texts: Mapping[Place, str],
) -> Doubting:
    """Return a function that finds the doubts about a sentence of a synthesis.

    ``texts`` are the texts of the nodes that the reports cite. A finding without doubts counts as a
    text of the nodes that it cites, since it may rest on their facts. If a line has no citations,
    its sentences are compared with all cited nodes.
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
        names=Material("\n".join((*_list_names(partitions), *states))),
        partitions=frozenset((len(reports), len(partitions), len(partitions) - len(reports))),
        nodes=frozenset(
            (
                sum(sweep.nodes_read for sweep in sweeps),
                *(sweep.nodes_read for sweep in sweeps),
                *(sweep.nodes_unproven for sweep in sweeps if sweep.unproven),
                *(partition.size for partition in partitions),
                sum(partition.size for partition in partitions),
                sum(len(report.findings) for report in reports),
            )
        ),
    )
    materials: dict[tuple[int, str], Material] = {}

    def material(key: tuple[int, str]) -> Material:
        if key not in materials:
            citation = citable[key]
            rank = citation.rank if citation.rank is not None else -1
            text = texts.get((citation.partition, rank), "")
            materials[key] = Material("\n".join((citation.title or "", text, *said.get(key, ()))))
        return materials[key]

    @cache
    def everything() -> Sources:
        return Sources(tuple(map(material, citable)))

    def doubt(sentence: str, cites: str) -> tuple[str, ...]:
        cited = [citation for citation in resolve_qualified(cites, citable) if citation.valid]
        related = Sources(tuple(material((c.partition, c.alias)) for c in cited))
        sources = related if cited else everything()
        counts = (len({citation.partition for citation in cited}), len(cited))
        return find_doubts(sentence, sources, known, cited=counts, related=related)

    return doubt


def doubted_sentences(text: str) -> tuple[DoubtedSentence, ...]:
    """Return the marked sentences of an answer in order."""
    return tuple(
        DoubtedSentence(text=doubt.text, reason=doubt.reason) for doubt in find_marked(text)
    )


def strike_sentences(text: str, names: Mapping[str, tuple[str, ...]], main: str) -> str:
    """Return an answer without its marked sentences.

    ``names`` has the spellings of its sections. If nothing is left of the section ``main``, a note
    takes its place.
    """
    left = strike(text)
    if left == text or not (found := sections(left, names)):
        return left if left.strip() else NOTHING_LEFT
    if main not in found or found[main].strip():
        return left
    lines = left.split("\n")
    place = next(at for at, line in enumerate(lines) if opened_section(f"{line}\n", names) == main)
    return "\n".join((*lines[: place + 1], NOTHING_LEFT, *lines[place + 1 :]))


def _list_names(partitions: Sequence[Partition]) -> list[str]:
    return [name for partition in partitions for name in (partition.name, *partition.topics)]


def find_echoes_of(reader: Named, prompt: Prompt) -> Repeats | None:
    """Return a check for echoes in a reader's reply; None for the extractive reader."""
    return None if reader.name == EXTRACTIVE else find_echoes(prompt)


def find_echoes(prompt: Prompt) -> Repeats:
    """Return a function that checks whether a text only repeats the instructions of its prompt.

    A text that is also in the data of the prompt is no echo, since a graph may be about
    instructions.
    """
    instructions = prompt.system, AGAIN, REQUEST
    echoes = Echoes(*instructions)
    short = {_normalize(part) for text in instructions for part in _END.split(text)}

    @cache
    def data() -> str:
        return _normalize((prompt.content or prompt.user).partition(AGAIN)[0])

    def repeats(text: str) -> bool:
        said = _normalize(text)
        whole = said in short and len(said.split()) >= LEAST_WORDS
        return (whole or echoes.is_echo(text)) and (not said.strip() or said not in data())

    return repeats


def _normalize(text: str) -> str:
    return f" {' '.join(find_words(fold_case(GROUP.sub(' ', text))))} "
