"""Renders values as notebook cells: HTML fragments without scripts, in the notebook's colors.

An answer appears with its sources and figures. Plans, routings, generations, and coverages become
small tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice

from pgs_neo4j.export import figures, markup, style, wording
from pgs_neo4j.export.figures import coverage_line
from pgs_neo4j.export.generation_rows import generation_rows
from pgs_neo4j.export.markup import EMPTY, Html, element, escaped, joined
from pgs_neo4j.export.plan_rows import (
    chosen_line,
    plan_rows,
    score_heading,
    score_text,
    search_plan_rows,
    sweep_table,
)
from pgs_neo4j.model import Answer, Citation, Coverage, Generation, Plan, Routing, SearchPlan
from pgs_neo4j.text.citations import Cited, Place, cited_titles, distinct, name_of, validity_of
from pgs_neo4j.text.shown import counted, one_line

MAX_SOURCES = 200
RECORD = "Coverage and cost"
LABELS = ("Coverage", "Session", "Checks", "Usage", "Cost", "Time")
MOST_ROWS = 100
LONGEST_CELL = 200


def render(value: object) -> str:
    """Render a value as an HTML fragment. Raises TypeError for a type that has no cell."""
    match value:
        case Answer():
            return to_notebook(value)
        case Coverage():
            return coverage_cell(value)
        case Generation():
            return generation_cell(value)
        case Plan():
            return plan_cell(value)
        case Routing():
            return routing_cell(value)
        case SearchPlan():
            return search_plan_cell(value)
        case _:
            raise TypeError(f"cannot show a {type(value).__name__} as a notebook cell")


def to_notebook(answer: Answer) -> str:
    """Render an answer as an HTML fragment for ``_repr_html_``.

    The fragment uses the notebook's colors, light or dark. It needs no content security policy: all
    text is escaped, and there are no links.
    """
    question = element("p", one_line(answer.question), class_="pgs-question")
    return element(
        "div",
        element("style", Html(style.NOTEBOOK)),
        question,
        _render_answer(answer),
        _render_sources(answer),
        element("h3", RECORD),
        coverage_bar(answer.own_coverage),
        *(element("p", text, class_="pgs-meta") for text in _list_figures(answer)),
        *(element("p", note, class_="pgs-note") for note in figures.notes(answer)),
        class_="pgs-answer",
    )


def _render_answer(answer: Answer) -> Html:
    if not answer.text.strip():
        return element("p", wording.NO_SYNTHESIS, class_="pgs-note")
    citations = answer.synthesis.citations
    draw = partial(_render_group, valid=validity_of(citations), titles=cited_titles(citations))
    return markup.blocks(
        answer.text, draw, quoted=wording.quotes_only(answer, synthesis=True), below=3
    )


def _render_group(
    group: tuple[Cited, ...], valid: dict[Place, bool], titles: dict[Place, str]
) -> Html:
    return joined(
        joined((cited.before, _render_alias(cited, valid.get(cited.place), titles), cited.after))
        for cited in group
    )


def _render_alias(cited: Cited, good: bool | None, titles: dict[Place, str]) -> Html:
    if good is None:  # No report cites the node, so the citation is unchecked.
        return escaped(cited.text)
    if not good:
        title = wording.invalid_words(cited.place[0]).capitalize()
        return element("s", cited.text, class_="pgs-invalid", title=title)
    label = titles.get(cited.place) or cited.text
    return element("span", label, class_="pgs-cite", title=name_of(*cited.place))


def _render_sources(answer: Answer) -> Html:
    cited = distinct(answer.synthesis.citations)
    if not cited:
        return EMPTY
    items = [element("li", *_render_source(citation)) for citation in cited[:MAX_SOURCES]]
    if len(cited) > MAX_SOURCES:
        items.append(element("li", f"and {len(cited) - MAX_SOURCES:,} more"))
    summary = element("summary", counted(len(cited), "source"))
    folded = element("details", summary, element("ul", *items, class_="pgs-sources"))
    return joined((element("h3", "Sources"), folded))


def _render_source(citation: Citation) -> tuple[Html, str]:
    name = name_of(citation.partition, one_line(citation.alias, 40))
    if not citation.valid:
        return element(
            "s", name, class_="pgs-invalid"
        ), f" {wording.invalid_words(citation.partition)}"
    title = one_line(citation.title or citation.node or "", 160) or "untitled"
    about = one_line(wording.about_node(citation.labels, citation.node or "", title), 120)
    return element("span", name, class_="pgs-cite"), f" {title}{f' ({about})' if about else ''}"


def _list_figures(answer: Answer) -> list[str]:
    rows = dict(figures.figures(answer))
    lines = [f"{label}: {rows[label]}" for label in LABELS if label in rows]
    absences = wording.status_counts(answer.crosscheck.absences)
    return [*lines, f"{wording.ABSENCES}: {absences}"] if absences else lines


def plan_cell(plan: Plan) -> str:
    """Render the sweeps and totals of a plan, as ``pgs plan`` shows them."""
    sweeps = _render_table(*sweep_table(plan)) if plan.sweeps else EMPTY
    return _render_cell(f"Plan for {plan.graph}", sweeps, _render_pairs(plan_rows(plan)))


def search_plan_cell(plan: SearchPlan) -> str:
    """Render the plan of an answer from a search: its figures and cost."""
    return _render_cell(f"Plan for {plan.graph}", _render_pairs(search_plan_rows(plan)))


def routing_cell(routing: Routing) -> str:
    """Render the partitions that were chosen for a question, best first, with the reasons."""
    rows = [
        (f"P{route.partition}", score_text(route), route.reason or "-") for route in routing.routes
    ]
    chosen = _render_table(("id", score_heading(routing), "reason"), rows) if rows else EMPTY
    note = element("p", one_line(routing.note), class_="pgs-note") if routing.note else EMPTY
    return _render_cell(chosen_line(routing), chosen, note)


def coverage_cell(coverage: Coverage) -> str:
    """Render the coverage in words and as a bar."""
    return _render_cell("Coverage", coverage_bar(coverage), element("p", coverage_line(coverage)))


def generation_cell(generation: Generation) -> str:
    """Render all figures of a generation, as ``pgs partitions --report`` shows them."""
    return _render_cell(f"Generation {generation.id}", _render_pairs(generation_rows(generation)))


def coverage_bar(coverage: Coverage) -> Html:
    """Render a bar with the share that was read and the share that was shown without proof.

    The first share is a share of the texts. The second share is a share of the nodes, because texts
    are not counted for nodes without proof.
    """
    share = min(max(coverage.fraction, 0.0), 1.0)
    shown = min(coverage.nodes_unproven / max(coverage.nodes_total, 1), 1.0 - share)
    return element(
        "svg",
        element("rect", width=100, height=6, class_="pgs-all"),
        element("rect", width=100 * share, height=6, class_="pgs-done"),
        element("rect", x=100 * share, width=100 * shown, height=6, class_="pgs-shown")
        if shown
        else EMPTY,
        viewBox="0 0 100 6", preserveAspectRatio="none", class_="pgs-bar", role="img",
        aria_label=coverage_line(coverage),
    )  # fmt: skip


def _render_cell(title: str, *parts: Html) -> str:
    heading = element("p", one_line(title, LONGEST_CELL), class_="pgs-question")
    sheet = element("style", Html(style.NOTEBOOK))
    return element("div", sheet, heading, *parts, class_="pgs-answer")


def _render_pairs(rows: Iterable[tuple[str, str]]) -> Html:
    """Render labels and texts as a table with headings on the left."""
    lines = (
        element("tr", element("th", label, scope="row"), element("td", one_line(text)))
        for label, text in rows
    )
    return element("table", element("tbody", *lines), class_="pgs-figures")


def _render_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    """Render rows under headings; ``>`` after a heading right-aligns its column."""
    kinds = ["pgs-right" if heading.endswith(">") else None for heading in headings]
    head = [
        element("th", heading.rstrip(">"), scope="col", class_=kind)
        for heading, kind in zip(headings, kinds, strict=True)
    ]
    body = [
        element(
            "tr",
            *(
                element("td", one_line(text, LONGEST_CELL), class_=kind)
                for text, kind in zip(row, kinds, strict=True)
            ),
        )
        for row in islice(rows, MOST_ROWS)
    ]
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *body), class_="pgs-rows"
    )
    left = len(rows) - MOST_ROWS
    return joined(
        (table, element("p", f"and {left:,} more", class_="pgs-meta") if left > 0 else EMPTY)
    )
