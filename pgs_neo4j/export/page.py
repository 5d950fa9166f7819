"""An answer as one HTML page that loads nothing and runs nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

from pgs_neo4j.export import figures, first_screen, reports, style, wording
from pgs_neo4j.export.absence_table import absence_table
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.picture import coverage
from pgs_neo4j.export.register import Register, popovers, register
from pgs_neo4j.model import Answer, Citation
from pgs_neo4j.text.mentions import Place, distinct, name_of, place_of
from pgs_neo4j.text.shown import counted, one_line

LONG_LIST = 30  # entries; longer lists start closed


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
    contents = first_screen.contents_of([title for title, _ in sections])
    yield first_screen.header(document, nodes, contents)
    for title, body in sections:
        yield _section(title, body)


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
        (wording.ABSENCES, absence_table(checks.absences, nodes, linked)),
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
    return element("section", element("h2", title, id=first_screen.anchor(title)), body)


def _folded(body: Html, count: int, one: str) -> Html:
    """Hide a long list behind a line that gives its length."""
    if count < LONG_LIST:
        return body
    return element("details", element("summary", counted(count, one)), body)


def _answer(answer: Answer, nodes: Register) -> Html:
    """Return the answer without its thesis, which the first screen shows."""
    if not answer.text.strip():
        return element("p", wording.NO_SYNTHESIS, class_="note")
    _, blocks = first_screen.split_thesis(answer)
    return element("div", nodes.blocks(blocks), class_="prose")


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
