"""An answer as one HTML page that loads nothing and runs nothing.

Its first screen has the thesis, what was read, and what is in doubt. The sections follow.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pgs_neo4j.export import figures, reports, style, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import coverage
from pgs_neo4j.export.register import Register, popovers, register
from pgs_neo4j.model import AbsenceStatus, Answer, CheckedAbsence, Citation
from pgs_neo4j.text.citations import Place, distinct, name_of, place_of
from pgs_neo4j.text.prose import Block, Heading, read_blocks
from pgs_neo4j.text.shown import counted, one_line, plain

LONG_LIST = 30  # entries; longer lists start closed
LONG_QUESTION = 160  # characters; longer questions get smaller type
DOUBTED = 3  # absences that the first screen states
THESES = ("thesis", "answer")
"""Headings of what the first screen shows: in an answer of all of a graph, and of a search."""

# In the order in which they matter to a reader.
LISTED = (AbsenceStatus.CONTRADICTED, AbsenceStatus.UNCHECKED, AbsenceStatus.ELSEWHERE)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*(Z|[+-]00:00)?")


def to_html(document: Document) -> str:
    """Render a document as a self-contained page.

    The page has no script and no outgoing link, and its policy forbids both. Everything from the
    graph, the model, or the question is shown as text. Citations are buttons that open the text
    of their node (``popover``), which needs a browser of 2024 or later.
    """
    question = one_line(document.answer.question)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(style.PAGE)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", one_line(question, 90) or "Answer"),
        element("style", Html(style.PAGE)),
    )
    nodes = register(document)
    footer = element("footer", "Made by pgs_neo4j. This page loads nothing and runs no script.")
    body = element("body", element("main", *_body(document, nodes), footer), "\n", popovers(nodes))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def to_fragment(document: Document) -> str:
    """Render a document as a part of another page, which has the style sheet ``style.PAGE``.

    Nodes that the database has carry their element id as ``data-node``. Only one fragment may
    stand on a page, since its ids are always the same.
    """
    nodes = register(document)
    body = element("div", *_body(document, nodes), class_="answer")
    return joined((body, "\n", popovers(nodes, addressed=True)))


def policy(sheet: str) -> str:
    """Return the content security policy that allows only this style sheet."""
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _body(document: Document, nodes: Register) -> Iterator[Html]:
    """Yield the first screen and the sections."""
    sections = _sections(document, nodes)
    contents = _contents([title for title, _ in sections])
    yield _header(document, nodes, contents)
    for title, body in sections:
        yield _section(title, body)


def _contents(titles: Sequence[str]) -> Html:
    """Return the table of contents."""
    links = (element("li", element("a", title, href=f"#{_anchor(title)}")) for title in titles)
    return element("nav", joined((element("ul", *links),)), aria_label="Contents")


def _anchor(title: str) -> str:
    """Return the id of a section."""
    return "section-" + "-".join(title.lower().split())


def _header(document: Document, nodes: Register, contents: Html) -> Html:
    """Return the question, the thesis, what the answer rests on, and the ``contents``."""
    answer = document.answer
    question = one_line(answer.question) or "No question"
    graph = f"Partitioned graph synthesis of {one_line(answer.graph, 80)}"
    thesis, _ = _split_thesis(answer)
    lead = element("div", nodes.blocks(thesis), class_="lead") if thesis else EMPTY
    return element(
        "header",
        element("p", graph, class_="eyebrow"),
        element("h1", question, class_="long" if len(question) > LONG_QUESTION else None),
        element("p", *_asked(document), class_="meta"),
        lead,
        element("div", _reading(answer), _doubts(answer, nodes), class_="facts"),
        contents,
    )


def _asked(document: Document) -> tuple[Html, str]:
    asked = one_line(document.asked_at, 60)
    answer = document.answer
    more = f" · {one_line(answer.model, 80)} · session {one_line(answer.session, 60)}"
    return element("time", _moment(asked), datetime=asked), more


def _moment(at: str) -> str:
    """Return an ISO 8601 time to the minute, or any other text as it is."""
    read = _MOMENT.fullmatch(at)
    return f"{read[1]} {read[2]}{' UTC' if read[3] else ''}" if read else at


def _reading(answer: Answer) -> Html:
    rows = dict(figures.figures(answer))
    names = ("Coverage", "Session")
    lines = [f"{rows[name]}." for name in names if name in rows]
    lines.append(f"This run: {rows['This run']}.")
    if wording.used_extractive_reader(answer):
        lines.append(figures.NO_MODEL)
    return element(
        "section",
        element("h2", "What was shown" if answer.shown else "What was read"),
        *(element("p", one) for one in lines),
    )


def _doubts(answer: Answer, nodes: Register) -> Html:
    """Return what a reader must know before trusting the answer."""
    notes = [note for note in figures.notes(answer) if note != figures.NO_MODEL]
    problems = figures.problems_line(answer)
    absences = answer.crosscheck.absences
    lines: list[str] = [*notes, *([f"{problems}."] if problems else [])]
    lines += _doubted(absences, nodes)
    if not lines:
        lines = [f"Nothing that was checked: {figures.checks_line(answer)}."]
    title = "This answer is partial" if answer.partial else "What is in doubt"
    listed = element("ul", *(element("li", line) for line in lines))
    return element("section", element("h2", title), listed, class_="notes")


def _doubted(absences: Sequence[CheckedAbsence], nodes: Register) -> list[str]:
    """Return the absences in doubt: how many, and those that most partitions report."""
    doubted = [absence for absence in absences if absence.status in LISTED]
    if not doubted:
        return []
    ranked = sorted(doubted, key=lambda one: (LISTED.index(one.status), -len(one.partitions)))
    count = f"{counted(len(absences), 'absence')}: {wording.status_counts(absences)}."
    first = [nodes.line(wording.absence_line(one)) for one in ranked[:DOUBTED]]
    link = element("a", "All checked absences", href=f"#{_anchor(wording.ABSENCES)}")
    more = [link] if len(ranked) > DOUBTED else []
    return [count, *first, *more]


def _sections(document: Document, nodes: Register) -> list[tuple[str, Html]]:
    """Return the sections by title, without those that are empty."""
    answer = document.answer
    checks = answer.crosscheck
    linked = {sweep.partition for sweep in answer.sweeps}
    areas = {area.partition: area for area in document.areas}
    sections = [
        ("Answer", _answer(answer, nodes)),
        ("Sources", _sources(document, nodes)),
        *([] if answer.shown else [("Coverage", coverage(document, linked))]),
        (wording.ABSENCES, reports.absence_table(checks.absences, nodes, linked)),
    ]
    lists = {
        wording.OPPORTUNITIES: (checks.opportunities, reports.opportunities),
        wording.FLAGS: (checks.flags, reports.chased_flags),
    }
    for title, (flags, draw) in lists.items():
        if flags:
            sections.append((title, _folded(draw(flags, nodes, linked), len(flags), "flag")))
    if checks.convergences:
        body = reports.convergences(checks.convergences, nodes, linked)
        body = _folded(body, len(checks.convergences), "convergence")
        sections.append((wording.CONVERGENCES, body))
    if answer.in_doubt:
        body = reports.doubted_sentences(answer.in_doubt, nodes)
        sections.append((wording.IN_DOUBT, _folded(body, len(answer.in_doubt), "sentence")))
    if answer.struck:
        body = reports.doubted_sentences(answer.struck, nodes, "Struck")
        sections.append((wording.STRUCK, _folded(body, len(answer.struck), "sentence")))
    if answer.sweeps:
        sections.append(("Reports", reports.sweep_reports(answer.sweeps, areas, nodes)))
    return [*sections, ("Coverage and cost", _record(answer))]


def _section(title: str, body: Html) -> Html:
    return element("section", element("h2", title, id=_anchor(title)), body)


def _folded(body: Html, count: int, one: str) -> Html:
    """Hide a long list behind a line that gives its length."""
    if count < LONG_LIST:
        return body
    return element("details", element("summary", counted(count, one)), body)


def _answer(answer: Answer, nodes: Register) -> Html:
    """Return the answer without its thesis, which the first screen shows."""
    if not answer.text.strip():
        return element("p", wording.NO_SYNTHESIS, class_="note")
    _, blocks = _split_thesis(answer)
    return element("div", nodes.blocks(blocks), class_="prose")


def _split_thesis(answer: Answer) -> tuple[Sequence[Block], Sequence[Block]]:
    """Return the blocks of the thesis without its heading, and all other blocks."""
    blocks = read_blocks(plain(answer.text))
    headings = [place for place, block in enumerate(blocks) if isinstance(block, Heading)]
    for place, after in pairwise([*headings, len(blocks)]):
        heading = blocks[place]
        if isinstance(heading, Heading) and heading.text.strip(" *:#").lower() in THESES:
            return blocks[place + 1 : after], blocks[:place] + blocks[after:]
    return (), blocks


def _sources(document: Document, nodes: Register) -> Html:
    cited = distinct(document.answer.synthesis.citations)
    if not cited:
        return element("p", wording.NO_CITATION, class_="note")
    sources = {(source.partition, source.alias): source for source in document.sources}
    items = (_source(citation, sources, nodes) for citation in sorted(cited, key=_by_validity))
    return _folded(element("ul", *items, class_="sources"), len(cited), "citation")


def _by_validity(citation: Citation) -> bool:
    return not citation.valid


def _source(citation: Citation, sources: dict[Place, SourceNode], nodes: Register) -> Html:
    name = name_of(citation.partition, one_line(citation.alias, 40))
    if not citation.valid:
        struck = element("s", name, class_="invalid")
        return element(
            "li",
            struck,
            " ",
            element("span", wording.invalid_words(citation.partition), class_="note"),
        )
    source = sources.get(place_of(citation))
    title = source.title if source else citation.title or ""
    key = source.key if source else citation.node or ""
    gone = source is not None and source.text is None
    labels = citation.labels if source is None or gone else source.labels
    changed = source is not None and source.changed
    state = wording.GONE if gone else wording.CHANGED if changed else ""
    return element(
        "li", nodes.button(place_of(citation), name), f" {one_line(title, 160) or 'Untitled'} ",
        element("span", one_line(wording.about_node(labels, key, ""), 120), class_="key-of"),
        joined((" ", element("span", state, class_="badge warn"))) if state else EMPTY,
    )  # fmt: skip


def _record(answer: Answer) -> Html:
    rows = (
        joined((element("dt", label), element("dd", text)))
        for label, text in figures.figures(answer)
    )
    return element("dl", *rows, class_="record")
