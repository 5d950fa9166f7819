"""A document as it comes out of a run, hostile texts, and a parser that looks at a page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

import pytest

from pgs_neo4j.export import Area, AreaState, Document, SourceNode
from pgs_neo4j.model import (
    Absence,
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Coverage,
    Crosscheck,
    Finding,
    Flag,
    Quote,
    Report,
    Routing,
    Sighting,
    Stated,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)

COVERAGE = Coverage(
    partitions_swept=2, partitions_total=4, nodes_read=60, nodes_total=160, texts_read=60,
    texts_total=160,
)  # fmt: skip
TEXT = """\
## Thesis
A claim [P1:n2], two at once [P1:n2, P2:n3], and one that is **wrong** [P9:n4].

## Connections
- P1 and P2 meet (P1:n2; n5).

## Absences
None.

## Convergences
1. `code` comes up twice.
"""
HOSTILE = (
    "<script>alert(1)</script>",
    "</div></main></style><b onclick=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](http://example.com/a.png)",
    "<http://example.com> http://example.com <a@example.com>",
    "[a]: javascript:alert(1)\n\n[a] [P1:n2]",
    "```\n<script>\n",
    "<!-- never closed",
    "\x1b[31m\x1b]0;owned\x07\x9b2J\u202etxt\u2066\x00\ud800\ufeff",
    "&lt;script&gt; &#x202e; &#60;b&#62;",
    "# Sources\n\n| a |\n|---|\n",
    "[P1:n2](javascript:alert(1)) [P1:n2][a]",
    "'; \\ \\<b> $x$ ~~gone~~ {{x}} %s",
)


def cited(partition: int, alias: str, *, valid: bool = True) -> Citation:
    """A citation of the node that the toy document has there."""
    if not valid:
        return Citation(alias=alias, partition=partition, valid=False)
    return Citation(
        alias=alias, partition=partition, node=f"doi/{alias}", title=f"Title of {alias}"
    )


def make_report(partition: int, said: str) -> Report:
    """A report with a supported, an unsupported, and a misquoting finding."""
    return Report(
        partition=partition,
        domain_state=f"It is about {said} [n2].",
        findings=(
            Finding(text=f"One: {said} [n2]", citations=(cited(partition, "n2"),)),
            Finding(text="Two [n77]", citations=(cited(partition, "n77", valid=False),)),
            Finding(
                text="Three “never said” [n3]",
                citations=(cited(partition, "n3"),),
                quotes=(Quote(text=f"never said {said}", found=False), Quote(text="x", found=True)),
            ),
        ),
        flags=(Flag(text=f"look at {said} [n3]", target=2, citations=(cited(partition, "n3"),)),),
        absences=(Absence(text=f"nothing on {said}"),),
    )


def make_crosscheck(said: str) -> Crosscheck:
    """An absence of each status, a flag of each outcome, a convergence of each kind."""
    seen = Sighting(partition=1, rank=1, node="doi/n2", title=f"Title {said}", read=True)
    unread = Sighting(partition=3, rank=8, node="doi/n9", title="Far", read=False)
    absences = (
        CheckedAbsence(
            text=f"nothing on {said}",
            reported=(Stated(1, 0, "a"), Stated(2, 0, "b")),
            status=AbsenceStatus.CONFIRMED,
            terms=(said, "term"),
            searched=160,
            method="full text",
        ),
        CheckedAbsence(
            text="no x",
            reported=(Stated(2, 1, "no x"),),
            status=AbsenceStatus.ELSEWHERE,
            terms=("x",),
            searched=160,
            count=3,
            sightings=(unread,),
        ),
        CheckedAbsence(
            text="no y [n3]",
            reported=(Stated(1, 1, "no y [n3]"),),
            status=AbsenceStatus.CONTRADICTED,
            searched=160,
            count=2,
            sightings=(seen, unread),
        ),
        CheckedAbsence(text="vague", reported=(), status=AbsenceStatus.UNCHECKED),
    )
    first, second = Stated(1, 0, f"One: {said} [n2]"), Stated(2, 1, "Two [n77]")
    flags = (
        ChasedFlag(
            source=1, place=0, text=f"check {said} [n3]", target=2, swept=True,
            citations=(cited(1, "n3"),), absent=Stated(2, 0, f"nothing on {said}"),
        ),
        ChasedFlag(source=1, place=1, text="go", target=2, swept=True, answers=(second,)),
        ChasedFlag(source=2, place=0, text="far", target=3, swept=False),
        ChasedFlag(source=2, place=1, text="nowhere", target=None, swept=False),
        ChasedFlag(source=2, place=2, text="silent", target=1, swept=True),
    )  # fmt: skip
    convergences = (
        Convergence(kind="neighbors", findings=(first, second), citations=(cited(1, "n2"),)),
        Convergence(kind="words", findings=(first, second)),
    )
    return Crosscheck(absences=absences, flags=flags, convergences=convergences)


def make_answer(said: str = "toys", text: str = TEXT, **changed: Any) -> Answer:
    """An answer over three partitions, one of them failed; ``said`` is in whatever has words."""
    citations = (
        cited(1, "n2"), cited(2, "n3"), cited(9, "n4", valid=False), cited(1, "n2"), cited(1, "n5"),
    )  # fmt: skip
    swept = ((SweepStatus.ACCEPTED, 40), (SweepStatus.PARTIAL, 20), (SweepStatus.FAILED, 0))
    sweeps = tuple(
        Sweep(
            partition=number,
            status=status,
            nodes=40,
            read=((0, read),) if read else (),
            passes=2,
            passes_accepted=int(bool(read)),
            report=make_report(number, said) if read else None,
            errors=() if read else (f"429 {said}",),
        )
        for number, (status, read) in enumerate(swept, 1)
    )
    given: dict[str, Any] = {
        "question": f"What about {said}?",
        "graph": said,
        "session": said,
        "run": "r1",
        "mode": "full",
        "model": said,
        "synthesis": Synthesis(text=text, thesis="A claim [P1:n2]", citations=citations),
        "routing": Routing(routes=(), considered=4, note=said),
        "sweeps": sweeps,
        "coverage": COVERAGE,
        "own_coverage": COVERAGE,
        "usage": Usage(calls=5, input_tokens=1200, output_tokens=80, cached=2),
        "seconds": {"partition": 0.1, "route": 0.01, "sweep": 2.0, "synthesize": 1, "total": 3.2},
        "warnings": (f"P3: 0 of 40 nodes were read; {said}",),
        "crosscheck": make_crosscheck(said),
        "generation": "g7",
        "stopped": f"the budget; {said}",
        "cost": 0.25,
    }
    return Answer(**(given | changed))


def make_document(said: str = "toys", text: str = TEXT, **changed: Any) -> Document:
    """The answer with four partitions and three nodes: one as it was, one changed, one gone."""
    states = (AreaState.READ, AreaState.PARTIAL, AreaState.FAILED, AreaState.UNREAD)
    areas = tuple(
        Area(
            partition=number,
            nodes=40,
            nodes_read=read,
            state=state,
            pool=number == 4,
            keywords=(said, "toys"),
        )
        for number, (state, read) in enumerate(zip(states, (40, 20, 0, 0), strict=True), 1)
    )
    nodes = ((1, "n2", f"Text of {said}", False), (2, "n3", "New", True), (1, "n5", None, False))
    sources = tuple(
        SourceNode(
            partition=partition, alias=alias, key=f"doi/{alias}", title=f"{alias} {said}",
            text=content, labels=("Paper", said), changed=changed,
        )
        for partition, alias, content, changed in nodes
    )  # fmt: skip
    given = {"answer": make_answer(said, text), "areas": areas, "sources": sources}
    return Document(**({"asked_at": "2026-03-17T15:48:10+00:00"} | given | changed))


def located(document: Document, element_id: str) -> Document:
    """The document with an element id for the valid citations of its answer."""
    answer = document.answer
    citations = tuple(
        replace(one, element_id=element_id) if one.valid else one
        for one in answer.synthesis.citations
    )
    return replace(
        document, answer=replace(answer, synthesis=replace(answer.synthesis, citations=citations))
    )


@dataclass
class Element:
    """A start tag, and all text inside."""

    tag: str
    attributes: dict[str, str | None]
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()


class Page(HTMLParser):
    """A page taken apart; fails where an element is not closed in its place."""

    VOID = frozenset({"meta", "br", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.comments: list[str] = []
        self.open: list[Element] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append(Element(tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.VOID  # as <br />: only the renderer of Markdown writes so
        self.elements.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def having(self, tag: str | None = None, class_: str | None = None) -> list[Element]:
        """The elements of this tag and class, in order."""
        return [
            each
            for each in self.elements
            if tag in (None, each.tag) and (class_ is None or class_ in each.classes)
        ]

    @property
    def ids(self) -> Counter[str]:
        found = (each.attributes.get("id") for each in self.elements)
        return Counter(each for each in found if each is not None)


SAFE_TAGS = """
html head meta title style body main header footer section aside p div span h1 h2 h3 h4 h5 h6 ul ol
nav li dl dt dd time figure figcaption svg defs pattern path g rect text a table thead tbody tr th
td details summary button s b code pre em strong blockquote hr br
"""


def assert_inert(page: Page) -> None:
    """Nothing on the page runs, loads, or leads out of it."""
    assert not page.comments
    assert {each.tag for each in page.elements} <= set(SAFE_TAGS.split())
    ids = page.ids
    assert set(ids.values()) <= {1}
    for each in page.elements:
        names = set(each.attributes)
        assert not [name for name in names if name.startswith("on")]
        assert not names & {"style", "src", "srcset", "action", "formaction", "xlink:href"}
        if "href" in names:
            assert (each.attributes["href"] or "")[0] == "#"
            assert (each.attributes["href"] or "")[1:] in ids
        if "popovertarget" in names:
            assert each.attributes["popovertarget"] in ids


def parse(text: str) -> Page:
    """Take a page apart, and make sure that it is inert."""
    page = Page(text)
    assert_inert(page)
    return page


@pytest.fixture(scope="session", params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    """A text that would run, load, recolor, reorder, or forge."""
    return str(request.param)
