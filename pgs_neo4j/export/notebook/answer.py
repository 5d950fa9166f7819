"""An answer as a notebook cell: an HTML fragment with scoped styles."""

from __future__ import annotations

from functools import partial

from pgs_neo4j.export import counts, figures, prose, style, wording
from pgs_neo4j.export.markup import EMPTY, Html, element, escaped, joined
from pgs_neo4j.export.notebook.tables import coverage_bar
from pgs_neo4j.model import Answer, Citation
from pgs_neo4j.text.mentions import Cited, Place, cited_titles, distinct, name_of, validity_of
from pgs_neo4j.text.shown import counted, one_line

MAX_SOURCES = 200
RECORD = "Coverage and cost"
LABELS = ("Coverage", "Session", "Checks", "Usage", "Cost", "Time")


def to_notebook(answer: Answer) -> str:
    """Render an answer as an HTML fragment for ``_repr_html_``.

    The fragment uses the notebook's colors, light or dark. It needs no content security policy:
    all text is escaped, and there are no links.
    """
    question = element("p", one_line(answer.question), class_="pgs-question")
    return element(
        "div",
        element("style", Html(style.NOTEBOOK)),
        question,
        _answer(answer),
        _sources(answer),
        element("h3", RECORD),
        coverage_bar(answer.own_coverage),
        *(element("p", text, class_="pgs-meta") for text in _figures(answer)),
        *(element("p", note, class_="pgs-note") for note in figures.notes(answer)),
        class_="pgs-answer",
    )


def _answer(answer: Answer) -> Html:
    if not answer.text.strip():
        return element("p", wording.NO_SYNTHESIS, class_="pgs-note")
    citations = answer.synthesis.citations
    draw = partial(_group, valid=validity_of(citations), titles=cited_titles(citations))
    return prose.blocks(
        answer.text, draw, quoted=counts.quotes_only(answer, synthesis=True), below=3
    )


def _group(group: tuple[Cited, ...], valid: dict[Place, bool], titles: dict[Place, str]) -> Html:
    return joined(
        joined((cited.before, _alias(cited, valid.get(cited.place), titles), cited.after))
        for cited in group
    )


def _alias(cited: Cited, good: bool | None, titles: dict[Place, str]) -> Html:
    if good is None:  # cited by no report, so never checked
        return escaped(cited.text)
    if not good:
        title = wording.invalid_words(cited.place[0]).capitalize()
        return element("s", cited.text, class_="pgs-invalid", title=title)
    label = titles.get(cited.place) or cited.text
    return element("span", label, class_="pgs-cite", title=name_of(*cited.place))


def _sources(answer: Answer) -> Html:
    cited = distinct(answer.synthesis.citations)
    if not cited:
        return EMPTY
    items = [element("li", *_source(citation)) for citation in cited[:MAX_SOURCES]]
    if len(cited) > MAX_SOURCES:
        items.append(element("li", f"and {len(cited) - MAX_SOURCES:,} more"))
    summary = element("summary", counted(len(cited), "source"))
    listed = element("details", summary, element("ul", *items, class_="pgs-sources"))
    return joined((element("h3", "Sources"), listed))


def _source(citation: Citation) -> tuple[Html, str]:
    name = name_of(citation.partition, one_line(citation.alias, 40))
    if not citation.valid:
        return element(
            "s", name, class_="pgs-invalid"
        ), f" {wording.invalid_words(citation.partition)}"
    title = one_line(citation.title or citation.node or "", 160) or "untitled"
    about = one_line(wording.about_node(citation.labels, citation.node or "", title), 120)
    return element("span", name, class_="pgs-cite"), f" {title}{f' ({about})' if about else ''}"


def _figures(answer: Answer) -> list[str]:
    rows = dict(figures.figures(answer))
    lines = [f"{label}: {rows[label]}" for label in LABELS if label in rows]
    absences = wording.status_counts(answer.crosscheck.absences)
    return [*lines, f"{wording.ABSENCES}: {absences}"] if absences else lines
