"""Parses and checks a model's reply to the results of a search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pgs_neo4j.model import Citation, DoubtedSentence, Finding, FoundFact, FoundItem, Node
from pgs_neo4j.model.ceilings import BULLETS_PER_SECTION
from pgs_neo4j.pgs.answering.context import Context, cited_things, separate_citations
from pgs_neo4j.pgs.sweeping.claims import ClaimChecker, ShownWords, check_quotes
from pgs_neo4j.pgs.sweeping.strict import kept_findings
from pgs_neo4j.pgs.synthesis.statements import (
    Repeats,
    StatementFilter,
    doubted_sentences,
    strike_sentences,
    without_echoes,
)
from pgs_neo4j.pgs.synthesis.verdicts import may_open
from pgs_neo4j.text.citations import resolve
from pgs_neo4j.text.claims.check import Known
from pgs_neo4j.text.claims.marking import Doubting, doubts_of
from pgs_neo4j.text.claims.sources import Material, Sources
from pgs_neo4j.text.markdown import bullets, opened_section, passage, sections
from pgs_neo4j.text.thinking import strip_thinking

NOT_FOUND = "not found"
SECTIONS = {
    "answer": ("answer", "summary", "short answer", "conclusion", "thesis"),
    "findings": ("findings", "claims", "evidence"),
    NOT_FOUND: (NOT_FOUND, "absences", "missing", "gaps"),
}


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A parsed reply.

    ``text`` is the whole reply without the model's thinking. ``missing`` are its bullets on what
    was not found. ``struck`` are the sentences that were removed from the reply.
    """

    text: str
    answer: str
    findings: tuple[Finding, ...]
    missing: tuple[str, ...]
    citations: tuple[Citation, ...]
    struck: tuple[DoubtedSentence, ...] = ()


def read_reply_text(
    reply: str,
    context: Context,
    doubting: Doubting | None = None,
    repeats: Repeats | None = None,
) -> ReadReply:
    """Parse a reply; if it has no sections, all of it is the answer.

    Citations are resolved to the nodes and relationships of the context. Quotations are checked
    against the nodes and relationships that their bullet cites. Sentences that fail the check
    ``doubting`` are marked in the text. Texts that ``repeats`` recognizes as repeated instructions
    are left out.
    """
    plain = separate_citations(strip_thinking(reply)).strip()
    statements = StatementFilter(doubting, NOT_FOUND, SECTIONS, repeats)
    text = statements.pass_on(plain) + statements.end()
    plain = without_echoes(plain, repeats, SECTIONS)
    found = sections(text, SECTIONS)
    shown = _Shown.of(context)
    claims = bullets(sections(plain, SECTIONS).get("findings", ""))[:BULLETS_PER_SECTION]
    missing = bullets(found.get(NOT_FOUND, ""))[:BULLETS_PER_SECTION]
    return ReadReply(
        text=text,
        answer=passage(found.get("answer", "")) if found else text,
        findings=tuple(shown.finding(claim, doubting) for claim in claims),
        missing=tuple(missing),
        citations=shown.cited(text),
    )


def strike_reply(read: ReadReply, context: Context) -> ReadReply:
    """Return a reply without its marked sentences and without findings in doubt."""
    struck = doubted_sentences(read.text)
    text = strike_sentences(read.text, SECTIONS, "answer")
    found = sections(text, SECTIONS)
    return replace(
        read,
        text=text,
        answer=passage(found.get("answer", "")) if found else text,
        findings=kept_findings(read.findings),
        citations=_Shown.of(context).cited(text),
        struck=struck,
    )


def make_doubting(question: str, context: Context) -> Doubting:
    """Return a function that checks sentences of a reply against the context in its prompt."""
    shown = _Shown.of(context)
    known = Known(
        question=Material(question),
        names=Material(context.text),
        nodes=frozenset((len(context.nodes), len(context.facts), len(context.rows))),
    )
    claims, everything = ClaimChecker(shown.wording, known), Sources.of(context.text)

    def doubt(sentence: str, cites: str) -> tuple[str, ...]:
        return claims.doubt(sentence, cites, shown.cited, others=everything)

    return doubt


