"""Renders an answer as one HTML page that loads nothing and runs nothing.

The first screen shows the thesis, the amount that was read, and the doubts. The sections follow.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pgs_neo4j.export import figures, reports, statement, style, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import coverage
from pgs_neo4j.export.register import Register, popovers, register
from pgs_neo4j.model import AbsenceStatus, Answer, CheckedAbsence, Citation
from pgs_neo4j.text.citations import Place, distinct, name_of, place_of
from pgs_neo4j.text.clauses import break_clauses
from pgs_neo4j.text.prose import Block, Heading, read_blocks
from pgs_neo4j.text.shown import counted, one_line, plain

LONG_LIST = 30  # A list of at least this many entries starts folded.
LONG_QUESTION = 160  # A question of more characters gets smaller type.
DOUBTED = 3  # Maximum absences that the first screen shows.
THESES = ("thesis", "answer")
"""Headings of texts that the first screen shows: in a synthesis, and in an answer from a search."""

# Statuses of absences in doubt, the most important to a reader first.
LISTED = (AbsenceStatus.CONTRADICTED, AbsenceStatus.UNCHECKED, AbsenceStatus.ELSEWHERE)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*(Z|[+-]00:00)?")


def to_html(document: Document) -> str:
    """Render a document as a self-contained page.

    The page has no script and no outgoing link, and its content security policy forbids scripts.
    Everything from the graph, the model, or the question is shown as text. Citations are buttons
    that open the text of the cited node (``popover``), which needs a browser from 2024 or later.
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
    body = element(
        "body", element("main", *_render_body(document, nodes), footer), "\n", popovers(nodes)
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def to_fragment(document: Document) -> str:
    """Render a document as a fragment of another page, which must have the sheet ``style.PAGE``.

    Nodes that are in the database have their element id as ``data-node``. A page can contain only
    one fragment, since all fragments use the same ids.
    """
    nodes = register(document)
    body = element("div", *_render_body(document, nodes), class_="answer")
    return joined((body, "\n", popovers(nodes, addressed=True)))


def policy(sheet: str) -> str:
    """Return the content security policy that allows only this style sheet."""
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _render_body(document: Document, nodes: Register) -> Iterator[Html]:
    """Render the first screen and the sections."""
    sections = _render_sections(document, nodes)
    contents = _render_contents([title for title, _ in sections])
    yield _render_header(document, nodes, contents)
    for title, body in sections:
        yield _render_section(title, body)


def _render_contents(titles: Sequence[str]) -> Html:
    """Render the table of contents."""
    links = (element("li", element("a", title, href=f"#{_make_anchor(title)}")) for title in titles)
    return element("nav", joined((element("ul", *links),)), aria_label="Contents")


def _make_anchor(title: str) -> str:
    """Return the id of a section."""
    return "section-" + "-".join(title.lower().split())


def _render_header(document: Document, nodes: Register, contents: Html) -> Html:
    """Render the question, the thesis, the amount read, the doubts, and the ``contents``."""
    answer = document.answer
    question = one_line(answer.question) or "No question"
    graph = f"Partitioned graph synthesis of {one_line(answer.graph, 80)}"
    thesis, _ = _split_thesis(answer)
    lead = element("div", nodes.blocks(thesis), class_="lead") if thesis else EMPTY
    return element(
        "header",
        element("p", graph, class_="eyebrow"),
        element("h1", question, class_="long" if len(question) > LONG_QUESTION else None),
        element("p", *_render_metadata(document), class_="meta"),
        lead,
        element("div", _render_reading(answer), _render_doubts(answer, nodes), class_="facts"),
        contents,
    )


def _render_metadata(document: Document) -> tuple[Html, str]:
    asked = one_line(document.asked_at, 60)
    answer = document.answer
    more = f" · {one_line(answer.model, 80)} · session {one_line(answer.session, 60)}"
    return element("time", _shorten_time(asked), datetime=asked), more


def _shorten_time(at: str) -> str:
    """Shorten an ISO 8601 time to the minute; return any other text unchanged."""
    match = _MOMENT.fullmatch(at)
    return f"{match[1]} {match[2]}{' UTC' if match[3] else ''}" if match else at


def _render_reading(answer: Answer) -> Html:
    rows = dict(figures.figures(answer))
    names = ("Coverage", "Session")
    lines = [f"{rows[name]}." for name in names if name in rows]
    lines.append(f"This run: {rows['This run']}.")
    if wording.used_extractive_reader(answer):
        lines.append(figures.NO_MODEL)
    return element(
        "section",
        element("h2", "What was shown" if answer.shown else "What was read"),
        *(element("p", line) for line in lines),
    )


def _render_doubts(answer: Answer, nodes: Register) -> Html:
    """Render everything that a reader must know before trusting the answer."""
    notes = [note for note in figures.notes(answer) if note != figures.NO_MODEL]
    problems = figures.problems_line(answer)
    absences = answer.crosscheck.absences
    lines: list[str] = [*notes, *([f"{problems}."] if problems else [])]
    lines += _render_doubted_absences(absences, nodes)
    if not lines:
        lines = [f"Nothing that was checked: {figures.checks_line(answer)}."]
    title = "This answer is partial" if answer.partial else "What is in doubt"
    items = element("ul", *(element("li", line) for line in lines))
    return element("section", element("h2", title), items, class_="notes")


def _render_doubted_absences(absences: Sequence[CheckedAbsence], nodes: Register) -> list[str]:
    """Render the absences in doubt: their counts, and the absences that most partitions report."""
    doubted = [absence for absence in absences if absence.status in LISTED]
    if not doubted:
        return []
    ranked = sorted(
        doubted, key=lambda absence: (LISTED.index(absence.status), -len(absence.partitions))
    )
    count = f"{counted(len(absences), 'absence')}: {wording.status_counts(absences)}."
    first = [nodes.line(wording.absence_line(absence)) for absence in ranked[:DOUBTED]]
    link = element("a", "All checked absences", href=f"#{_make_anchor(wording.ABSENCES)}")
    more = [link] if len(ranked) > DOUBTED else []
    return [count, *first, *more]


def _render_sections(document: Document, nodes: Register) -> list[tuple[str, Html]]:
    """Render the sections that have content; return each section with its title."""
    answer = document.answer
    checks = answer.crosscheck
    linked = {sweep.partition for sweep in answer.sweeps}
    areas = {area.partition: area for area in document.areas}
    sections = [
        ("Answer", _render_answer(answer, nodes)),
        *_render_statement(answer),
        ("Sources", _render_sources(document, nodes)),
        *([] if answer.shown else [("Coverage", coverage(document, linked))]),
        (wording.ABSENCES, reports.absence_table(checks.absences, nodes, linked)),
    ]
    lists = {
        wording.OPPORTUNITIES: (checks.opportunities, reports.opportunities),
        wording.FLAGS: (checks.flags, reports.chased_flags),
    }
    for title, (flags, draw) in lists.items():
        if flags:
            sections.append((title, _fold_list(draw(flags, nodes, linked), len(flags), "flag")))
    if checks.convergences:
        body = reports.convergences(checks.convergences, nodes, linked)
        body = _fold_list(body, len(checks.convergences), "convergence")
        sections.append((wording.CONVERGENCES, body))
    if answer.in_doubt:
        body = reports.doubted_sentences(answer.in_doubt, nodes)
        sections.append((wording.IN_DOUBT, _fold_list(body, len(answer.in_doubt), "sentence")))
    if answer.struck:
        body = reports.doubted_sentences(answer.struck, nodes, "Struck")
        sections.append((wording.STRUCK, _fold_list(body, len(answer.struck), "sentence")))
    if answer.sweeps:
        sections.append(("Reports", reports.sweep_reports(answer.sweeps, areas, nodes)))
    return [*sections, ("Coverage and cost", _render_record(answer))]


def _render_statement(answer: Answer) -> list[tuple[str, Html]]:
    """Render the statement of an answer with its first rows; an empty list without a statement."""
    read = answer.shown.rows if answer.shown else None
    if read is None:
        return []
    parts = [element("pre", element("code", break_clauses(read.statement)))]
    if read.rows:
        head, *rows = statement.list_cells(read)
        cells = element("tr", *(element("th", name, scope="col") for name in head))
        body = (element("tr", *(element("td", text) for text in row)) for row in rows)
        table = element("table", element("thead", cells), element("tbody", *body))
        parts.append(element("div", table, class_="scroll"))
    parts.append(element("ul", *(element("li", note) for note in statement.list_notes(read))))
    return [(statement.TITLE, joined(parts))]


def _render_section(title: str, body: Html) -> Html:
    return element("section", element("h2", title, id=_make_anchor(title)), body)


def _fold_list(body: Html, count: int, one: str) -> Html:
    """Hide a long list behind a line with the list's length."""
    if count < LONG_LIST:
        return body
    return element("details", element("summary", counted(count, one)), body)


def _render_answer(answer: Answer, nodes: Register) -> Html:
    """Render the answer without its thesis, which the first screen shows."""
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


def _render_sources(document: Document, nodes: Register) -> Html:
    cited = distinct(document.answer.synthesis.citations)
    if not cited:
        return element("p", wording.NO_CITATION, class_="note")
    sources = {(source.partition, source.alias): source for source in document.sources}
    items = (
        _render_source(citation, sources, nodes) for citation in sorted(cited, key=_is_invalid)
    )
    return _fold_list(element("ul", *items, class_="sources"), len(cited), "citation")


def _is_invalid(citation: Citation) -> bool:
    return not citation.valid


def _render_source(citation: Citation, sources: dict[Place, SourceNode], nodes: Register) -> Html:
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


def _render_record(answer: Answer) -> Html:
    rows = (
        joined((element("dt", label), element("dd", text)))
        for label, text in figures.figures(answer)
    )
    return element("dl", *rows, class_="record")
