"""Plans, routings, generations, and coverages as notebook cells: small tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from pgs_neo4j.export import style
from pgs_neo4j.export.figures import coverage_line
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.rows.generation import generation_rows
from pgs_neo4j.export.rows.plan import plan_rows, search_plan_rows, sweep_table
from pgs_neo4j.export.rows.routing import chosen_line, score_heading, score_text
from pgs_neo4j.model import Coverage, Generation, Plan, Routing, SearchPlan
from pgs_neo4j.text.shown import one_line

MOST_ROWS = 100
LONGEST_CELL = 200


def plan_cell(plan: Plan) -> str:
    """Return the sweeps of a plan, and its totals, as `pgs plan` shows them."""
    sweeps = _table(*sweep_table(plan)) if plan.sweeps else EMPTY
    return _cell(f"Plan for {plan.graph}", sweeps, _pair_rows(plan_rows(plan)))


def search_plan_cell(plan: SearchPlan) -> str:
    """Return what an answer from a search would show and cost."""
    return _cell(f"Plan for {plan.graph}", _pair_rows(search_plan_rows(plan)))


def routing_cell(routing: Routing) -> str:
    """Return the partitions a question goes to, best first, and why."""
    rows = [
        (f"P{route.partition}", score_text(route), route.reason or "-") for route in routing.routes
    ]
    chosen = _table(("id", score_heading(routing), "reason"), rows) if rows else EMPTY
    note = element("p", one_line(routing.note), class_="pgs-note") if routing.note else EMPTY
    return _cell(chosen_line(routing), chosen, note)


def coverage_cell(coverage: Coverage) -> str:
    """Return the coverage in words and as a bar."""
    return _cell("Coverage", coverage_bar(coverage), element("p", coverage_line(coverage)))


def generation_cell(generation: Generation) -> str:
    """Return all figures of a generation, as `pgs partitions --report` shows them."""
    return _cell(f"Generation {generation.id}", _pair_rows(generation_rows(generation)))


def coverage_bar(coverage: Coverage) -> Html:
    """Return the share of the graph that was read, and of what was shown, as a bar.

    The share read is one of texts. Of what was shown without proof, only nodes are counted.
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


def _cell(title: str, *parts: Html) -> str:
    heading = element("p", one_line(title, LONGEST_CELL), class_="pgs-question")
    sheet = element("style", Html(style.NOTEBOOK))
    return element("div", sheet, heading, *parts, class_="pgs-answer")


def _pair_rows(rows: Iterable[tuple[str, str]]) -> Html:
    """Return labels and texts as a table with headings on the left."""
    lines = (
        element("tr", element("th", label, scope="row"), element("td", one_line(text)))
        for label, text in rows
    )
    return element("table", element("tbody", *lines), class_="pgs-figures")


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    """Return rows under headings; ``>`` after a heading right-aligns its column."""
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