def shown_citations(context: Context) -> tuple[Citation, ...]:
    """Return a citation for each node that a context shows, then for each relationship and row."""
    shown = _Shown.of(context)
    return tuple(shown.citation(alias) for alias in (*context.nodes, *context.facts, *context.rows))


@dataclass(frozen=True, slots=True)
class _Shown:
    """The nodes that a prompt showed, and relationships and rows in the form of nodes, by alias."""

    nodes: dict[str, Node]
    facts: dict[str, Node]
    wording: ShownWords

    @classmethod
    def of(cls, context: Context) -> _Shown:
        nodes = {alias: _item_as_node(alias, item) for alias, item in context.nodes.items()}
        facts = {alias: _fact_as_node(alias, fact) for alias, fact in context.facts.items()}
        facts |= {alias: _row_as_node(alias, line) for alias, line in context.rows.items()}
        return cls(nodes, facts, ShownWords({**nodes, **facts}))

    def cited(self, text: str) -> tuple[Citation, ...]:
        stated = (self.citation(alias) for alias in cited_things(text))
        return (*resolve(text, 0, self.nodes), *stated)

    def citation(self, alias: str) -> Citation:
        node = self.nodes.get(alias) or self.facts.get(alias)
        if node is None:
            return Citation(alias=alias, partition=0, valid=False)
        return Citation(
            alias=alias,
            partition=0,
            node=node.key,
            title=node.title,
            element_id=node.element_id,
            rank=node.rank if alias in self.nodes else None,
            labels=node.labels,
        )

    def finding(self, text: str, doubting: Doubting | None) -> Finding:
        citations = self.cited(text)
        return Finding(
            text=text,
            citations=citations,
            quotes=check_quotes(text, citations, self.wording),
            doubts=tuple(doubts_of(text, doubting)) if doubting is not None else (),
        )


def _item_as_node(alias: str, item: FoundItem) -> Node:
    return Node(
        rank=int(alias[1:]) - 1,
        element_id=item.id,
        key=item.key,
        title=item.title,
        text=item.text,
        labels=item.labels,
    )


def _fact_as_node(alias: str, fact: FoundFact) -> Node:
    return Node(
        rank=int(alias[1:]) - 1, element_id=fact.id, key="", title=fact.line, text=fact.text
    )


def _row_as_node(alias: str, line: str) -> Node:
    return Node(rank=int(alias[1:]) - 1, element_id="", key="", title=line, text="")


class SectionGate:
    """Passes a streamed reply on until the section "Not found" begins.

    That section is held back, because it must be checked before it is shown.
    """

    def __init__(self) -> None:
        self._line = ""  # the part of the unfinished line that has not been passed on
        self._passed = False  # whether the beginning of the unfinished line has been passed on
        self._closed = False

    def pass_on(self, piece: str) -> str:
        """Return the text that may be shown after ``piece`` has arrived."""
        return "".join(self._pass_lines(piece))

    def end(self) -> str:
        """Return the rest of the text that may be shown; call it at the end of the reply."""
        rest, self._line = self._line, ""
        return "" if self._closed or self._opens_missing(rest) else rest

    def _pass_lines(self, piece: str) -> Iterator[str]:
        *lines, self._line = (self._line + piece).split("\n")
        for line in lines:
            self._closed = self._closed or (not self._passed and self._opens_missing(line))
            if self._closed:
                return
            yield f"{line}\n"
            self._passed = False
        if not self._closed and self._line and (self._passed or not may_open(self._line, SECTIONS)):
            yield self._line
            self._passed, self._line = True, ""

    def _opens_missing(self, line: str) -> bool:
        return opened_section(f"{line}\n", SECTIONS) == NOT_FOUND
